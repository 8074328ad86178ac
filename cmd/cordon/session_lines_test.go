package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/term"

	"github.com/cordon-sandbox/cordon/run"
)

// knowsNothing completes no word.
func knowsNothing(string) (string, []string) { return "", nil }

// typed gives the lines that a terminal reads, with "^C" for each one that was cleared.
func typed(t *testing.T, from io.Reader) (lines []string) {
	t.Helper()
	k := &keyboard{from: from}
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{k, io.Discard}, "")
	terminal.AutoCompleteCallback = (&lineEditor{complete: knowsNothing}).onKey
	history := &lineHistory{}
	terminal.History = history
	for {
		line, err := terminal.ReadLine()
		switch {
		case errors.Is(err, io.EOF):
			return lines
		case err != nil:
			t.Fatal(err)
		case k.interrupted && line != "":
			t.Errorf("%q is left of a cleared line", line)
		case k.interrupted:
			k.interrupted, line = false, "^C"
		}
		lines = append(lines, line)
	}
}

// ^C clears the line that is being typed, and no line before or after it, however the keys
// arrive.
func TestKeyboard(t *testing.T) {
	for keys, want := range map[string][]string{
		"a\rb\r":                {"a", "b"},
		"a\x03b\r":              {"^C", "b"},
		"a\rb\x03c\r":           {"a", "^C", "c"},
		"a\r\x03\x03c\r":        {"a", "^C", "^C", "c"},
		"abc\x1b[D\x1b[D\x03\r": {"^C", ""},
		"\x03":                  {"^C"},
		"if x:\r\ty\r":          {"if x:", "    y"},
		"ab\x01\tc\r":           {"    cab"},
		"a\rb\r\x1b[A\x1b[A\r":  {"a", "b", "a"},
		"a\r\x03\r\x1b[A\r":     {"a", "^C", "", "a"},
	} {
		for name, from := range map[string]io.Reader{"at once": strings.NewReader(keys), "one by one": iotest.OneByteReader(strings.NewReader(keys))} {
			if got := typed(t, from); !slices.Equal(got, want) {
				t.Errorf("%q %s: %q; want %q", keys, name, got, want)
			}
		}
	}
}

func TestLineHistory(t *testing.T) {
	var h lineHistory
	for _, line := range []string{"a", "", "b", "b", "  ", "a"} {
		h.Add(line)
	}
	if h.Len() != 3 || h.At(0) != "a" || h.At(1) != "b" || h.At(2) != "a" {
		t.Errorf("%q", h.lines)
	}
	for range maxHistory {
		h.Add("c")
		h.Add("d")
	}
	if h.Len() != maxHistory || h.At(0) != "d" || h.At(maxHistory-1) != "c" {
		t.Errorf("%d lines", h.Len())
	}
}

func TestPlainLines(t *testing.T) {
	var prompts bytes.Buffer
	p := newPlainLines(strings.NewReader("\ufeffa\r\n\n\ufeffb"), &prompts)
	for _, want := range []string{"a", "", "\ufeffb"} {
		if got, err := p.next(t.Context(), "? "); err != nil || got != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	if _, err := p.next(t.Context(), "? "); !errors.Is(err, io.EOF) || prompts.String() != "? ? ? ? \n" {
		t.Errorf("%v, prompts %q", err, prompts.String())
	}
}

// A line without end is not kept.
func TestPlainLinesAreBounded(t *testing.T) {
	_, err := newPlainLines(io.LimitReader(zeros{}, 2*run.MaxScript), nil).next(t.Context(), "")
	if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "16MiB") {
		t.Errorf("error %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Reading ends with the context, although nothing was typed.
func TestReadingIsCanceled(t *testing.T) {
	from, to := io.Pipe()
	defer to.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newPlainLines(from, nil).next(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
