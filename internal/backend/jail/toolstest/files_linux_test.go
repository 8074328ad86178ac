package toolstest

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
)

func TestToolsGit(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "git")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := openWorkshop(t, p)
		w.env = map[string]string{
			"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@test.example", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@test.example",
		}
		w.ok("git", "init", "-q", "-b", "main", "repo")
		w.put("repo/a.txt", "one\n")
		w.put("repo/directory/b.txt", "two\n")
		w.ok("git", "-C", "repo", "add", ".")
		w.ok("git", "-C", "repo", "commit", "-q", "-m", "first: a file & more")
		w.want("", "git", "-C", "repo", "status", "--porcelain")
		w.put("repo/a.txt", "one and a half\n")
		w.want("M a.txt", "git", "-C", "repo", "status", "--porcelain")
		w.ok("git", "-C", "repo", "commit", "-q", "-a", "-m", "second")
		if log := w.ok("git", "-C", "repo", "log", "--format=%s %an"); log != "second A\nfirst: a file & more A\n" {
			t.Errorf("the log is %q", log)
		}
		// With hard links, and over the protocol, with its second process.
		w.ok("git", "clone", "-q", "repo", "copy")
		w.ok("git", "clone", "-q", "--no-local", "repo", "packed")
		w.ok("git", "-C", "packed", "gc", "-q")
		w.ok("git", "-C", "packed", "fsck", "--strict")
		for _, name := range []string{"copy/a.txt", "packed/a.txt"} {
			if got := w.get(name); got != "one and a half\n" {
				t.Errorf("%s is %q", name, got)
			}
		}
		if head := w.get("copy/.git/HEAD"); head != "ref: refs/heads/main\n" {
			t.Errorf("HEAD is %q", head)
		}
		w.ok("git", "-C", "repo", "diff", "--stat", "HEAD~1")
		// Relative paths are relative to the directory that -C names.
		t.Run("-C", func(t *testing.T) {
			w.t = t
			w.ok("git", "-C", "repo", "worktree", "add", "-q", "../tree", "-b", "other")
			w.get("tree/a.txt")
		})
	})
}

func TestToolsSQLite(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "sqlite3")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := openWorkshop(t, p)
		w.want("wal", "sqlite3", "data.db", "PRAGMA journal_mode=WAL;")
		w.ok("sqlite3", "data.db", "CREATE TABLE t(n INTEGER PRIMARY KEY, s TEXT); BEGIN; INSERT INTO t(s) VALUES('ä'),('b'); COMMIT;")
		w.want("2|ä", "sqlite3", "data.db", "SELECT count(*), min(CASE n WHEN 1 THEN s END) FROM t;")
		w.want("ok", "sqlite3", "data.db", "PRAGMA integrity_check;")
		header := w.get("data.db")
		if !strings.HasPrefix(header, "SQLite format 3\x00") || header[18] != 2 {
			t.Errorf("the file does not say WAL: %q", header[:20])
		}
	})
}

func TestToolsTar(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "tar", "gzip")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		w := openWorkshop(t, p)
		modes := map[string]fs.FileMode{"run.sh": 0o750, "secret": 0o600, "open": 0o664, "sub/plain": 0o644}
		for name, mode := range modes {
			w.put("in/"+name, strings.Repeat(name, 1000))
			if err := os.Chmod(w.path("in/"+name), mode); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("run.sh", w.path("in/link")); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(w.path("in/secret"), w.path("in/second")); err != nil {
			t.Fatal(err)
		}
		w.ok("tar", "--xattrs", "-czf", "all.tar.gz", "in")
		w.ok("gzip", "-t", "all.tar.gz")
		w.ok("mkdir", "out")
		w.ok("tar", "-xpzf", "all.tar.gz", "-C", "out")
		w.want("", "diff", "-r", "in", "out/in")
		for name, mode := range modes {
			info, err := os.Stat(w.path("out/in/" + name))
			if err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, mode)
			}
		}
		if to, err := os.Readlink(w.path("out/in/link")); err != nil || to != "run.sh" {
			t.Errorf("the link leads to %q, %v", to, err)
		}
		a, errA := os.Stat(w.path("out/in/secret"))
		b, errB := os.Stat(w.path("out/in/second"))
		if errA != nil || errB != nil || !os.SameFile(a, b) {
			t.Errorf("the links are two files: %v, %v", errA, errB)
		}
		// Everything that a command creates belongs to the owner of the directory.
		if entry, err := os.ReadFile(w.path("out/in/secret")); err != nil || len(entry) == 0 {
			t.Errorf("the host cannot read its own file: %v", err)
		}
		w.ok("cp", "-a", "in", "again")
		w.ok("rm", "-r", "out", "again")
	})
}

func TestToolsPipelines(t *testing.T) {
	t.Parallel()
	hosttest.Needs(t, "find", "xargs", "sort", "grep", "sed", "awk", "bash")
	eachJail(t, func(t *testing.T, p policy.Policy) {
		// Some are not interpreters and need no grant.
		w := openWorkshop(t, p)
		w.put("tree/b.txt", "needle two\nhay\n")
		w.put("tree/deep/a.txt", "needle one\n")
		w.put("tree/deep/c.md", "needle three\n")
		w.want("tree/b.txt:needle two\ntree/deep/a.txt:needle one", "grep", "-r", "--include=*.txt", "needle", "tree")
		w.want("hay\nneedle one\nneedle two", "sort", "tree/b.txt", "tree/deep/a.txt")
		w.want("2", "find", "tree", "-name", "*.md", "-printf", "%d\n")
		s := scripts(t, p)
		s.dir = w.dir
		if got := s.shell(`find tree -type f -print0 | sort -z | xargs -0 -P4 -n1 cat | grep needle | awk '{print $2}' | sort | uniq -c | sed 's/^ *//' | tee out.txt | wc -l`); strings.TrimSpace(got) != "3" {
			t.Errorf("the pipeline says %q", got)
		}
		if got := s.get("out.txt"); got != "1 one\n1 three\n1 two\n" {
			t.Errorf("the file is %q", got)
		}
		// /dev/fd, here-documents, traps, a coprocess: scripts rely on these.
		s.want("same trap", "bash", "-c", `set -euo pipefail
diff <(seq 5) <(printf '%s\n' 1 2 3 4 5) && x=same
trap 'echo "$x trap"' EXIT
cat <<<here >"$(mktemp)"
coproc cat; echo x >&"${COPROC[1]}"; read -r _ <&"${COPROC[0]}"; eval "exec ${COPROC[1]}>&-"
timeout 5 true; nice true; nohup true 2>/dev/null; wait`)
		if r := s.run("bash", "-c", "set -o pipefail; yes | head -n1 >/dev/null"); r.ExitCode == nil || *r.ExitCode != 141 {
			t.Errorf("a broken pipe ends in %s %v: SIGPIPE has the wrong handler", r.Outcome, r.Error)
		}
	})
}
