package toolstest

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

// wheel is a package for pip, with a module and a program.
func wheel(t testing.TB) []byte {
	t.Helper()
	var buffer bytes.Buffer
	archive := zip.NewWriter(&buffer)
	for _, file := range []struct{ name, text string }{
		{"tiny.py", "def main():\n    print('tiny 1.0')\n"},
		{"tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"},
		{"tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{"tiny-1.0.dist-info/entry_points.txt", "[console_scripts]\ntiny = tiny:main\n"},
		{"tiny-1.0.dist-info/RECORD", "tiny.py,,\ntiny-1.0.dist-info/METADATA,,\ntiny-1.0.dist-info/WHEEL,,\ntiny-1.0.dist-info/entry_points.txt,,\ntiny-1.0.dist-info/RECORD,,\n"},
	} {
		f, err := archive.Create(file.name)
		if err == nil {
			_, err = f.Write([]byte(file.text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

const wheelName = "tiny-1.0-py3-none-any.whl"

func TestToolsPython(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "python3")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := scripts(t, p)
		w.put(wheelName, string(wheel(t)))
		w.ok("python3", "-m", "venv", "venv")
		w.ok("venv/bin/python", "-m", "pip", "install", "--no-index", "--quiet", "--disable-pip-version-check", "./"+wheelName)
		w.want("tiny 1.0", "venv/bin/tiny")
		if found, err := filepath.Glob(w.path("venv/lib/python3*/site-packages/tiny.py")); err != nil || len(found) != 1 {
			t.Errorf("the module is at %v, %v", found, err)
		}
		if out := w.ok("venv/bin/python", "-m", "pip", "list", "--disable-pip-version-check"); !strings.Contains(out, "tiny") {
			t.Errorf("pip list says %s", out)
		}
	})
}

func TestToolsPythonProcesses(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "python3")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := scripts(t, p)
		needsNamespaces(t, p, "there is no /dev/shm for the semaphores of multiprocessing")
		w.bring("processes.py", "kernel.py")
		w.want("processes: all well", "python3", "processes.py")
		w.want("kernel: all well", "python3", "kernel.py")
		if got := w.get("mapped.bin"); !strings.HasPrefix(got, "written through memory") {
			t.Errorf("the mapped file has %q", got[:min(40, len(got))])
		}
	})
}

func TestToolsNode(t *testing.T) {
	t.Parallel()
	hosttest.NeedsExtra(t, hosttest.Node)
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := scripts(t, p)
		w.want("42", "node", "-e", "console.log(6 * 7)")
		needsNamespaces(t, p, "no program can listen on a socket")
		w.bring("workers.js")
		w.want("workers: all well", "node", "workers.js")
		if got := w.get("from-child.txt"); got != "child\n" {
			t.Errorf("the child wrote %q", got)
		}
	})
}

func TestToolsNPM(t *testing.T) {
	t.Parallel()
	hosttest.NeedsExtra(t, hosttest.NPM)
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := scripts(t, p)
		// npm asks its registry for updates, and would wait for an answer.
		w.env = map[string]string{"npm_config_update_notifier": "false", "npm_config_audit": "false", "npm_config_fund": "false", "npm_config_offline": "true"}
		w.put("dep/package.json", `{"name": "dep", "version": "1.2.3", "bin": {"dep": "cli.js"}, "main": "index.js"}`)
		w.put("dep/index.js", "module.exports = 'from dep';\n")
		w.put("dep/cli.js", "#!/usr/bin/env node\nconsole.log('cli', require('./index.js'));\n")
		if err := os.Chmod(w.path("dep/cli.js"), 0o755); err != nil {
			t.Fatal(err)
		}
		w.ok("npm", "init", "-y")
		w.ok("npm", "pkg", "set", "scripts.hello=dep")
		w.ok("npm", "install", "./dep")
		var manifest struct{ Dependencies map[string]string }
		if err := json.Unmarshal([]byte(w.get("package.json")), &manifest); err != nil || manifest.Dependencies["dep"] != "file:dep" {
			t.Errorf("package.json: %+v, %v", manifest, err)
		}
		w.get("package-lock.json")
		w.want("from dep", "node", "-p", "require('dep')")
		if out := w.ok("npm", "run", "--silent", "hello"); out != "cli from dep\n" {
			t.Errorf("npm run said %q", out)
		}
	})
}

func TestToolsPerl(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "perl")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := scripts(t, p)
		w.want("child 3 3628800", "perl", "-e", `use strict; use warnings;
pipe(my $in, my $out) or die $!;
my $pid = fork // die $!;
if (!$pid) { close $in; print $out "child"; close $out; exit 3 }
close $out; my $said = <$in>; waitpid $pid, 0;
my $n = 1; $n *= $_ for 1..10;
open my $file, '>', 'perl.txt' or die $!; print $file "ü\n"; close $file or die $!;
printf "%s %d %d\n", $said, $? >> 8, $n;`)
		if got := w.get("perl.txt"); got != "ü\n" {
			t.Errorf("perl wrote %q", got)
		}
	})
}
