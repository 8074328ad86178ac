package main

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/run"
)

// stepSplitter splits lines of Python into the steps of a session, as they are typed at a
// prompt. A statement is a step. A block ends with an empty line, or with the next statement
// that is not indented.
//
// It sees tokens, and not the grammar: brackets, strings, comments, backslashes and the
// colons that open a block. Code that it splits wrongly is not valid Python in most cases, and
// the guest says what is wrong with it.
type stepSplitter struct {
	lines []string // of the step so far
	size  int      // of these lines
	block bool     // the step has a block
	// wanted says that the last statement needs another one: it opens a block, or is a decorator.
	wanted bool
	scan   scanner
}

// add takes a line without its end. It returns the steps that are complete then: none, one, or
// two if the line ends a block and is a statement itself.
func (s *stepSplitter) add(line string) (steps []string) {
	if s.waits() && s.mayEnd() && endsBlock(line) {
		steps = append(steps, s.flush())
	}
	empty := strings.TrimSpace(line) == "" && !s.scan.inside()
	if empty && len(s.lines) == 0 {
		return steps
	}
	s.lines = append(s.lines, line)
	s.size += len(line) + 1
	statement, ended := s.scan.line(line)
	if ended {
		s.block = s.block || statement.block()
		s.wanted = statement.opens || statement.decorator()
	}
	switch {
	case s.size > run.MaxScript: // the Runner says so
	case s.scan.inside():
		return steps
	case s.block && (!empty || s.wanted), s.wanted:
		return steps
	}
	if step := s.flush(); step != "" {
		steps = append(steps, step)
	}
	return steps
}

// waits reports whether the step so far needs more lines.
func (s *stepSplitter) waits() bool { return len(s.lines) > 0 }

// mayEnd reports whether the next line can begin a step.
func (s *stepSplitter) mayEnd() bool {
	return !s.waits() || s.block && !s.wanted && !s.scan.inside()
}

// flush returns what there is of a step, which is empty if there is no statement, and begins
// the next one.
func (s *stepSplitter) flush() string {
	step := strings.Join(s.lines, "\n") + "\n"
	if !s.scan.seen {
		step = ""
	}
	*s = stepSplitter{}
	return step
}

// endsBlock reports whether a line that follows a block is the next statement.
func endsBlock(line string) bool {
	if line == "" || strings.ContainsRune(" \t\f#", rune(line[0])) {
		return false
	}
	return !slices.Contains([]string{"else", "elif", "except", "finally"}, firstWord(line))
}

func firstWord(s string) string {
	for i, r := range s {
		if !isNameRune(r) {
			return s[:i]
		}
	}
	return s
}

func isNameRune(r rune) bool {
	return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
}

// statement is what the scanner knows about a logical line.
type statement struct {
	first string // its first word or character; empty if it has only a comment
	colon bool   // there is a colon outside of brackets
	opens bool   // it ends with a colon
}

// blockWords begin statements that have a block, which may be on the same line.
var blockWords = []string{"if", "for", "while", "with", "try", "def", "class", "async"}

// block reports whether the statement has a block.
func (s statement) block() bool {
	return s.opens || s.decorator() || s.colon && slices.Contains(blockWords, s.first)
}

func (s statement) decorator() bool { return s.first == "@" }

// scanner reads the tokens of Python, line by line.
type scanner struct {
	depth   int    // of brackets
	quote   string // that ends the open string
	joined  bool   // the last line ended with a backslash
	current statement
	seen    bool // there was any token
}

// inside reports whether the next line continues the statement.
func (s *scanner) inside() bool { return s.depth > 0 || s.quote != "" || s.joined }

// line reads a line. It returns the statement that ends with it, if one does.
func (s *scanner) line(line string) (ends statement, ended bool) {
	s.joined = false
	for i := 0; i < len(line); {
		i += s.token(line[i:])
	}
	if len(s.quote) == 1 && !s.joined {
		s.quote = "" // not valid Python: a string in these quotes ends with its line
	}
	if s.inside() {
		return statement{}, false
	}
	ends, s.current = s.current, statement{}
	return ends, ends.first != ""
}

// token reads the start of the rest of a line and returns its length.
func (s *scanner) token(rest string) int {
	if s.quote != "" {
		return s.inString(rest)
	}
	switch c := rest[0]; c {
	case ' ', '\t', '\f':
		return 1
	case '#':
		return len(rest)
	case '\\':
		s.joined = len(rest) == 1
		s.note(rest[:1])
		return 1
	case '"', '\'':
		s.note(rest[:1])
		s.quote = rest[:1]
		if strings.HasPrefix(rest, strings.Repeat(s.quote, 3)) {
			s.quote = rest[:3]
		}
		return len(s.quote)
	case '(', '[', '{':
		s.note(rest[:1])
		s.depth++
		return 1
	case ')', ']', '}':
		s.note(rest[:1])
		s.depth = max(s.depth-1, 0) // one too many is not valid Python
		return 1
	case ':':
		s.note(rest[:1])
		if s.depth == 0 {
			s.current.colon, s.current.opens = true, true
		}
		return 1
	}
	if word := firstWord(rest); word != "" {
		s.note(word)
		return len(word)
	}
	s.note(rest[:1])
	return 1
}

// note sees a token.
func (s *scanner) note(token string) {
	s.seen, s.current.opens = true, false
	if s.current.first == "" {
		s.current.first = token
	}
}

// inString reads the rest of an open string.
func (s *scanner) inString(rest string) int {
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && i+1 == len(rest):
			s.joined = true
		case rest[i] == '\\':
			i++
		case strings.HasPrefix(rest[i:], s.quote):
			i += len(s.quote)
			s.quote = ""
			return i
		}
	}
	return len(rest)
}
