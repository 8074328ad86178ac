package seatbelt

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/golden"
)

const (
	framework = "/Library/Frameworks/Python.framework/Versions/3.12"
	python    = framework + "/bin/python3.12"
	app       = framework + "/Resources/Python.app/Contents/MacOS/Python"
	scratch   = "/private/var/directories/ab/cd/T/cordon-1"
	home      = "/Users/ada"
)

// try is an access and the expected decision: "+" or "-", the operation, and its object.
type try string

// policies are those that cordon uses. Each has a golden file of the same name.
var policies = []struct {
	name   string
	policy Policy
	tries  []try
}{
	{"nothing", Policy{Program: "/usr/bin/true"}, []try{
		"+ process-exec /usr/bin/true", "- process-exec /bin/sh", "- process-fork", "+ file-read-data /usr/lib/dyld",
		"+ file-read-data /", "- file-read-data /Users", "- file-read-metadata " + home, "- file-write-create /private/tmp/x",
		"- file-read-data /private/etc/passwd", "- network-outbound localhost:80", "- mach-lookup com.apple.SecurityServer", "- iokit-open x",
	}},
	{"script", Policy{Program: python, Execute: []string{app}, Read: []string{framework}, Write: []string{scratch}}, []try{
		"+ file-read-data " + framework + "/lib/python3.12/os.py", "+ file-map-executable " + framework + "/lib/python3.12/lib-dynload/math.so",
		"- file-write-data " + framework + "/lib/python3.12/os.py", "- file-read-data /Library/Frameworks/Python.framework/Versions/3.11/Python",
		"+ process-exec " + python, "+ process-exec " + app, "- process-exec /bin/ls", "- process-exec " + scratch + "/x", "- process-fork",
		"+ file-write-create " + scratch + "/a", "+ file-read-data " + scratch + "/a", "- file-map-executable " + scratch + "/evil.so",
		"+ file-read-metadata /private/var/directories/ab", "- file-read-data /private/var/directories/ab", "- file-read-metadata /private/var/directories/zz",
		"- file-write-create " + scratch + "2/a", "- file-read-data " + home + "/.ssh/id_ed25519", "- file-read-metadata " + home,
		"+ file-read-data /dev/urandom", "+ file-write-data /dev/null", "- file-write-data /dev/disk0", "- file-read-data /dev/tty",
		"+ sysctl-read hw.ncpu", "+ sysctl-read hw.optional.arm64", "- sysctl-read kern.proc.all", "- sysctl-write hw.ncpu",
		"+ signal self", "- signal same-sandbox", "- signal others", "- process-info-pidinfo others",
		"- network-outbound localhost:53", "- network-outbound /private/var/run/mDNSResponder", "- network-bind x", "- network-inbound x", "- system-socket x",
		"- mach-lookup com.apple.system.opendirectoryd.libinfo", "- ipc-posix-sem x", "- ipc-posix-shm-write-create x", "- job-creation x", "- appleevent-send x",
	}},
	{"script-that-reads", Policy{Program: python, Read: []string{framework, home + "/data"}, Write: []string{scratch}}, []try{
		"+ file-read-data " + home + "/data/a.csv", "+ file-read-data " + home + "/data", "- file-write-data " + home + "/data/a.csv",
		"+ file-read-metadata " + home, "- file-read-data " + home, "- file-read-data " + home + "/data2", "- file-read-data " + home + "/.zshrc",
	}},
	{"script-with-proxy", Policy{Program: python, Read: []string{framework}, Write: []string{scratch}, Proxy: 50123}, []try{
		"+ network-outbound localhost:50123", "- network-outbound localhost:50124", "- network-outbound *:50123", "- network-outbound 10.0.0.1:443",
		"- network-outbound /private/var/run/mDNSResponder", "- network-outbound /private/var/run/docker.sock", "- network-bind localhost:50123", "- network-inbound localhost:50123", "- mach-lookup com.apple.dnssd.service",
	}},
	{"homebrew", Policy{
		Program: "/opt/homebrew/Cellar/python@3.13/3.13.1/Frameworks/Python.framework/Versions/3.13/bin/python3.13",
		Read:    []string{"/opt/homebrew/Cellar/python@3.13/3.13.1/Frameworks/Python.framework/Versions/3.13"}, Write: []string{scratch},
	}, []try{
		"+ file-map-executable /opt/homebrew/Cellar/openssl@3/3.4.0/lib/libssl.3.dylib", "- file-read-data /opt/homebrew/var/postgres/base/1",
		"- file-read-data /opt/homebrew/etc/my.cnf", "- process-exec /opt/homebrew/bin/git",
	}},
	{"pyenv", Policy{
		Program: home + "/.pyenv/versions/3.12.4/bin/python3.12", Read: []string{home + "/.pyenv/versions/3.12.4"}, Write: []string{scratch},
	}, []try{
		"+ file-read-data " + home + "/.pyenv/versions/3.12.4/lib/python3.12/os.py", "- file-read-data " + home + "/.pyenv/version", "- file-read-data " + home + "/Documents/x",
	}},
	{"command", Policy{Program: "/bin/ls", Write: []string{scratch}, Programs: true}, []try{
		"+ process-exec /bin/ls", "+ process-exec /usr/bin/git", "+ process-exec-interpreter /bin/sh", "- process-exec-interpreter " + home + "/sh", "+ process-fork", "+ process-exec " + scratch + "/built", "- process-exec " + home + "/bin/x",
		"+ file-read-data /private/var/select/sh", "- file-read-data /private/etc/passwd", "- file-read-data /private/etc/master.passwd",
		"+ signal same-sandbox", "- signal others", "- network-outbound localhost:80", "+ mach-lookup com.apple.system.opendirectoryd.libinfo",
		"- mach-lookup com.apple.SecurityServer", "- mach-lookup com.apple.pasteboard.1", "- file-write-create /usr/local/bin/x", "- file-write-data /bin/ls",
	}},
	{"command-in-workspace", Policy{Program: "/usr/bin/make", Write: []string{scratch, home + "/project"}, Programs: true}, []try{
		"+ file-write-create " + home + "/project/a.o", "+ process-exec " + home + "/project/a.out", "+ file-map-executable " + home + "/project/lib.dylib",
		"- file-write-create " + home + "/project2/a", "- file-read-data " + home + "/.gitconfig", "- file-write-create " + home + "/x",
	}},
	{"command-that-reads", Policy{Program: "/bin/cat", Read: []string{home + "/project"}, Write: []string{scratch}, Programs: true}, []try{
		"+ file-read-data " + home + "/project/a", "- file-write-data " + home + "/project/a", "- file-write-unlink " + home + "/project/a",
	}},
	{"inner-ones-decide", Policy{
		Program: "/bin/cat", Read: []string{home + "/w/keep", home + "/r"}, Write: []string{scratch, home + "/w", home + "/w/keep/but", home + "/r/out"}, Programs: true,
	}, []try{
		"+ file-write-data " + home + "/w/a", "- file-write-data " + home + "/w/keep/a", "+ file-read-data " + home + "/w/keep/a",
		"+ file-write-data " + home + "/w/keep/but/a", "- file-write-data " + home + "/r/a", "+ file-write-data " + home + "/r/out/a",
	}},
	{"command-with-network", Policy{Program: "/usr/bin/curl", Write: []string{scratch}, Programs: true, AnyNetwork: true}, []try{
		"+ network-outbound 10.0.0.1:443", "+ network-bind x", "+ mach-lookup com.apple.dnssd.service", "- mach-lookup com.apple.SecurityServer",
		"+ file-read-data /private/etc/resolv.conf", "- file-read-data " + home + "/.netrc",
	}},
	{"quotes", Policy{
		Program: "/bin/cat", Read: []string{`/Users/ada/it's "quoted"`, `/Users/ada/back\slash\`, `/Users/ada/a) (allow default`, "/Users/ada/né ☃;x"}, Programs: true,
	}, []try{
		`+ file-read-data /Users/ada/it's "quoted"/x`, `- file-write-data /Users/ada/it's "quoted"/x`, `+ file-read-data /Users/ada/back\slash\/x`,
		`+ file-read-data /Users/ada/a) (allow default/x`, "+ file-read-data /Users/ada/né ☃;x", "- file-read-data /Users/ada/other", "- network-outbound x", "- file-write-data /x",
	}},
	{"quotes-in-script", Policy{Program: `/opt/a")(allow default)(deny x "/bin/python3`, Read: []string{`/opt/a")(allow default)(deny x "`}, Write: []string{scratch}}, []try{
		`+ process-exec /opt/a")(allow default)(deny x "/bin/python3`, "- process-exec /bin/sh", "- network-outbound x", "- file-read-data /Users/ada",
	}},
}

func (s try) access() (a access, want bool) {
	verdict, rest, _ := strings.Cut(string(s), " ")
	a.operation, rest, _ = strings.Cut(rest, " ")
	a.path, a.name = rest, rest
	return a, verdict == "+"
}

func TestProfiles(t *testing.T) {
	for _, tt := range policies {
		t.Run(tt.name, func(t *testing.T) {
			text, err := Compile(tt.policy)
			if err != nil {
				t.Fatal(err)
			}
			golden.Check(t, filepath.Join("testdata", tt.name+".sb"), text)
			p, err := readProfile(text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			for _, try := range tt.tries {
				if a, want := try.access(); p.decide(a) != want {
					t.Errorf("%s: it is not so", try)
				}
			}
		})
	}
}

// Accesses that no profile may allow.
func TestNever(t *testing.T) {
	for _, tt := range policies {
		text, err := Compile(tt.policy)
		if err != nil {
			t.Fatal(err)
		}
		p, err := readProfile(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, try := range []try{
			"- file-read-data /Users/ada/.ssh/id_ed25519", "- file-read-data /Users/ada/Library/Keychains/login.keychain-db", "- file-read-data /Users",
			"- file-read-data /private/etc/master.passwd", "- file-read-data /Volumes/Backup/x", "- file-read-data /private/var/root/x",
			"- file-write-data /private/etc/hosts", "- file-write-create /Library/LaunchDaemons/x.plist", "- file-write-create /Users/ada/Library/LaunchAgents/x.plist",
			"- file-write-data /usr/lib/dyld", "- file-write-data /opt/homebrew/lib/x.dylib", "- file-write-data /dev/disk0", "- file-read-data /dev/disk0",
			"- mach-lookup com.apple.SecurityServer", "- mach-lookup com.apple.launchd", "- mach-lookup com.apple.windowserver.active", "- mach-lookup com.apple.pasteboard.1",
			"- mach-register x", "- mach-priv-task-port x", "- process-info-pidinfo others", "- signal others", "- sysctl-write kern.hostname", "- sysctl-read kern.proc.all",
			"- iokit-open x", "- system-privilege x", "- job-creation x", "- appleevent-send x", "- lsopen x", "- nvram-get x", "- file-link x",
		} {
			if a, _ := try.access(); p.decide(a) {
				t.Errorf("%s: %s: it is not so", tt.name, try)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	const fine = "/bin/ls"
	for _, tt := range []struct {
		name   string
		policy Policy
		words  string
	}{
		{"no program", Policy{}, "program is missing"},
		{"relative", Policy{Program: "ls"}, "not absolute"},
		{"not clean", Policy{Program: fine, Read: []string{"/a/../b"}}, "not absolute and clean"},
		{"NUL", Policy{Program: fine, Read: []string{"/a\x00b"}}, "control character"},
		{"newline", Policy{Program: fine, Read: []string{"/a\n(allow default)"}}, "control character"},
		{"escape", Policy{Program: fine, Write: []string{"/a\x1b"}}, "control character"},
		{"C1", Policy{Program: fine, Write: []string{"/a\u0085b"}}, "control character"},
		{"not UTF-8", Policy{Program: fine, Write: []string{"/a\xff"}}, "UTF-8"},
		{"everything", Policy{Program: fine, Read: []string{"/"}}, "everything"},
		{"a link", Policy{Program: fine, Write: []string{"/tmp/x"}}, "/private/tmp/x"},
		{"another", Policy{Program: fine, Write: []string{"/var"}}, "/private/var"},
		{"executed", Policy{Program: fine, Execute: []string{"x"}}, "not absolute"},
		{"port", Policy{Program: fine, Proxy: 65536}, "not a port"},
	} {
		text, err := Compile(tt.policy)
		if err == nil || !strings.Contains(err.Error(), tt.words) || text != "" {
			t.Errorf("%s: %v, %q", tt.name, err, text)
		}
	}
}

// With any path, the profile has the same structure as with a plain one, and contains the path
// unchanged.
func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"/a", `/a"b`, `/a\`, `/a\"`, "/a) (allow default) (", "/a;b", "/a\nb", "/a\x00", "/\xff", "/ü", "/a#|b|#", "/tmp/a", `/a\x22`, "//", "/.", "/a'b`c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		text, err := Compile(Policy{Program: "/bin/ls", Read: []string{name}, Write: []string{"/private/w"}})
		if err != nil {
			return
		}
		p, err := readProfile(text)
		if err != nil {
			t.Fatalf("%q: %v in\n%s", name, err, text)
		}
		if !p.decide(access{operation: "file-read-data", path: name + "/x"}) {
			t.Errorf("%q cannot be read", name)
		}
		if under(name, "/private/w") || under("/private/w", name) {
			return
		}
		for _, a := range []access{
			{"file-write-data", name + "/x", ""}, {"process-fork", "", ""}, {"network-outbound", "", "x"}, {"mach-lookup", "", "x"},
			{"process-exec", name, ""}, {"file-read-data", "/never/granted\x01", ""},
		} {
			if p.decide(a) && name != "/bin/ls" {
				t.Errorf("%q allows %v", name, a)
			}
		}
		plain, err := Compile(Policy{Program: "/bin/ls", Read: []string{strings.Repeat("/x", strings.Count(name, "/"))}, Write: []string{"/private/w"}})
		if err == nil && strings.Count(text, "\n(") != strings.Count(plain, "\n(") {
			t.Errorf("%q makes other rules:\n%s", name, text)
		}
	})
}
