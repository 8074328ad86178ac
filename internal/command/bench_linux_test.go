package command

import (
	"os"
	"testing"
)

func BenchmarkCheck(b *testing.B) {
	scope := Scope{
		Workspace: b.TempDir(), Scratch: "/tmp", System: existing("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives"),
		Path: []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"},
	}
	scope.Dir = scope.Workspace
	own, err := os.ReadFile(need(b, "ls"))
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(scope.Workspace+"/tool", append(own, 0), 0o755); err != nil {
		b.Fatal(err)
	}
	for _, test := range []struct {
		name string
		argv []string
	}{
		{"ls", []string{"ls", "-l"}}, {"make", []string{"make", "-j2", "all"}}, {"git", []string{"git", "log", "--oneline", "HEAD~3..HEAD"}},
		{"env", []string{"env", "A=1", "timeout", "5", "ls"}}, {"refused", []string{"env", "sh"}},
		{"own", []string{"./tool"}},
	} {
		if test.name != "own" {
			need(b, test.argv[0])
		}
		run := func(b *testing.B) {
			if _, err := Check(test.argv, scope); err != nil {
				b.Fatal(err)
			}
		}
		// As in a process that was started for this command alone.
		b.Run(test.name+"/cold", func(b *testing.B) {
			for b.Loop() {
				forget()
				run(b)
			}
		})
		b.Run(test.name+"/warm", func(b *testing.B) {
			for b.Loop() {
				run(b)
			}
		})
	}
}

func forget() {
	remembered.mu.Lock()
	clear(remembered.all)
	remembered.mu.Unlock()
	inventories.Lock()
	clear(inventories.all)
	inventories.Unlock()
}

func BenchmarkScan(b *testing.B) {
	f, err := os.Open(need(b, "git"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		if n := readNature(f, info.Size(), readMost); n.kind != "" {
			b.Fatal(n.kind)
		}
	}
}
