package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestNameInWork(t *testing.T) {
	for path, want := range map[string]string{
		"sales.csv": "sales.csv", "./sales.csv": "sales.csv", "data/sales.csv": "data/sales.csv", "data/../sales.csv": "sales.csv",
		"../sales.csv": "sales.csv", "data/../../x/sales.csv": "sales.csv", "/data/sales.csv": "sales.csv",
	} {
		if got := nameInWork(path); got != want {
			t.Errorf("%s: %s; want %s", path, got, want)
		}
	}
}

func TestMissingNames(t *testing.T) {
	for _, tt := range []struct {
		kind, message string
		want          []string
	}{
		{"FileNotFoundError", "[Errno 2] No such file or directory: 'sales.csv'", []string{"sales.csv"}},
		{"FileNotFoundError", "[Errno 2] No such file or directory: '/work/data/sales.csv'", []string{"data/sales.csv"}},
		{"FileNotFoundError", "[Errno 2] No such file or directory: '/tmp/work/data/sales.csv'", []string{"data/sales.csv"}}, // pathlib.Path.resolve
		{"FileNotFoundError", `[Errno 2] No such file or directory: "o'clock.csv"`, []string{"o'clock.csv"}},
		{"FileNotFoundError", "[WinError 2] The system cannot find the file specified: './a'", []string{"a"}},
		{"FileNotFoundError", "sales.csv not found.", []string{"sales.csv"}}, // numpy.loadtxt
		{"FileNotFoundError", "[Errno 2] No such file or directory: 'a' -> 'b'", nil},
		{"FileNotFoundError", `[Errno 2] No such file or directory: 'a\x1b'`, nil},
		{"FileNotFoundError", "[Errno 2] No such file or directory", nil},
		{"FileNotFoundError", "[Errno 2] No such file or directory: ''", nil},
		{"FileNotFoundError", "", nil},
		{"PermissionError", "[Errno 2] No such file or directory: 'sales.csv'", nil},
		{"ModuleNotFoundError", "No module named 'tools.money'", []string{"tools/money.py", "tools/money/__init__.py", "tools/money"}},
		{"ModuleNotFoundError", "No module named '../x'", nil},
	} {
		if got := missingNames(run.Exception{Type: tt.kind, Message: tt.message}); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q; want %q", tt.message, got, tt.want)
		}
	}
}

func TestSplitWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                         nil,
		" files ":                  {"files"},
		"put  a.csv\tb.csv":        {"put", "a.csv", "b.csv"},
		`put "my data.csv" 'a "b'`: {"put", "my data.csv", `a "b`},
		`get C:\data\a.csv`:        {"get", `C:\data\a.csv`},
		`put o'clock.csv`:          {"put", "o'clock.csv"},
		`rm ""`:                    {"rm", ""},
	} {
		if got, err := splitWords(line); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v; want %q", line, got, err, want)
		}
	}
	if words, err := splitWords(`put "my data.csv`); err == nil {
		t.Errorf("an open quotation mark: %q", words)
	}
}

// hollow is the /work of a session that has made a file with holes.
type hollow struct {
	run.Files
	size policy.Bytes
}

func (h hollow) Open(name string) (io.ReadSeekCloser, run.FileInfo, error) {
	return struct {
		io.ReadSeeker
		io.Closer
	}{strings.NewReader("grown meanwhile"), io.NopCloser(nil)}, run.FileInfo{Name: name, Size: h.size}, nil
}

// A session does not fill the disk of its host.
func TestGetIsBounded(t *testing.T) {
	to := filepath.Join(t.TempDir(), "to")
	if _, err := get(hollow{size: policy.GiB}, "hole", to, policy.MiB); err == nil || !strings.Contains(err.Error(), "hole: its 1GiB are more than the 1MiB of --scratch") {
		t.Errorf("error %v", err)
	}
	if size, err := get(hollow{size: 5}, "file", to, policy.MiB); err != nil || size != 5 {
		t.Errorf("%v, %v", size, err)
	}
	if data, err := os.ReadFile(to); err != nil || string(data) != "grown" {
		t.Errorf("%q, %v", data, err)
	}
}
