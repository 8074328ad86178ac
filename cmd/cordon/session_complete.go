package main

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/internal/text"
)

// maxCompletions bounds the completions that are listed.
const maxCompletions = 100

// complete returns the unfinished word at the end of a line, and what it can become. An error
// means that nothing is known: if the session has ended, the next step says so.
func (c *sessionConsole) complete(ctx context.Context, line string) (begun string, words []string) {
	if command, is := strings.CutPrefix(line, ":"); is && c.splitter.mayEnd() {
		return c.completeCommand(command)
	}
	begun = lastName(line)
	words, _ = c.session.Complete(ctx, line)
	// The guest could send anything, and what is completed may be run.
	return begun, slices.DeleteFunc(words, func(word string) bool {
		return firstWord(word) != word || !strings.HasPrefix(word, begun)
	})
}

// lastName returns the part of a name at the end of a line.
func lastName(line string) string {
	at := len(line)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(line[:at])
		if !isNameRune(r) {
			break
		}
		at -= size
	}
	return line[at:]
}

// completeCommand completes the name of a command, or that of a file. Names that need quotation
// marks are left out.
func (c *sessionConsole) completeCommand(line string) (begun string, words []string) {
	at := strings.LastIndexAny(line, " \t") + 1
	begun = line[at:]
	switch command := strings.Fields(line + "x")[0]; {
	case at == 0:
		for _, command := range sessionCommands() {
			words = append(words, command.name)
		}
	case slices.Contains([]string{"get", "rm"}, command):
		words = c.namesInWork()
	case command == "put":
		words = pathsFrom(begun)
	}
	return begun, slices.DeleteFunc(words, func(word string) bool {
		return strings.ContainsAny(word, " \t\"'") || text.Line(word) != word || !strings.HasPrefix(word, begun)
	})
}

func (c *sessionConsole) namesInWork() (names []string) {
	files, err := c.session.Files()
	if err != nil {
		return nil
	}
	list, _ := files.List() // of what could be read
	for _, f := range list {
		names = append(names, f.Name)
	}
	return names
}

// pathsFrom returns the paths of the host in the directory that a path begins with.
func pathsFrom(begun string) (paths []string) {
	directory, _ := path.Split(begun)
	if directory == "" {
		directory = "."
	}
	entries, _ := os.ReadDir(directory) // of what could be read
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() {
			name += "/"
		}
		if begun != "" && strings.Contains(begun, "/") {
			name = directory + name
		}
		paths = append(paths, name)
	}
	return paths
}

// shared returns what all words have after the part that has begun.
func shared(begun string, words []string) string {
	if len(words) == 0 {
		return ""
	}
	common := words[0]
	for _, word := range words[1:] {
		for !strings.HasPrefix(word, common) {
			_, size := utf8.DecodeLastRuneInString(common)
			common = common[:len(common)-size]
		}
	}
	return strings.TrimPrefix(common, begun)
}

// inColumns arranges words in lines of a width.
func inColumns(words []string, width int) string {
	rest := len(words) - maxCompletions
	words = words[:min(len(words), maxCompletions)]
	column := 0
	for _, word := range words {
		column = max(column, utf8.RuneCountInString(word)+2)
	}
	var b strings.Builder
	for i, word := range words {
		if i > 0 && i%max(1, width/column) == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(word + strings.Repeat(" ", column-utf8.RuneCountInString(word)))
	}
	if rest > 0 {
		b.WriteString("\n… and " + countOf(rest, "other"))
	}
	return b.String() + "\n"
}
