package scratch

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sysfs"
)

// TestVerdictsMatchTheHost checks the table of verdicts against the host.
func TestVerdictsMatchTheHost(t *testing.T) {
	for _, v := range verdicts {
		h := sysfs.DirFS(t.TempDir())
		plant(t, h, fixture...)
		if got := v.do(h); got != v.want {
			t.Errorf("%.80s: %v here, and the table has %v", v.name, got, v.want)
		}
	}
}

// TestRandomActsMatchTheHost performs thousands of operations here and in a real directory.
func TestRandomActsMatchTheHost(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 10
	}
	for seed := range rounds {
		random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
		data := make([]byte, 2000)
		random.Read(data) //nolint:errcheck // it never fails
		compareWithHost(t, data)
	}
}

// FuzzActsMatchTheHost is the same with the fuzzer's input.
func FuzzActsMatchTheHost(f *testing.F) {
	f.Add([]byte("a guest that does what its bytes say"))
	f.Fuzz(func(t *testing.T, data []byte) { compareWithHost(t, data[:min(len(data), 2000)]) })
}

// compareWithHost performs the same operations on both.
func compareWithHost(t *testing.T, data []byte) {
	t.Helper()
	directory, err := os.MkdirTemp("", "scratch")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(directory)
	w := newWorld(t, 1<<30)
	p := play{data: data}
	p.fs = append(p.fs, sysfs.DirFS(directory), linuxErrors{w.FS})
	for steps := 0; len(p.data) > 0; steps++ {
		p.step(t)
		if steps%50 == 0 {
			p.compare(t)
		}
	}
	p.compare(t)
	for i := range p.handles {
		p.close(t, &p.handles[i])
	}
	w.closed()
	if t.Failed() {
		t.Log(strings.Join(p.log, "\n"))
	}
}
