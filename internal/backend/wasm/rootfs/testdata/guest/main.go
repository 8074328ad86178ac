// Guest is a WASI program that executes its arguments and prints the result of each. An argument
// is a verb and its parameters, separated by "|".
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func main() {
	for _, arg := range os.Args[1:] {
		words := append(strings.Split(arg, "|"), "", "")
		said, err := do(words[0], words[1], words[2])
		if err != nil {
			said = strings.TrimSpace(said + " " + reason(err))
		}
		fmt.Printf("%s: %s\n", arg, said)
	}
}

func reason(err error) string {
	text := err.Error()
	return "! " + strings.TrimSpace(text[strings.LastIndex(text, ":")+1:])
}

// open keeps files open, so that the host has to close them.
var open []*os.File

func do(verb, a, b string) (string, error) {
	switch verb {
	case "read":
		text, err := os.ReadFile(a)
		return string(text), err
	case "write":
		return "", os.WriteFile(a, []byte(b), 0o666)
	case "fill":
		return fill(a, b)
	case "stat":
		info, err := os.Stat(a)
		if err != nil {
			return "", err
		}
		if info.IsDir() {
			return "a directory", nil
		}
		return strconv.FormatInt(info.Size(), 10), nil
	case "readlink":
		return os.Readlink(a)
	case "mkdir":
		return "", os.Mkdir(a, 0o777)
	case "rm":
		return "", os.Remove(a)
	case "mv":
		return "", os.Rename(a, b)
	case "ln":
		return "", os.Link(a, b)
	case "symlink":
		return "", os.Symlink(a, b)
	case "touch":
		return "", os.Chtimes(a, time.Unix(1, 0), time.Unix(1, 0))
	case "truncate":
		size, err := strconv.ParseInt(b, 10, 64)
		if err != nil {
			return "", err
		}
		return "", os.Truncate(a, size)
	case "open":
		count, err := strconv.Atoi(b)
		for i := 0; i < count && err == nil; i++ {
			var f *os.File
			if f, err = os.Open(a); err == nil {
				open = append(open, f)
			}
		}
		return strconv.Itoa(len(open)), err
	case "walk":
		var seen []string
		err := filepath.WalkDir(a, func(path string, d fs.DirEntry, err error) error {
			seen = append(seen, path)
			return err
		})
		return strings.Join(seen, " "), err
	case "count":
		entries, err := os.ReadDir(a)
		return strconv.Itoa(len(entries)), err
	}
	return "", fmt.Errorf("no verb: %s", verb)
}

// fill writes pieces of 64 KiB until a write fails.
func fill(path, pieces string) (string, error) {
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	open = append(open, f)
	count, err := strconv.Atoi(pieces)
	written := 0
	for i := 0; i < count && err == nil; i++ {
		var n int
		n, err = f.Write(make([]byte, 64<<10))
		written += n
	}
	return strconv.Itoa(written), err
}
