// A guest for the tests: its first argument says what to do.
package main

import (
	"bufio"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

var kept [][]byte

func main() {
	if len(os.Args) < 2 {
		os.Exit(64)
	}
	argument := func(i int) string {
		if i < len(os.Args) {
			return os.Args[i]
		}
		return ""
	}
	number := func(i int) int {
		n, _ := strconv.Atoi(argument(i))
		return n
	}
	switch os.Args[1] {
	case "hello":
		fmt.Println(strings.Join(os.Args, " "))
	case "environment":
		fmt.Println(os.Environ())
	case "upper":
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			fmt.Println(strings.ToUpper(lines.Text()))
		}
	case "exit":
		os.Exit(number(2))
	case "panic":
		panic("on request")
	case "loop":
		for i := 0; ; i++ {
			if i < 0 {
				fmt.Println(i)
			}
		}
	case "forever":
		fmt.Println("begun")
		switch argument(2) {
		case "sleep":
			time.Sleep(time.Hour)
		case "input":
			io.Copy(io.Discard, os.Stdin)
		}
		for i := 0; ; i++ {
			if i < 0 {
				fmt.Println(i)
			}
		}
	case "count":
		sum := 0
		for i := range number(2) {
			sum += i % 7
		}
		fmt.Println(sum)
	case "memory":
		for i := range number(2) {
			block := make([]byte, 1<<20)
			for j := 0; j < len(block); j += 4096 {
				block[j] = byte(i)
			}
			kept = append(kept, block)
		}
		fmt.Println(len(kept))
	case "recurse":
		fmt.Println(recurse(0))
	case "flood":
		line := strings.Repeat("x", 1023) + "\n"
		for range number(2) {
			os.Stdout.WriteString(line)
		}
	case "sleep":
		d, _ := time.ParseDuration(argument(2))
		begin := time.Now()
		time.Sleep(d)
		fmt.Println(time.Since(begin).Round(time.Millisecond))
	case "clock":
		fmt.Println(time.Now().UnixNano())
	case "random":
		b := make([]byte, number(2))
		n, err := rand.Read(b)
		fmt.Printf("%d %v %x\n", n, err, b[:16])
	case "randomly":
		b := make([]byte, 8<<20)
		for {
			rand.Read(b)
		}
	case "read":
		data, err := os.ReadFile(argument(2))
		fmt.Printf("%s %v\n", data, err)
	case "write":
		fmt.Println(os.WriteFile(argument(2), []byte(argument(3)), 0o644))
	case "fill":
		f, err := os.Create(argument(2))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		for range number(3) {
			if _, err := f.Write(make([]byte, 1<<20)); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
		}
	case "open":
		var files []*os.File
		for range number(3) {
			f, err := os.Open(argument(2))
			if err != nil {
				break
			}
			files = append(files, f)
		}
		fmt.Println(len(files))
	case "list":
		entries, err := os.ReadDir(argument(2))
		fmt.Println(len(entries), entries, err)
	case "input":
		n, err := io.Copy(io.Discard, os.Stdin)
		fmt.Println(n, err)
	default:
		os.Exit(64)
	}
}

//go:noinline
func recurse(n int) int {
	if n < 0 {
		return n
	}
	return recurse(n+1) + 1
}
