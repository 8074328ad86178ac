package wire

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Real interpreters check the format. Each is started once per test binary and reads
// commands line by line:
//
//	dump EXPR        → hex of marshal.dumps(EXPR, 2), hex of json.dumps(EXPR)
//	load HEX HEX     → compares marshal.loads of the first with json.loads of
//	                   the second: "same" if CPython would have written the
//	                   same bytes, "equal" if only the values are equal
//	repr HEX         → hex of repr(marshal.loads(…))
const pythonScript = `
import sys, json, marshal, binascii
if hasattr(sys, 'set_int_max_str_digits'):
    sys.set_int_max_str_digits(0)
sys.setrecursionlimit(5000)
unhex = binascii.unhexlify
def enhex(b): return binascii.hexlify(b).decode()
def nest(n):
    v = []
    for _ in range(n - 1): v = [v]
    return v
def answer(cmd, rest):
    if cmd == 'dump':
        v = eval(rest)
        try:
            text = json.dumps(v, ensure_ascii=False, allow_nan=False, separators=(',', ':'))
        except (TypeError, ValueError, RecursionError):
            text = 'error'
        return enhex(marshal.dumps(v, 2)) + ' ' + enhex(text.encode('utf-8', 'surrogatepass'))
    if cmd == 'load':
        data, text = (unhex(h) for h in rest.split())
        got, want = marshal.loads(data), json.loads(text.decode('utf-8'))
        if repr(got) != repr(want):
            return 'got %.200a want %.200a' % (got, want)
        return 'same' if marshal.dumps(want, 2) == data else 'equal'
    if cmd == 'repr':
        return enhex(repr(marshal.loads(unhex(rest))).encode('utf-8', 'backslashreplace'))
for line in sys.stdin:
    cmd, _, rest = line.rstrip('\n').partition(' ')
    try:
        out = answer(cmd, rest)
    except Exception as e:
        out = 'failed %a' % (e,)
    sys.stdout.write(out + '\n')
    sys.stdout.flush()
`

type python struct {
	path string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	mu   sync.Mutex
}

// pythons start when a test first needs them.
var pythons = sync.OnceValues(func() ([]*python, error) {
	var found []*python
	for _, path := range interpreters() {
		p := &python{path: path, cmd: exec.Command(path, "-I", "-S", "-c", pythonScript)}
		p.cmd.Env = []string{"PYTHONIOENCODING=utf-8"}
		p.cmd.Stderr = os.Stderr
		out, err := p.cmd.StdoutPipe()
		if err != nil {
			return found, err
		}
		if p.in, err = p.cmd.StdinPipe(); err != nil {
			return found, err
		}
		p.out = bufio.NewReader(out)
		if err := p.cmd.Start(); err != nil {
			return found, err
		}
		found = append(found, p)
	}
	return found, nil
})

func interpreters() []string {
	var paths []string
	for _, name := range []string{"/usr/bin/python3", "python3"} {
		if path, err := exec.LookPath(name); err == nil {
			paths = append(paths, path)
			break
		}
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return paths
	}
	more, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/*/bin/python3"))
	return append(paths, more...)
}

// TestMain ends the interpreters: they exit when their stdin closes.
func TestMain(m *testing.M) {
	code := m.Run()
	started, _ := pythons()
	for _, p := range started {
		_ = p.in.Close()
		_ = p.cmd.Wait()
	}
	os.Exit(code)
}

// eachPython runs f as a subtest for every interpreter of this host.
func eachPython(t *testing.T, f func(t *testing.T, p *python)) {
	t.Helper()
	found, err := pythons()
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		if os.Getenv("CORDON_REQUIRE_HOST") == "1" {
			t.Fatal("no python3 found")
		}
		t.Skip("no python3 found")
	}
	for _, p := range found {
		name := strings.Trim(strings.ReplaceAll(p.path, "/", "_"), "_")
		t.Run(name, func(t *testing.T) { f(t, p) })
	}
}

func (p *python) ask(line string) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return "", err
	}
	answer, err := p.out.ReadString('\n')
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.path, err)
	}
	return strings.TrimSuffix(answer, "\n"), nil
}

// dump returns the marshal and the JSON text of a Python expression.
func (p *python) dump(t *testing.T, expr string) (data, text []byte) {
	t.Helper()
	answer, err := p.ask("dump " + expr)
	if err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(answer, " ")
	data, err1 := hex.DecodeString(first)
	text, err2 := hex.DecodeString(second)
	if err1 != nil || err2 != nil || len(data) == 0 {
		t.Fatalf("%s: %s", expr, answer)
	}
	return data, text
}

// load compares our marshal with JSON text as Python reads both.
func (p *python) load(data, text []byte) (string, error) {
	return p.ask("load " + hex.EncodeToString(data) + " " + hex.EncodeToString(text))
}

func (p *python) repr(t *testing.T, data []byte) string {
	t.Helper()
	answer, err := p.ask("repr " + hex.EncodeToString(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := hex.DecodeString(answer)
	if err != nil {
		t.Fatal(answer)
	}
	return string(text)
}
