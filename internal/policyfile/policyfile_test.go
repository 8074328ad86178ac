package policyfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

const full = `# what the operator allows
preset: default
trust: user
python: /usr/bin/python3
preload: [json, re]
limits:  {wall_time: 30s, cpu_time: 10s, memory: 256MiB, output: 64KiB, scratch: 16MiB, open_files: 64, threads: 16}
maxima:  {wall_time: 60s, memory: 1GiB}
on_output_limit: truncate
walls:
  require: [userns, landlock]
  prefer: [cgroup]
read: [/data/models]
`

func TestParse(t *testing.T) {
	got, err := Parse("full.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	want := policy.Policy{
		Name: "full.yaml", Trust: policy.TrustUser, Python: "/usr/bin/python3", Preload: []string{"json", "re"},
		Limits: policy.DefaultLimits(), Maxima: policy.DefaultMaxima(), OnOutputLimit: policy.OutputTruncate,
		Require: []policy.Wall{policy.WallUser, policy.WallLandlock}, Prefer: []policy.Wall{policy.WallCgroup},
		Read: []string{"/data/models"},
	}.Resolved()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseOfCommands(t *testing.T) {
	text := "preset: command\nwrite: [/srv/out]\nallow_net: [example.com, \"*.example.org:8443\"]\negress: preflight\njail: bwrap\n" +
		"allow_interpreters: true\ndangerous_workspace: true\nlimits: {processes: 3, disk: 1MiB}\n"
	got, err := Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if !got.AllowInterpreters || !got.DangerousWorkspace || got.Egress != policy.EgressPreflight || got.Jail != policy.JailBwrap ||
		len(got.AllowNet) != 2 || got.Write[0] != "/srv/out" || got.Limits.Processes != 3 || got.Limits.Disk != policy.MiB {
		t.Errorf("%+v", got)
	}
	again, err := Format(got)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Parse("p.yaml", again); err != nil || cmp.Diff(got, same) != "" {
		t.Errorf("printed and read again: %v %s", err, cmp.Diff(got, same))
	}
}

func TestParseOfModuleRules(t *testing.T) {
	text := "read: [/data]\nallow_net: [api.example.com]\nmodule_rules: {requests: {allow_net: [\"api.example.com:443\"]}, google.cloud: {read: [/data/a], allow_net: []}, \"*\": {allow_net: []}}\n"
	got, err := Parse("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]policy.ModuleRule{
		"requests":       {AllowNet: []string{"api.example.com:443"}},
		"google.cloud":   {AllowNet: []string{}, Read: []string{"/data/a"}},
		policy.AnyModule: {AllowNet: []string{}},
	}
	if diff := cmp.Diff(want, got.ModuleRules); diff != "" {
		t.Error(diff)
	}
	again, err := Format(got)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Parse("p.yaml", again); err != nil || cmp.Diff(got.ModuleRules, same.ModuleRules) != "" {
		t.Errorf("printed and read again: %v\n%s", err, again)
	}
}

func TestParseAccepts(t *testing.T) {
	for name, text := range map[string]string{
		"nothing said":       "{}",
		"marker":             "---\ntrust: user\n...\n",
		"byte order mark":    "\ufefftrust: user\n",
		"Windows lines":      "trust: user\r\nread: [/data]\r\n",
		"quoted":             `limits: {memory: "64MiB"}`,
		"tagged as text":     "limits: {memory: !!str 64MiB}",
		"alias":              "limits: &l {memory: 64MiB}\nmaxima: *l\n",
		"alias in a list":    "python: &p /usr/bin/python3\nread: [*p, *p]\n",
		"no preload":         "preload: []",
		"JSON is YAML":       `{"trust": "user", "limits": {"threads": 4}}`,
		"numbers as a name":  "read: [/data/2024]",
		"last line unbroken": "trust: user",
	} {
		if _, err := Parse("p.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if p, _ := Parse("p.yaml", []byte("preload: []")); p.Preload == nil || len(p.Preload) != 0 {
		t.Errorf("an empty preload is %#v", p.Preload)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // one for each line of the message
	}{
		{"empty", "", []string{`p.yaml:1: says nothing: write at least "preset: default" (the presets are default, strict, data, command)`}},
		{"comment", "# later\n", []string{"p.yaml:1: says nothing"}},
		{"marker", "---\n", []string{"p.yaml:1: says nothing"}},
		{"null", "~", []string{"p.yaml:1: says nothing"}},
		{"text", "hello", []string{`p.yaml:1: expected keys and values, got the text "hello": write "preset: default"`}},
		{"list", "- a\n", []string{"p.yaml:1: expected keys and values, got a list"}},
		{"unknown", "trust: user\nmemory: 1GiB\n", []string{"p.yaml:2: memory: unknown key: the keys here are v, preset, trust, third_party, python, preload, limits, maxima, on_output_limit, walls, read, write, allow_net, egress, jail, allow_interpreters, dangerous_workspace, deterministic, python_wasm, language, module_rules"}},
		{"module rules", "read: [/data]\nmodule_rules:\n  requests:\n  pandas: {red: [/data]}\n  a-b: {read: []}\n  numpy:\n    read: [/data/a, /etc]\n  numpy: {read: []}\n", []string{
			`p.yaml:3: module_rules.requests: has no value: write "module_rules: {requests: {allow_net: [api.example.com]}}", or leave the line out`,
			"p.yaml:4: module_rules.pandas.red: unknown key: the keys here are allow_net, read",
			"p.yaml:4: module_rules.pandas: has no rule: write allow_net or read, with [] for nothing",
			`p.yaml:5: module_rules.a-b: "a-b" is not a module name: write one like requests or google.cloud, or "*" for all others`,
			`p.yaml:7: module_rules.numpy.read: "/etc" is not in the policy's read: a module rule can only narrow it`,
			"p.yaml:8: module_rules.numpy: duplicate key: it is already in line 6",
		}},
		{"module rules as a list", "module_rules: [requests]\n", []string{"p.yaml:1: module_rules: expected keys and values, got a list: write "}},
		{"other case", "Trust: user\n", []string{"p.yaml:1: Trust: unknown key"}},
		{"unknown limit", "limits:\n  wall_time: 2s\n  ram: 1GiB\n", []string{"p.yaml:3: limits.ram: unknown key: the keys here are wall_time, "}},
		{"merge", "limits: &l {threads: 4}\nmaxima:\n  <<: *l\n", []string{"p.yaml:3: maxima.<<: unknown key"}},
		{"key kind", "? [a]\n: b\n", []string{"p.yaml:1: a key cannot be a list"}},
		{"bare size", "trust: user\nlimits:\n  wall_time: 2s\n  memory: 256\n", []string{`p.yaml:4: limits.memory: "256" has no unit: write 256B, 256KiB, 256MiB or 256GiB`}},
		{"bare time", "limits: {wall_time: 30}", []string{`p.yaml:1: limits.wall_time: "30" has no unit: write 30s`}},
		{"fraction", "limits: {wall_time: 0.5}", []string{`p.yaml:1: limits.wall_time: "0.5" has no unit: write 0.5s`}},
		{"bad unit", "maxima:\n  memory: 1Gb\n", []string{`p.yaml:2: maxima.memory: "1Gb" has an unknown unit "Gb"`}},
		{"zero", "limits:\n  memory: 0B\n", []string{"p.yaml:2: limits.memory: is zero: leave it out"}},
		{"twice", "trust: user\nread: [/a]\ntrust: platform\n", []string{"p.yaml:3: trust: duplicate key: it is already in line 1"}},
		{"limit twice", "limits:\n  memory: 64MiB\n  memory: 128MiB\n", []string{"p.yaml:3: limits.memory: duplicate key"}},
		{"no value", "trust:\nlimits: ~\n", []string{`p.yaml:1: trust: has no value: write "trust: user", or leave the line out`, `p.yaml:2: limits: has no value: write "limits: {memory: 256MiB}"`}},
		{"empty text", `python: ""`, []string{"p.yaml:1: python: has no value"}},
		{"list for text", "trust: [user]", []string{`p.yaml:1: trust: expected text, got a list: write "trust: user"`}},
		{"truth for text", "on_output_limit: true", []string{"p.yaml:1: on_output_limit: expected text, got the boolean true"}},
		{"text for list", "read: /data", []string{`p.yaml:1: read: expected a list, got the text "/data": write "read: [/data/models]"`}},
		{"keys for list", "preload: {json: re}", []string{"p.yaml:1: preload: expected a list, got keys and values"}},
		{"list in list", "read:\n  - /a\n  - [/b]\n", []string{"p.yaml:3: read: expected text, got a list"}},
		{"hole in list", "read:\n  - /a\n  -\n", []string{"p.yaml:3: read: expected text, got nothing"}},
		{"text for keys", "limits: 5s", []string{`p.yaml:1: limits: expected keys and values, got the text "5s"`}},
		{"text for count", "limits: {threads: many}", []string{`p.yaml:1: limits.threads: expected a whole number, got the text "many": write "threads: 16"`}},
		{"fraction for count", "limits: {threads: 1.5}", []string{"p.yaml:1: limits.threads: expected a whole number, got the number 1.5"}},
		{"quoted count", `limits: {threads: "4"}`, []string{"p.yaml:1: limits.threads: expected a whole number"}},
		{"huge count", "limits: {threads: 99999999999999999999}", []string{"p.yaml:1: limits.threads: expected a whole number"}},
		{"negative count", "limits: {threads: -1}", []string{"p.yaml:1: limits.threads: -1 is negative"}},
		{"tag", "python: !!python/object /bin/python3", []string{"p.yaml:1: python: unknown tag !!python/object: remove it"}},
		{"own tag", "read: [!env HOME]", []string{"p.yaml:1: read: unknown tag !env: remove it"}},
		{"binary", "read: [!!binary aGVsbG8=]", []string{"p.yaml:1: read: unknown tag !!binary: remove it"}},
		{"two documents", "trust: user\n---\ntrust: platform\n", []string{"p.yaml:2: a second document begins here"}},
		{"broken second", "trust: user\n---\n[\n", []string{"p.yaml:"}},
		{"tab", "limits:\n\tmemory: 64MiB\n", []string{"p.yaml:2: is indented with a tab: use spaces"}},
		{"unclosed", "trust: user\nread: [/a\n", []string{"p.yaml:2: is not valid YAML, here or shortly after: "}},
		{"unclosed later", "trust: user\nlimits:\n  memory: 64MiB\nread: [/a\npython: /b\n", []string{"p.yaml:4: is not valid YAML"}},
		{"unclosed first", "read: [/a\n", []string{"p.yaml:1: is not valid YAML"}},
		{"unclosed map", "trust: user\nlimits: {memory: 1MiB\n", []string{"p.yaml:2: is not valid YAML"}},
		{"indent", "trust: user\nlimits:\n  memory: 64MiB\n threads: 4\n", []string{"p.yaml:4: is not valid YAML"}},
		{"directive", "%YAML 9.9\n---\ntrust: user\n", []string{"p.yaml:1: is not valid YAML"}},
		{"at sign", "trust: user\npython: @home\n", []string{"p.yaml:2: is not valid YAML"}},
		{"first line", "trust: \"user\n", []string{"p.yaml:1: is not valid YAML, here or shortly after: "}},
		{"colon", "trust: user\nread: a: b\n", []string{"p.yaml:2: is not valid YAML, here or shortly after: "}},
		{"no anchor", "trust: user\nmaxima: *l\n", []string{"p.yaml:2: unknown alias *l: no &l precedes it"}},
		{"own alias", "trust: user\nlimits: &l\n  memory: *l\n", []string{"p.yaml:3: limits.memory: expected text, got keys and values"}},
		{"UTF-8", "trust: user\npython: /\xff\n", []string{"p.yaml:2: byte 0xff is not valid UTF-8: save the file as UTF-8"}},
		{"UTF-16", "\xff\xfet\x00", []string{"p.yaml:1: byte 0xff is not valid UTF-8"}},
		{"NUL", "trust: user\n\x00", []string{"p.yaml:2: has the control character 0x00"}},
		{"no truth", "allow_interpreters: yes", []string{`p.yaml:1: allow_interpreters: expected true or false, got the text "yes": write "allow_interpreters: true"`}},
		{"no truth at all", "dangerous_workspace: [true]", []string{`p.yaml:1: dangerous_workspace: expected true or false, got a list: write "dangerous_workspace: false"`}},
		{"preset", "preset: lax", []string{`p.yaml:1: preset: preset "lax" does not exist: the presets are default, strict, data, command`}},
		{"trust", "trust: god", []string{`p.yaml:1: trust: trust "god" does not exist`}},
		{"wall", "walls:\n  require:\n    - userns\n    - moat\n", []string{`p.yaml:4: walls.require: "moat" is not a wall: `}},
		{"both", "walls:\n  require: [pid]\n  prefer: [pid]\n", []string{`p.yaml:3: walls.prefer: "pid" is both required and preferred`}},
		{"path", "read:\n  - /ok\n  - data\n", []string{`p.yaml:3: read: "data" is not an absolute path`}},
		{"above", "trust: user\nlimits:\n  wall_time: 2m\n", []string{"p.yaml:3: limits.wall_time: the default of 2m is above the maximum of 1m"}},
		{"above, preset", "preset: strict\nlimits:\n  wall_time: 10s\n", []string{"p.yaml:3: limits.wall_time: the default of 10s is above the maximum of 5s"}},
		{"floor by maximum", "trust: user\nmaxima:\n  open_files: 2\n", []string{"p.yaml:3: limits.open_files: 2 is too few"}},
		{"one cause, one problem", "limits: {memory: 2GiB}\nmaxima: {memory: [1]}\n", []string{"p.yaml:2: maxima.memory: expected text, got a list"}},
		{"all at once", "trust: god\nlimits:\n  memory: 256\n  ram: 5\nread: [a, /b, /proc]\nfoo: 1\n", []string{
			"p.yaml:1: trust: ", "p.yaml:3: limits.memory: ", "p.yaml:4: limits.ram: ", "p.yaml:5: read: ", "p.yaml:5: read: ", "p.yaml:6: foo: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("p.yaml", []byte(tt.in))
			if err == nil {
				t.Fatal("accepted")
			}
			if !errors.Is(err, run.ErrInvalid) {
				t.Errorf("class %s", run.ClassOf(err))
			}
			lines := strings.Split(err.Error(), "\n")
			if len(lines) != len(tt.want) {
				t.Fatalf("%d problems instead of %d:\n%v", len(lines), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(lines[i], want) {
					t.Errorf("got  %s\nwant %s", lines[i], want)
				}
			}
		})
	}
}

// Files that are small and mean to be large, or deep.
func TestParseBombs(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'z'; c++ {
		prev := string(c - 1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+prev+",", 8) + "*" + prev + "]\n"
	}
	for name, text := range map[string]string{
		"aliases": bomb + "read: *z\n",
		"deep":    "read: " + strings.Repeat("[", 100_000),
		"wide":    "read: [" + strings.Repeat("a,", 100_000) + "a]",
		"large":   strings.Repeat("#", MaxSize+1),
		"long":    "limits: {memory: " + strings.Repeat("9", 500_000) + "}",
	} {
		start := time.Now()
		_, err := Parse("p.yaml", []byte(text))
		if err == nil || time.Since(start) > 20*time.Second {
			t.Errorf("%s: error %v after %v", name, err, time.Since(start))
		} else if len(err.Error()) > 20_000 {
			t.Errorf("%s: %d bytes of words", name, len(err.Error()))
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.yaml")
	if err := os.WriteFile(file, []byte(full), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := Load(file); err != nil || p.Name != file {
		t.Errorf("%+v, %v", p, err)
	}
	for _, tt := range []struct{ path, words string }{
		{dir, "is a directory: name a policy file in it"},
		{filepath.Join(dir, "none.yaml"), "none.yaml does not exist: name a YAML file"},
		{filepath.Join(file, "below"), "cannot be opened"},
		{"", "does not exist"},
		{"/dev/zero", "/dev/zero: is larger than 1048576 bytes"},
	} {
		_, err := Load(tt.path)
		if err == nil || !strings.Contains(err.Error(), tt.words) || !errors.Is(err, run.ErrInvalid) {
			t.Errorf("Load(%q): %v; want %q", tt.path, err, tt.words)
		}
	}
	if _, err := Load(filepath.Join(dir, "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the cause is lost")
	}
}

func TestFormat(t *testing.T) {
	got, err := Format(policy.Policy{Read: []string{"/data"}, Prefer: []policy.Wall{policy.WallCgroup}})
	want := `v: 1
trust: user
preload: [collections, collections.abc, datetime, functools, itertools, json, math, random, re]
limits:
  wall_time: 30s
  cpu_time: 10s
  memory: 256MiB
  output: 64KiB
  result: 8MiB
  scratch: 16MiB
  open_files: 64
  threads: 16
  cpus: 1
  processes: 64
  disk: 64MiB
  files: 50000
  fuel: 1T
maxima:
  wall_time: 1m
  cpu_time: 1m
  memory: 1GiB
  output: 256KiB
  result: 32MiB
  scratch: 64MiB
  open_files: 64
  threads: 16
  cpus: 4
  processes: 256
  disk: 1GiB
  files: 500000
  fuel: 1000T
walls:
  require: [no_new_privs, capabilities, uid, filesystem, network, seccomp, rlimit, environment]
  prefer: [cgroup]
read:
  - /data
egress: strict
jail: auto
`
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := Format(policy.Policy{Trust: "god"}); !errors.Is(err, run.ErrInvalid) {
		t.Errorf("error %v", err)
	}
}

func TestFormatRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string { return "/" + rapid.String().Draw(t, "path") }), 0, 3)
		walls := rapid.SliceOfNDistinct(rapid.SampledFrom(policy.Walls()), 0, 4, func(w policy.Wall) policy.Wall { return w })
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"json", "os.path", "null", "true", "on", "_x", "e1"}), 0, 3)
		p := policy.Policy{
			Name: "p.yaml", Trust: rapid.SampledFrom(policy.Trusts()).Draw(t, "trust"),
			Limits:  policy.Limits{Memory: policy.Bytes(rapid.Int64Range(1<<20, 1<<28).Draw(t, "memory"))},
			Maxima:  policy.Limits{WallTime: time.Duration(rapid.Int64Range(1, 1<<50).Draw(t, "wall"))},
			Require: walls.Draw(t, "require"), Prefer: walls.Draw(t, "prefer"),
			Read: paths.Draw(t, "read"), Preload: names.Draw(t, "preload"),
		}
		if p.Validate() != nil {
			p.Prefer, p.Read = nil, nil // most often it is these
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		text, err := Format(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(p.Name, text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(p.Resolved(), got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s\n%s", diff, text)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{full, "limits: {memory: 256}", "a: &a [*a]", "- !!binary x", "? {a: b}\n: c", "\t", "%YAML 1.1\n---\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("p.yaml", data)
		if err != nil {
			if !errors.Is(err, run.ErrInvalid) || !strings.HasPrefix(err.Error(), "p.yaml:") {
				t.Errorf("class %s: %v", run.ClassOf(err), err)
			}
			return
		}
		text, err := Format(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("p.yaml", text)
		if diff := cmp.Diff(p.Resolved(), again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v\n%s\n%s", err, diff, text)
		}
	})
}
