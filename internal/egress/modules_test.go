package egress

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// modules starts a proxy for a guest with module rules. The returned function opens a
// connection and sends its first bytes.
func (w *world) modules(t *testing.T, allowed []string, rules map[string][]string) (m *Modules, dial func(first string) net.Conn) {
	t.Helper()
	p := policy.Policy{ModuleRules: map[string]policy.ModuleRule{}}
	for name, list := range rules {
		p.ModuleRules[name] = policy.ModuleRule{AllowNet: list}
	}
	m = NewModules(Options{Grants: grants(t, allowed...), Resolver: w, Dial: w.dial, Report: w.report}, func(module string) *Rule {
		name, rule := p.ModuleRuleFor(module)
		if name == "" {
			return nil
		}
		return &Rule{Name: name, Grants: grants(t, rule.AllowNet...)}
	})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m, func(first string) net.Conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { ours.Close() })
		m.ServeConn(theirs)
		if err := ours.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(ours, first); err != nil {
			t.Fatal(err)
		}
		return ours
	}
}

func marked(module string) string { return string([]byte{moduleMark, byte(len(module))}) + module }

const connectA, connectB = "CONNECT a.example:443 HTTP/1.1\r\n\r\n", "CONNECT b.example:443 HTTP/1.1\r\n\r\n"

func TestModulesApplyTheirRules(t *testing.T) {
	for _, test := range []struct {
		name, first string
		status      int
		violation   string // its wall, module and detail
	}{
		{"the script", marked("") + connectB, 200, ""},
		{"a module with a rule", marked("requests.api") + connectA, 200, ""},
		{"what its rule leaves out", marked("requests.api") + connectB, 403, "language requests.api b.example:443: not in module_rules.requests.allow_net"},
		{"a module of the rest", marked("pandas") + connectA, 403, "language pandas a.example:443: not in module_rules.*.allow_net"},
		{"what the policy leaves out", marked("requests") + "CONNECT c.example:443 HTTP/1.1\r\n\r\n", 403, "egress requests c.example:443: not in allow_net"},
		{"what the policy leaves out, of the script", marked("") + "CONNECT c.example:443 HTTP/1.1\r\n\r\n", 403, "egress  c.example:443: not in allow_net"},
		{"a client that nobody announced", connectA, 403, "language  a.example:443: not in module_rules.*.allow_net"},
		{"a name that would change the report", marked("x\ny") + connectA, 403, `language x\ny a.example:443: not in module_rules.*.allow_net`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			w.name("a.example", publicA)
			w.name("b.example", publicB)
			w.serve(t, publicA+":443", echo)
			w.serve(t, publicB+":443", echo)
			m, dial := w.modules(t, []string{"a.example", "b.example"}, map[string][]string{"requests": {"a.example"}, policy.AnyModule: {}})
			conn := dial(test.first)
			if status, body := readResponse(t, bufio.NewReader(conn), "CONNECT"); status != test.status {
				t.Errorf("%d %s", status, body)
			}
			conn.Close()
			if err := m.Close(); err != nil {
				t.Error(err)
			}
			var seen []string
			for _, v := range w.violations() {
				seen = append(seen, fmt.Sprintf("%s %s %s", v.Wall, v.Module, v.Detail))
				if v.Claimed != (v.Wall == policy.WallLanguage) {
					t.Errorf("%+v", v)
				}
			}
			if strings.Join(seen, "\n") != test.violation {
				t.Errorf("%q, want %q", seen, test.violation)
			}
			if dials := w.dials(); (len(dials) == 1) != (test.status == 200) {
				t.Errorf("dialed %q", dials)
			}
		})
	}
}

// SOCKS begins with another byte, which is not taken for a mark or lost.
func TestModulesServeSocks(t *testing.T) {
	w := newWorld(t)
	w.name("a.example", publicA)
	w.serve(t, publicA+":443", echo)
	m, dial := w.modules(t, []string{"a.example"}, map[string][]string{"requests": {}})
	conn := dial(marked("") + "\x05\x01\x00")
	method := make([]byte, 2)
	if _, err := io.ReadFull(conn, method); err != nil || method[0] != socks5 {
		t.Fatalf("%v, %v", method, err)
	}
	conn.Close()
	conn = dial("\x05\x01\x00") // unannounced, and there is no rule for it
	if _, err := io.ReadFull(conn, method); err != nil || method[0] != socks5 {
		t.Errorf("%v, %v", method, err)
	}
	conn.Close()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// Traffic is counted for each module, and the number of modules is bounded.
func TestModulesCountTraffic(t *testing.T) {
	w := newWorld(t)
	w.name("a.example", publicA)
	w.serve(t, publicA+":443", echo)
	m, dial := w.modules(t, []string{"a.example"}, map[string][]string{"requests": {"a.example"}})
	for i := range maxModules + 10 {
		conn := dial(marked(fmt.Sprintf("m%d", i)) + connectA)
		if status, body := readResponse(t, bufio.NewReader(conn), "CONNECT"); status != 200 {
			t.Fatalf("%d: %d %s", i, status, body)
		}
		back := make([]byte, 4)
		if _, err := io.WriteString(conn, "\x00abc"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, back); err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	traffic := m.Traffic()
	if len(traffic) != maxModules+1 || traffic[0].Module != "" || traffic[0].Connections != 10 || traffic[1].Module != "m0" || traffic[1].Connections != 1 {
		t.Errorf("%d entries: %+v", len(traffic), traffic[:2])
	}
}

// Close does not wait for a guest that sends no first byte, or half a name.
func TestModulesCloseUnnamedConnections(t *testing.T) {
	w := newWorld(t)
	m, dial := w.modules(t, []string{"a.example"}, nil)
	half := dial("\x01\x09req")
	ours, theirs := net.Pipe()
	defer ours.Close()
	m.ServeConn(theirs)
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	for _, conn := range []net.Conn{half, ours} {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("a connection is open after Close")
		}
	}
	ours, theirs = net.Pipe()
	defer ours.Close()
	m.ServeConn(theirs)
	if _, err := ours.Read(make([]byte, 1)); err == nil {
		t.Error("a connection is served after Close")
	}
	if left := m.Traffic(); !slices.Equal(left, nil) {
		t.Errorf("%+v", left)
	}
}
