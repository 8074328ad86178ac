package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// lineSource gives lines without their ends, and io.EOF at the end.
type lineSource interface {
	// next returns errInterrupted if ^C discarded the line.
	next(ctx context.Context, prompt string) (string, error)
}

// openLines chooses how steps are read. isPerson reports whether somebody types them at a
// prompt, which is on standard error if standard output is for a program.
func openLines(ctx context.Context, json bool) (lines lineSource, isPerson bool, done func()) {
	screen := os.Stdout
	if json || !isTerminal(screen) {
		screen = os.Stderr
	}
	if !isTerminal(os.Stdin) || !isTerminal(screen) {
		return newPlainLines(os.Stdin, nil), false, func() {}
	}
	if os.Getenv("TERM") == "dumb" {
		return newPlainLines(os.Stdin, screen), true, func() {}
	}
	e := newLineEditor(ctx, os.Stdin, screen)
	return e, true, e.close
}

// plainLines reads lines as they are.
type plainLines struct {
	from    *bufio.Reader
	prompts io.Writer // nil if there are none
	begun   bool
}

func newPlainLines(from io.Reader, prompts io.Writer) *plainLines {
	return &plainLines{from: bufio.NewReader(from), prompts: prompts}
}

func (p *plainLines) next(ctx context.Context, prompt string) (string, error) {
	if p.prompts != nil {
		if _, err := io.WriteString(p.prompts, prompt); err != nil {
			return "", outputLost(err)
		}
	}
	var line []byte
	var tooLong bool
	err := await(ctx, nil, nil, func() (err error) {
		line, tooLong, err = text.ReadLine(p.from, run.MaxScript)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case tooLong:
		return "", run.Errorf(run.Invalid, "standard input: a line is longer than %v, the maximum of a step", policy.Bytes(run.MaxScript))
	case errors.Is(err, io.EOF) && len(line) > 0:
	case errors.Is(err, io.EOF):
		if p.prompts != nil {
			fmt.Fprintln(p.prompts)
		}
		return "", io.EOF
	case err != nil:
		return "", run.Errorf(run.NotExecutable, "standard input cannot be read: %w", err)
	}
	if !p.begun { // Python ignores a byte order mark too
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	p.begun = true
	return strings.TrimRight(string(line), "\r\n"), nil
}

// await reads until the context ends; then what is being read is lost. Meanwhile it passes
// on the sizes of the terminal.
func await(ctx context.Context, sizes <-chan run.WindowSize, resize func(run.WindowSize), read func() error) error {
	done := make(chan error, 1)
	go func() { done <- read() }()
	for {
		select {
		case err := <-done:
			return err
		case size := <-sizes:
			resize(size)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// maxTyped is the longest line that a term.Terminal takes; it drops what follows.
const maxTyped = 4096

// lineEditor reads lines that a person edits. The terminal is raw only while it does, so that
// ^C is a signal while a step runs.
type lineEditor struct {
	keys     *os.File
	screen   *os.File
	terminal *term.Terminal
	keyboard *keyboard
	sizes    <-chan run.WindowSize
	stop     func()
	// complete returns the unfinished word at the end of a line, and what it can become.
	complete func(line string) (begun string, words []string)

	mu     sync.Mutex
	before *term.State // nil unless the terminal is raw
}

func newLineEditor(ctx context.Context, keys, screen *os.File) *lineEditor {
	e := &lineEditor{keys: keys, screen: screen, keyboard: &keyboard{from: keys}}
	e.sizes, e.stop = watchSize(screen)
	e.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{e.keyboard, screen}, "")
	e.terminal.History = &lineHistory{}
	e.terminal.AutoCompleteCallback = e.onKey
	e.resize(sizeOf(screen))
	// Everything that ends cordon has to restore the terminal.
	cli.BeforeExit(ctx, e.restore, syscall.SIGHUP, syscall.SIGQUIT)
	return e
}

func (e *lineEditor) next(ctx context.Context, prompt string) (string, error) {
	before, err := term.MakeRaw(int(e.keys.Fd()))
	if err != nil {
		return "", run.Errorf(run.Internal, "the terminal: %w", err)
	}
	e.mu.Lock()
	e.before = before
	e.mu.Unlock()
	defer e.restore()
	e.terminal.SetPrompt(prompt)
	var line string
	err = await(ctx, e.sizes, e.resize, func() (err error) {
		line, err = e.terminal.ReadLine()
		return err
	})
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case e.keyboard.interrupted:
		e.keyboard.interrupted = false
		return "", errInterrupted
	case errors.Is(err, io.EOF):
		fmt.Fprint(e.screen, "\r\n")
		return "", io.EOF
	case err != nil:
		return "", run.Errorf(run.Internal, "the terminal: %w", err)
	case utf8.RuneCountInString(line) >= maxTyped:
		fmt.Fprintf(e.screen, "cordon: the line is longer than %d characters, the maximum at a prompt: write it in several\r\n", maxTyped-1)
		return "", errInterrupted
	}
	return line, nil
}

// resize leaves the size as it is if the new one is unknown.
func (e *lineEditor) resize(size run.WindowSize) {
	if size.Columns > 0 && size.Rows > 0 {
		_ = e.terminal.SetSize(int(size.Columns), int(size.Rows)) // it may have hung up
	}
}

func (e *lineEditor) restore() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.before != nil {
		_ = term.Restore(int(e.keys.Fd()), e.before) // it may have hung up
		e.before = nil
	}
}

func (e *lineEditor) close() {
	e.stop()
	e.restore()
}

// onKey makes the tab key indent at the beginning of a line, and complete a word elsewhere.
func (e *lineEditor) onKey(line string, at int, key rune) (changed string, cursor int, ok bool) {
	if key != '\t' {
		return "", 0, false
	}
	added := "    "
	if strings.TrimSpace(line[:at]) != "" {
		begun, words := e.complete(line[:at])
		if added = shared(begun, words); added == "" && len(words) > 1 {
			fmt.Fprint(e.terminal, inColumns(words, cli.Width(e.screen)))
		}
	}
	return line[:at] + added + line[at:], at + len(added), true
}

const keyInterrupt = 0x03

// clearedLine are the keys that clear a line and end it: ^E, ^U and Enter. A term.Terminal
// takes ^C as the end of input.
const clearedLine = "\x05\x15\r"

// keyboard turns ^C into a cleared line.
type keyboard struct {
	from        io.Reader
	pending     []byte // read, and not passed on
	cleared     string // the rest of a cleared line
	interrupted bool
}

// Read ends before each ^C, so that a line before it is read without it.
func (k *keyboard) Read(p []byte) (n int, err error) {
	if k.cleared == "" && len(k.pending) == 0 {
		buffer := make([]byte, len(p))
		if n, err = k.from.Read(buffer); n == 0 {
			return 0, err
		}
		k.pending = buffer[:n]
	}
	if k.cleared == "" && k.pending[0] == keyInterrupt {
		k.pending, k.cleared, k.interrupted = k.pending[1:], clearedLine, true
	}
	if k.cleared != "" {
		n = copy(p, k.cleared)
		k.cleared = k.cleared[n:]
		return n, nil
	}
	end := bytes.IndexByte(k.pending, keyInterrupt)
	if end < 0 {
		end = len(k.pending)
	}
	n = copy(p, k.pending[:end])
	k.pending = k.pending[n:]
	return n, nil
}

// maxHistory is how many lines a history keeps.
const maxHistory = 1000

// lineHistory keeps what was typed, in memory alone.
type lineHistory struct{ lines []string }

// Add leaves out empty lines and repetitions.
func (h *lineHistory) Add(line string) {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.lines = h.lines[max(0, len(h.lines)-maxHistory):]
}

func (h *lineHistory) Len() int { return len(h.lines) }

// At counts from the newest line.
func (h *lineHistory) At(n int) string { return h.lines[len(h.lines)-1-n] }
