package jobobject

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// The identities that Windows has for these capabilities.
func TestCapabilitySID(t *testing.T) {
	for name, want := range map[string]string{
		"lpacCom":      "S-1-15-3-1024-2405443489-874036122-4286035555-1823921565-1746547431-2453885448-3625952902-991631256",
		"registryRead": "S-1-15-3-1024-1065365936-1281604716-3511738428-1654721687-432734479-3232135806-4053264122-3456934681",
	} {
		if got := CapabilitySID(name); got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
}

func TestBatchFilesAreRefused(t *testing.T) {
	for path, refused := range map[string]bool{
		`C:\tools\go.exe`: false, `C:\batch\run`: false, `C:\a.bat\b.exe`: false,
		`C:\x.bat`: true, `C:\X.CMD`: true, `C:\x.bat. .`: true,
	} {
		if err := checkProgram(path); (err != nil) != refused {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestEnvironmentBlock(t *testing.T) {
	for _, c := range []struct {
		variables []string
		want      string
	}{
		{nil, "\x00\x00"},
		{[]string{"b=2", "A=1", "c="}, "A=1\x00b=2\x00c=\x00\x00"},
		{[]string{"Path=ü"}, "Path=ü\x00\x00"},
	} {
		block, err := environmentBlock(c.variables)
		if got := string(utf16.Decode(block)); err != nil || got != c.want {
			t.Errorf("%q became %q (%v), not %q", c.variables, got, err, c.want)
		}
	}
	for _, wrong := range []string{"", "x", "=x", "a=b\x00c=d"} {
		if _, err := environmentBlock([]string{wrong}); err == nil || !strings.Contains(err.Error(), "NAME=VALUE") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	given := []string{"b=1", "a=1"}
	if _, err := environmentBlock(given); err != nil || !slices.Equal(given, []string{"b=1", "a=1"}) {
		t.Errorf("the caller's list was sorted: %q, %v", given, err)
	}
}

func TestNotices(t *testing.T) {
	for message, want := range map[uint32]Notices{
		1: {CPU: true}, 2: {CPU: true}, 3: {Processes: true}, 9: {Memory: true}, 10: {Memory: true},
		4: {}, 6: {}, 7: {}, 8: {}, 0: {}, 99: {},
	} {
		var n Notices
		if n.hear(message); n != want {
			t.Errorf("message %d is %+v, not %+v", message, n, want)
		}
	}
}

// A guest can choose the exit code of a job whose time is used up.
func TestOutOfTimeNeedsMoreThanACode(t *testing.T) {
	limits := Limits{CPU: time.Second}
	for _, c := range []struct {
		e    Ending
		want bool
	}{
		{Ending{ExitCode: 1816}, false},
		{Ending{ExitCode: 1816, Usage: Usage{CPU: time.Second}}, true},
		{Ending{ExitCode: 1, Usage: Usage{CPU: 2 * time.Second}}, false},
		{Ending{Notices: Notices{CPU: true}}, true},
	} {
		if got := c.e.OutOfTime(limits); got != c.want {
			t.Errorf("%+v: %v", c.e, got)
		}
	}
}

func TestCrash(t *testing.T) {
	for code, want := range map[uint32]string{
		0: "", 1: "", 255: "", 1816: "", 0x40000015: "",
		0xC0000005: "ACCESS_VIOLATION", 0xC00000FD: "STACK_OVERFLOW", 0xC0001234: "0xC0001234",
	} {
		if got := Crash(code); got != want {
			t.Errorf("0x%08X is %q, not %q", code, got, want)
		}
	}
}
