package audit

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The most that a record keeps of what others choose. Together they keep every
// line below maxLine.
const (
	maxName       = 128 // bytes of an id, a caller, an operation
	maxDetail     = 256 // bytes of a violation's detail or a wall's state
	maxViolations = 32
	maxWalls      = 32
)

// bounded cuts and cleans every text of r. Some are a guest's, some a caller's;
// none may fill the disk, break a line, or write to the terminal of its reader.
func bounded(r Record) Record {
	r.ID = clip(r.ID, maxName)
	r.Door = clip(r.Door, maxName)
	r.Caller = clip(r.Caller, maxName)
	r.Kind = clip(r.Kind, maxName)
	r.CodeHash = clip(r.CodeHash, maxName)
	r.Tier = clip(r.Tier, maxName)
	r.Outcome = clip(r.Outcome, maxName)
	r.ErrorType = clip(r.ErrorType, maxName)
	r.ErrorClass = clip(r.ErrorClass, maxName)
	r.Queued, r.Ran = max(r.Queued, 0), max(r.Ran, 0)
	r.Walls = boundedWalls(r.Walls)
	if r.Usage != nil {
		// A negative one could be written, and not be read again.
		u := *r.Usage
		r.Usage = &run.Usage{
			WallTime: max(u.WallTime, 0), CPUTime: max(u.CPUTime, 0),
			Memory: max(u.Memory, 0), Output: max(u.Output, 0), Fuel: max(u.Fuel, 0),
		}
	}
	if more := len(r.Violations) - maxViolations; more > 0 {
		r.Omitted += more
		r.Violations = r.Violations[:maxViolations]
	}
	kept := make([]Violation, len(r.Violations))
	for i, v := range r.Violations {
		v.Wall = clip(v.Wall, maxName)
		v.Op = clip(v.Op, maxName)
		v.Detail = clip(v.Detail, maxDetail)
		kept[i] = v
	}
	r.Violations = kept
	return r
}

func boundedWalls(walls map[policy.Wall]string) map[policy.Wall]string {
	kept := make(map[policy.Wall]string, min(len(walls), maxWalls))
	for wall, state := range walls {
		if len(kept) == maxWalls {
			break
		}
		kept[clip(wall, maxName)] = clip(state, maxDetail)
	}
	return kept
}

// clip makes s printable, and cuts it to at most so many bytes.
func clip[T ~string](s T, most int) T {
	text, whole := string(s), true
	if len(text) > most {
		end := most
		for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text, whole = text[:end], false
	}
	text = Printable(text)
	if whole && len(text) <= most {
		return T(text)
	}
	const more = "…"
	return T(strings.ToValidUTF8(text[:min(len(text), most-len(more))], "") + more)
}

// Printable shows s on one line: what is no printable character is written as in
// Go, \x1b for an escape. Files can be changed by hand, so that also what comes
// out of a log goes through it on the way to a terminal.
func Printable(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if printable(r, size) {
			b.WriteString(s[i : i+size])
		} else {
			b.WriteString(escaped(r, size, s[i]))
		}
		i += size
	}
	return b.String()
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// printable says no to control characters, to those that change the direction of
// text or have no width, and to bytes that are no character.
func printable(r rune, size int) bool {
	return unicode.IsPrint(r) && (r != utf8.RuneError || size > 1)
}

func escaped(r rune, size int, first byte) string {
	if r == utf8.RuneError && size == 1 {
		return `\x` + strconv.FormatUint(uint64(first)+0x100, 16)[1:]
	}
	return strings.Trim(strconv.QuoteRune(r), "'")
}

// PrintableJSON does the same for a line of JSON, which stays the same value:
// outside of ASCII there is nothing but text in it, and text can be escaped.
func PrintableJSON(line []byte) string {
	if isPlain(string(line)) {
		return string(line)
	}
	var b strings.Builder
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		switch {
		case printable(r, size):
			b.Write(line[i : i+size])
		case r > 0xffff:
			r -= 0x10000
			b.WriteString(`\u` + hex4(0xd800+r>>10) + `\u` + hex4(0xdc00+r&0x3ff))
		default:
			b.WriteString(`\u` + hex4(r))
		}
		i += size
	}
	return b.String()
}

func hex4(r rune) string { return strconv.FormatInt(int64(r)+0x10000, 16)[1:] }
