package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/backend/backendtest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// packages writes Python packages into a directory that guests may read, and a file with
// data beside them.
func packages(t *testing.T) (site, data string) {
	t.Helper()
	home := t.TempDir()
	site, data = filepath.Join(home, "site"), filepath.Join(home, "data")
	for name, source := range map[string]string{
		"site/fetcher/__init__.py": `
import urllib.request
from . import inner

def get(url):
    return urllib.request.urlopen(url).read().decode()

def get_raw(address):
    import socket
    return socket.create_connection(address, 5)

def read(path):
    with open(path) as file:
        return file.read()

def lines(path):
    for line in open(path):
        yield line

def call(function, *args):
    return function(*args)

def in_thread(function, *args):
    import threading
    results = []
    def work():
        try:
            results.append(function(*args))
        except Exception as error:
            results.append(error)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if isinstance(results[0], Exception):
        raise results[0]
    return results[0]

def in_pool(function, *args):
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *args).result()

async def get_async(host, port, proxy_port):
    import asyncio
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy_port)
    writer.write(b"GET http://%s:%d/x HTTP/1.0\r\n\r\n" % (host.encode(), port))
    answer = await reader.read()
    writer.close()
    return answer.decode()
`,
		"site/fetcher/inner.py": `
def read(path):
    with open(path) as file:
        return file.read()

def list_directory(path):
    import os
    return os.listdir(path)

def database(path):
    import sqlite3
    return sqlite3.connect(path)
`,
		"site/outer.py": `
import fetcher

def read(path):
    return fetcher.read(path)

def get(url):
    return fetcher.get(url)
`,
		"data/allowed/a.txt": "allowed",
		"data/private/p.txt": "private",
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return site, data
}

func newRunner(t *testing.T, o cordon.Options) *cordon.Runner {
	t.Helper()
	r, err := cordon.NewRunner(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func runScript(t *testing.T, r *cordon.Runner, site, script string) run.Result {
	t.Helper()
	res, err := r.Run(t.Context(), run.Request{Script: run.Script{
		Source: fmt.Sprintf("import sys; sys.path.insert(0, %q)\n", site) + script,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// The violation of an uncaught exception names the module whose code asked, with and
// without rules, and nothing for the script itself.
func TestViolationsNameTheModule(t *testing.T) {
	site, _ := packages(t)
	granted, other := backendtest.Serve(t), backendtest.Serve(t)
	for _, rules := range []map[string]policy.ModuleRule{nil, {"unrelated": {AllowNet: []string{}}}} {
		r := newRunner(t, cordon.Options{Policy: policy.Policy{Read: []string{site}, AllowNet: []string{granted}, ModuleRules: rules}})
		for _, test := range []struct{ name, script, wall, module string }{
			{"a file", "import fetcher\nfetcher.read('/etc/shadow')", "mount", "fetcher"},
			{"a submodule", "from fetcher import inner\ninner.read('/etc/shadow')", "mount", "fetcher.inner"},
			{"the outermost of two", "import outer\nouter.read('/etc/shadow')", "mount", "outer"},
			{"a generator", "import fetcher\nlist(fetcher.lines('/etc/shadow'))", "mount", "fetcher"},
			{"through the standard library", "import fetcher, pathlib\nfetcher.call(pathlib.Path('/etc/shadow').read_text)", "mount", "fetcher"},
			{"the script", "open('/etc/shadow')", "mount", ""},
			{"code of no module", "exec('open(\"/etc/shadow\")', {})", "mount", ""},
			{"a name that would change a report", "exec('open(\"/etc/shadow\")', {'__name__': 'a\\nb', '__file__': '/x'})", "mount", `a\nb`},
			{"globals that compare themselves", `
class Key:
    def __hash__(self): return hash('__name__')
    def __eq__(self, other): raise SystemExit(3)
space = {}
exec("def f(): open('/etc/shadow')", space)
f = space.pop('f')
space[Key()] = 1
f()`, "mount", ""},
			{"the standard library alone", "import pathlib\npathlib.Path('/etc/shadow').read_text()", "mount", ""},
			{"a system call", "import fetcher, os\nfetcher.call(os.fork)", "seccomp", "fetcher"},
			{"a system call of the script", "import os\nos.fork()", "seccomp", ""},
			{"a host", fmt.Sprintf("import fetcher\nfetcher.get('http://%s/')", other), "egress", "fetcher"},
			{"past the proxy", "import fetcher\nfetcher.get_raw(('192.0.2.1', 80))", "egress", "fetcher"},
			{"a host of the script", fmt.Sprintf("import urllib.request as u\nu.urlopen('http://%s/')", other), "egress", ""},
		} {
			t.Run(fmt.Sprintf("%s, %d rules", test.name, len(rules)), func(t *testing.T) {
				res := runScript(t, r, site, test.script)
				if len(res.Violations) != 1 {
					t.Fatalf("%s: %+v", res.Error, res.Violations)
				}
				wall := string(res.Violations[0].Wall)
				if wall == "landlock" {
					wall = "mount" // on a host without namespaces
				}
				if v := res.Violations[0]; wall != test.wall || v.Module != test.module || v.Line < 2 {
					t.Errorf("%+v, want wall %s, module %q", v, test.wall, test.module)
				}
			})
		}
	}
}

func described(violations []run.Violation) string {
	var all []string
	for _, v := range violations {
		all = append(all, fmt.Sprintf("%s %s %s by %q claimed=%v hint=%s", v.Wall, v.Op, v.Detail, v.Module, v.Claimed, v.HintCode))
	}
	return strings.Join(all, "\n")
}

// A rule holds for the modules that it names and for all ways in which ordinary code uses
// files and hosts; the script has the policy.
func TestModuleRules(t *testing.T) {
	site, data := packages(t)
	granted, narrow := backendtest.Serve(t), backendtest.Serve(t)
	private, allowed := data+"/private/p.txt", data+"/allowed/a.txt"
	p := policy.Policy{
		Read: []string{site, data}, AllowNet: []string{granted, narrow},
		ModuleRules: map[string]policy.ModuleRule{
			"fetcher":        {AllowNet: []string{narrow}, Read: []string{data + "/allowed"}},
			"fetcher.inner":  {Read: []string{}},
			policy.AnyModule: {AllowNet: []string{}},
		},
	}
	openDenied := func(path, rule, module string) string {
		return fmt.Sprintf("language open %s: not in module_rules.%s.read by %q claimed=true hint=module_rule", path, rule, module)
	}
	connectDenied := func(host, rule, module string) string {
		return fmt.Sprintf("language connect %s: not in module_rules.%s.allow_net by %q claimed=true hint=module_rule", host, rule, module)
	}
	proxyPort := 3128
	for _, oneShot := range []bool{false, true} {
		r := newRunner(t, cordon.Options{Policy: p})
		for _, test := range []struct {
			name, script string
			result       string // empty if it fails
			violation    string
		}{
			{"the script reads", "result = open(%[1]q).read()", `"private"`, ""},
			{"the script connects", "import urllib.request as u\nresult = u.urlopen('http://%[3]s/x').read().decode()", `"hello from /x"`, ""},
			{"allowed file", "import fetcher\nresult = fetcher.read(%[2]q)", `"allowed"`, ""},
			{"its own /tmp", "import fetcher\nopen('/tmp/x', 'w').write('mine')\nresult = fetcher.read('/tmp/x')", `"mine"`, ""},
			{"denied file", "import fetcher\nresult = fetcher.read(%[1]q)", "", openDenied(private, "fetcher", "fetcher")},
			{"relative path", "import fetcher, os\nos.chdir(%[5]q)\nresult = fetcher.read('private/../private/./p.txt')", "", openDenied(private, "fetcher", "fetcher")},
			{"path object", "import fetcher, pathlib\nresult = fetcher.read(pathlib.Path(%[1]q))", "", openDenied(private, "fetcher", "fetcher")},
			{"bytes", "import fetcher\nresult = fetcher.read(%[1]q.encode())", "", openDenied(private, "fetcher", "fetcher")},
			{"generator", "import fetcher\nresult = list(fetcher.lines(%[1]q))", "", openDenied(private, "fetcher", "fetcher")},
			{"function of the library", "import fetcher, pathlib\nresult = fetcher.call(pathlib.Path(%[1]q).read_text)", "", openDenied(private, "fetcher", "fetcher")},
			{"thread", "import fetcher\nresult = fetcher.in_thread(fetcher.read, %[1]q)", "", openDenied(private, "fetcher", "fetcher")},
			{"thread that only has the library's code", "import fetcher, pathlib\nresult = fetcher.in_pool(pathlib.Path(%[1]q).read_text)", "", openDenied(private, "fetcher", "fetcher")},
			{"thread of the script", "import pathlib\nfrom concurrent.futures import ThreadPoolExecutor as E\nresult = E(1).submit(pathlib.Path(%[1]q).read_text).result()", `"private"`, ""},
			{"caught", "import fetcher\ntry:\n    fetcher.read(%[1]q)\nexcept PermissionError as e:\n    result = e.filename == %[1]q", "true", openDenied(private, "fetcher", "fetcher")},
			{"a rule of its own for a submodule", "from fetcher import inner\nresult = inner.read(%[2]q)", "", openDenied(allowed, "fetcher.inner", "fetcher.inner")},
			{"directory", "from fetcher import inner\nresult = inner.list_directory(%[5]q + '/private')", "", openDenied(data+"/private", "fetcher.inner", "fetcher.inner")},
			{"database", "from fetcher import inner\nresult = inner.database('file:' + %[1]q + '?mode=ro')", "", openDenied(private, "fetcher.inner", "fetcher.inner")},
			{"the outermost module asks, and its rule has no files", "import outer\nresult = outer.read(%[1]q)", `"private"`, ""},
			{"allowed host", "import fetcher\nresult = fetcher.get('http://%[4]s/x')", `"hello from /x"`, ""},
			{"denied host", "import fetcher\nresult = fetcher.get('http://%[3]s/x')", "", connectDenied(granted, "fetcher", "fetcher")},
			{"denied host in a thread", "import fetcher\nresult = fetcher.in_thread(fetcher.get, 'http://%[3]s/x')", "", connectDenied(granted, "fetcher", "fetcher")},
			{"denied host in a pool, by the library", "import fetcher, urllib.request\nresult = str(fetcher.in_pool(urllib.request.urlopen, 'http://%[3]s/x'))", "", connectDenied(granted, "fetcher", "fetcher")},
			{"allowed host, another client", "import asyncio, fetcher\nresult = asyncio.run(fetcher.get_async(%[6]s)).endswith('hello from /x')", "true", ""},
			{"host by the rule of all others", "import outer\nresult = outer.get('http://%[4]s/x')", "", connectDenied(narrow, "*", "outer")},
			{"a socket that nobody announced", "import ctypes, socket, struct, os\ns = socket.socket()\nctypes.CDLL(None).connect(s.fileno(), struct.pack('=H', 2) + struct.pack('!H4s', %[7]d, bytes((127, 0, 0, 1))) + bytes(8), 16)\ns.sendall(b'GET http://%[4]s/x HTTP/1.0\\r\\n\\r\\n')\nresult = s.recv(1000).decode()[9:12]", `"403"`, connectDenied(narrow, "*", "")},
		} {
			t.Run(fmt.Sprintf("%s, one shot %v", test.name, oneShot), func(t *testing.T) {
				r := r
				if oneShot {
					r = newRunner(t, cordon.Options{Policy: p, OneShot: true})
				}
				host, port, _ := strings.Cut(narrow, ":")
				script := fmt.Sprintf(test.script, private, allowed, granted, narrow, data, fmt.Sprintf("%q, %s, %d", host, port, proxyPort), proxyPort)
				script, _, _ = strings.Cut(script, "%!(EXTRA")
				res := runScript(t, r, site, script)
				if string(res.Value) != test.result || res.OK() != (test.result != "") {
					t.Errorf("%s %s: %s", res.Outcome, res.Error, res.Value)
				}
				if got := described(res.Violations); got != test.violation {
					t.Errorf("%s\nwant %s", got, test.violation)
				}
				if status := res.Enforcement.Walls[policy.WallLanguage]; status.String() != "enforced (module rules)" {
					t.Errorf("enforcement says %q", status)
				}
			})
		}
	}
}

// A Result says which module used which files, hosts and threads, and nothing about them
// where the policy has no rules.
func TestResultsNameWhatModulesUse(t *testing.T) {
	site, data := packages(t)
	host := backendtest.Serve(t)
	script := fmt.Sprintf(`
import fetcher, outer, urllib.request
open(%[1]q)
fetcher.read(%[1]q)
fetcher.read(%[1]q)
fetcher.in_thread(outer.read, %[2]q)
fetcher.get('http://%[3]s/')
urllib.request.urlopen('http://%[3]s/').read()
result = 1`, data+"/allowed/a.txt", data+"/private/p.txt", host)
	p := policy.Policy{Read: []string{site, data}, AllowNet: []string{host}}
	res := runScript(t, newRunner(t, cordon.Options{Policy: p}), site, script)
	if _, stands := res.Enforcement.Walls[policy.WallLanguage]; !res.OK() || res.Modules != nil || len(res.Traffic) != 1 || res.Traffic[0].Module != "" || stands {
		t.Errorf("without rules: %s %+v, %+v", res.Error, res.Modules, res.Traffic)
	}

	p.ModuleRules = map[string]policy.ModuleRule{"unrelated": {AllowNet: []string{}}}
	res = runScript(t, newRunner(t, cordon.Options{Policy: p}), site, script)
	if !res.OK() || len(res.Modules) != 1 {
		t.Fatalf("%s %+v", res.Error, res.Modules)
	}
	// Whoever started the thread has a frame in it, which is the outermost.
	use := res.Modules[0]
	if want := []string{data + "/allowed/a.txt", data + "/private/p.txt"}; use.Module != "fetcher" || !slices.Equal(use.Files, want) || use.Threads != 1 || use.Omitted != 0 {
		t.Errorf("%+v", use)
	}
	var hosts []string
	for _, traffic := range res.Traffic {
		hosts = append(hosts, fmt.Sprintf("%s:%d %q %d", traffic.Host, traffic.Port, traffic.Module, traffic.Connections))
	}
	if want := []string{fmt.Sprintf("%s %q 1", host, ""), fmt.Sprintf("%s %q 1", host, "fetcher")}; !slices.Equal(hosts, want) {
		t.Errorf("%q, want %q", hosts, want)
	}
}

// What a guest's modules report is bounded.
func TestModuleReportsAreBounded(t *testing.T) {
	site, _ := packages(t)
	r := newRunner(t, cordon.Options{Policy: policy.Policy{
		Read: []string{site}, ModuleRules: map[string]policy.ModuleRule{"fetcher": {Read: []string{site + "/fetcher"}}},
	}})
	res := runScript(t, r, site, fmt.Sprintf(`
import fetcher, types
def attempt(path, read=fetcher.read):
    try:
        read(path)
    except OSError:
        pass
for i in range(1000):
    attempt('/tmp/%%d' %% i)
    attempt('%s/outer.py/%%d' %% i)
for i in range(100):
    made = types.ModuleType('made%%d' %% i)
    made.__file__ = '/tmp/made.py'
    exec('def read(path): open(path)', made.__dict__)
    attempt('/tmp', made.read)
result = 1`, site))
	files := 0
	for _, use := range res.Modules {
		files += len(use.Files)
	}
	if !res.OK() || len(res.Violations) != 32 || len(res.Modules) != 64 || files != 256 || res.Modules[0].Omitted != 1000-256 {
		t.Errorf("%s: %d violations, %d modules, %d files", res.Error, len(res.Violations), len(res.Modules), files)
	}
}

// The program with the audit hook is loaded only where a policy has rules.
func TestNoAuditHookWithoutRules(t *testing.T) {
	const script = `
import sys
result = "ModuleWatch" in sys._getframe(1).f_globals`
	for _, rules := range []map[string]policy.ModuleRule{nil, {"x": {AllowNet: []string{}}}} {
		for _, oneShot := range []bool{false, true} {
			r := newRunner(t, cordon.Options{Policy: policy.Policy{ModuleRules: rules}, OneShot: oneShot})
			if res := runScript(t, r, "/tmp", script); string(res.Value) != fmt.Sprint(rules != nil) {
				t.Errorf("%v, one shot %v: %s %s", rules, oneShot, res.Value, res.Error)
			}
		}
	}
}

// Restricted scripts and hooks have the rules too.
func TestModuleRulesOfRestrictedCode(t *testing.T) {
	r := newRunner(t, cordon.Options{Policy: policy.Policy{ModuleRules: map[string]policy.ModuleRule{"x": {AllowNet: []string{}}}}})
	res, err := r.Run(t.Context(), run.Request{Script: run.Script{Source: "result = 1", Restricted: true}})
	if err != nil || !res.OK() || res.Enforcement.Walls[policy.WallLanguage].String() != "enforced (standard, module rules)" {
		t.Errorf("%s, %v, %v", res.Error, res.Enforcement.Walls[policy.WallLanguage], err)
	}
	for _, trust := range []policy.Trust{policy.TrustPlatform, policy.TrustUser} {
		h, err := r.OpenHook(t.Context(), run.HookSpec{Script: "result['output'] = 1", Trust: trust})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		for range 2 {
			res, err := h.Call(t.Context(), nil, nil)
			if err != nil || string(res.Value) != "1" || res.Enforcement.Walls[policy.WallLanguage].String() != "enforced (hook, module rules)" {
				t.Errorf("%s: %s, %v, %v", trust, res.Error, res.Enforcement.Walls[policy.WallLanguage], err)
			}
		}
	}
}

// Where no audit hook watches modules, a policy with rules for them refuses to run.
func TestModuleRulesRefuseOtherTiers(t *testing.T) {
	r := newRunner(t, cordon.Options{Policy: policy.Policy{ModuleRules: map[string]policy.ModuleRule{"x": {AllowNet: []string{}}}}})
	for name, req := range map[string]run.Request{
		"command": {Command: run.Command{Args: []string{"true"}}},
		"script":  {Script: run.Script{Source: "1"}, Tier: policy.TierWasm},
	} {
		if _, err := r.Run(t.Context(), req); run.ClassOf(err) != run.Unsupported || !strings.Contains(err.Error(), "module_rules") {
			t.Errorf("a %s: %v", name, err)
		}
	}
	if _, err := r.OpenSession(t.Context(), run.SessionOptions{Tier: policy.TierWasm}); run.ClassOf(err) != run.Unsupported {
		t.Errorf("a session: %v", err)
	}
}

// Steps of sessions have the rules too, and each Result has what modules used in its step.
func TestModuleRulesInSessions(t *testing.T) {
	granted := t.TempDir()
	if err := os.WriteFile(granted+"/data", []byte("text"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRunner(t, cordon.Options{Policy: policy.Policy{
		Read: []string{granted}, ModuleRules: map[string]policy.ModuleRule{"kept": {AllowNet: []string{}, Read: []string{}}},
	}})
	s, err := r.OpenSession(t.Context(), run.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	step := func(code string) run.Result {
		res, err := s.Run(t.Context(), run.Request{Script: run.Script{Source: code}})
		if err != nil || res.Step == nil || !res.Step.Survived {
			t.Fatalf("%s: %v %s", code, err, res.Error)
		}
		return res
	}
	step("import sys; sys.path.insert(0, '/tmp')\nopen('/tmp/kept.py', 'w').write('def read(path): return open(path).read()')\nimport kept")
	res := step("kept.read('" + granted + "/data')")
	if res.OK() || len(res.Violations) != 1 || res.Violations[0].Module != "kept" {
		t.Errorf("a file of the module: %s %+v", res.Outcome, res.Violations)
	}
	if got := res.Enforcement.Walls[policy.WallLanguage].String(); got != "enforced (module rules)" {
		t.Error(got)
	}
	if res = step("1"); len(res.Violations) != 0 || len(res.Modules) != 0 {
		t.Errorf("the step after it: %+v %+v", res.Violations, res.Modules)
	}
}

// A guest that forges a report about modules, where there are no rules, adds nothing.
func TestForgedModuleReports(t *testing.T) {
	const script = `
import marshal, posix
report = marshal.dumps({"modules": [["json", ["/etc/shadow"], 0, 1]], "denied": [["json", "*", "/etc/shadow", 1, 1]], "end": "ok", "code": 0, "result": 1}, 2)
posix.write(3, b"D" + len(report).to_bytes(4, "little") + report)`
	for _, test := range []struct {
		rules   map[string]policy.ModuleRule
		claimed int
	}{{nil, 0}, {map[string]policy.ModuleRule{"x": {AllowNet: []string{}}}, 1}} {
		r := newRunner(t, cordon.Options{Policy: policy.Policy{ModuleRules: test.rules}})
		res := runScript(t, r, "/tmp", script)
		if !res.OK() || len(res.Modules) != test.claimed || len(res.Violations) != test.claimed {
			t.Errorf("%v: %s %+v %+v", test.rules, res.Error, res.Modules, res.Violations)
		}
		for _, v := range res.Violations {
			if !v.Claimed {
				t.Errorf("%+v is only the guest's word", v)
			}
		}
	}
}
