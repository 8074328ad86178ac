package toolstest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

// goRoot finds the toolchain. If PATH has none, as in .ci/run for an ordinary user, it looks
// where go.dev's archive is installed.
func goRoot(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"go", "/usr/local/go/bin/go", "/usr/lib/go/bin/go"} {
		if out, err := exec.Command(program, "env", "GOROOT").Output(); err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	hosttest.Lacks(t, "there is no Go toolchain here")
	return ""
}

func TestToolsGo(t *testing.T) {
	t.Parallel()
	root := goRoot(t)
	// One workspace for all, with the build cache in it: the standard library is compiled
	// once, which takes longer than all the rest.
	dir := t.TempDir()
	eachJail(t, func(t *testing.T, p policy.Policy) {
		if !strings.HasPrefix(root, "/usr/") {
			p.Read = append(p.Read, root)
		}
		w := openWorkshop(t, p)
		w.dir = dir
		w.env = map[string]string{
			"GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOTOOLCHAIN": "local", "GOCACHE": w.path(".cache"), "GOPATH": "/tmp/go", "CGO_ENABLED": "0",
		}
		w.put("go.mod", "module example.com/fib\n\ngo 1.20\n")
		w.put("main.go", `package main

import "os"

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	if fib(20) == 6765 {
		os.Stdout.WriteString("6765\n")
	}
}
`)
		w.put("main_test.go", `package main

import (
	"os"
	"testing"
)

func TestFib(t *testing.T) {
	if err := os.WriteFile(t.TempDir()+"/x", nil, 0o600); err != nil || fib(10) != 55 {
		t.Fatal(fib(10), err)
	}
}
`)
		goTool := filepath.Join(root, "bin/go")
		w.ok(goTool, "build", "-o", "fib", ".")
		if info, err := os.Stat(w.path("fib")); err != nil || info.Mode()&0o111 == 0 {
			t.Errorf("the program is not there: %v, %v", info, err)
		}
		w.want("6765", "./fib")
		if out := w.ok(goTool, "list", "-m"); out != "example.com/fib\n" {
			t.Errorf("go list said %q", out)
		}
		if !hosttest.Long() {
			return // compiling the library for tests takes as long again
		}
		if out := w.ok(goTool, "test", "-count=1", "./..."); !strings.HasPrefix(out, "ok ") {
			t.Errorf("go test said %q", out)
		}
		w.ok(goTool, "vet", "./...")
	})
}

func TestToolsGCC(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "gcc", "ar")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := openWorkshop(t, p)
		w.put("twice.c", "int twice(int n) { return 2 * n; }\n")
		w.put("main.c", `#include <pthread.h>
#include <stdio.h>
int twice(int);
static void *work(void *n) { *(int *)n = twice(*(int *)n); return n; }
int main(void) {
	pthread_t threads[8];
	int numbers[8], sum = 0;
	for (int i = 0; i < 8; i++) { numbers[i] = i; if (pthread_create(&threads[i], 0, work, &numbers[i])) return 1; }
	for (int i = 0; i < 8; i++) { pthread_join(threads[i], 0); sum += numbers[i]; }
	printf("%d\n", sum);
	return 0;
}
`)
		w.ok("gcc", "-O2", "-c", "twice.c")
		w.ok("ar", "rcs", "libtwice.a", "twice.o")
		w.ok("gcc", "-Wall", "-Werror", "-pthread", "main.c", "-L.", "-ltwice", "-o", "main")
		w.want("56", "./main")
		// On the host it is an ordinary program of the owner.
		if out, err := exec.Command(w.path("main")).Output(); err != nil || string(out) != "56\n" {
			t.Errorf("on the host: %q, %v", out, err)
		}
	})
}

func TestToolsMake(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "make")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := openWorkshop(t, p)
		w.bring("Makefile")
		w.ok("make", "-j4")
		if got := w.get("all.txt"); got != strings.Repeat("part\n", 12)+"sub\n" {
			t.Errorf("make wrote %q", got)
		}
		if out := w.ok("make", "-j4"); !strings.Contains(out, "Nothing to be done") && !strings.Contains(out, "up to date") {
			t.Errorf("the second make said %q", out)
		}
		w.ok("make", "clean")
		if left, err := filepath.Glob(w.path("*.txt")); err != nil || len(left) > 0 {
			t.Errorf("make clean left %v, %v", left, err)
		}
		// If a rule fails, make's exit code reports it.
		if r := w.run("make", "fail"); r.ExitCode == nil || *r.ExitCode != 2 || len(r.Violations) > 0 {
			t.Errorf("make fail: %s %v", r.Outcome, r.Violations)
		}
	})
}
