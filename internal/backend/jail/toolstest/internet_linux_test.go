package toolstest

import (
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// A private internet: a network namespace whose loopback answers for addresses that look
// public, for private ones, and for a cloud's metadata service, with a name server and web
// servers on them. cordon runs in it as on any host, and nothing leaves it.
//
//	the test          starts itself again in new network and mount namespaces, and in a
//	                  new user namespace unless it is root
//	the maker         sets the routes of the loopback, and resolv.conf in /etc
//	the inhabitant    runs the test, as an ordinary user again if it was one
//
// The addresses are routed, not assigned (a "local" route): cordon's proxy refuses the
// addresses of interfaces, and these addresses represent other hosts.
const (
	stageVariable = "CORDON_TEST_INTERNET"
	idsVariable   = "CORDON_TEST_INTERNET_IDS" // the user of the inhabitant, unless it is root
)

// inInternet reports whether this process is an inhabitant. Otherwise it starts one, and
// reports its output.
func inInternet(t *testing.T) bool {
	t.Helper()
	switch os.Getenv(stageVariable) {
	case "inhabitant":
		return true
	case "maker":
		makeInternet(t)
		attr := &syscall.SysProcAttr{}
		if ids := os.Getenv(idsVariable); ids != "" {
			var uid, gid int
			if _, err := fmt.Sscan(ids, &uid, &gid); err != nil {
				t.Fatal(err)
			}
			attr.Cloneflags = syscall.CLONE_NEWUSER
			attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: 0, Size: 1}}
			attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: 0, Size: 1}}
		}
		runAgain(t, "inhabitant", attr)
		return false
	}
	hosttest.Needs(t, "ip", "mount")
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	var ids []string
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
		ids = append(ids, fmt.Sprintf("%s=%d %d", idsVariable, uid, gid))
	}
	runAgain(t, "maker", attr, ids...)
	return false
}

// runAgain runs the same test of the same binary, with the same selection of subtests.
func runAgain(t *testing.T, stage string, attr *syscall.SysProcAttr, env ...string) {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	pattern := "^" + name + "$"
	if chosen := flag.Lookup("test.run"); chosen != nil {
		if _, rest, cut := strings.Cut(chosen.Value.String(), "/"); cut {
			pattern += "/" + rest
		}
	}
	args := []string{"-test.run=" + pattern, "-test.v", "-test.timeout=4m"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), append(env, stageVariable+"="+stage, "TMPDIR="+os.TempDir())...)
	cmd.SysProcAttr = attr
	out, err := cmd.CombinedOutput()
	text := strings.TrimSpace(string(out))
	switch {
	case err != nil:
		t.Errorf("%s: %v\n%s", stage, err, hosttest.Failures(text))
	case strings.Contains(text, "--- SKIP: "+name+" "):
		t.Skipf("%s", text)
	case !strings.Contains(text, "--- PASS: "+name+" "):
		t.Errorf("%s ran no test:\n%s", stage, text)
	default:
		t.Log("\n" + text)
	}
}

// makeInternet runs as root of the namespaces.
func makeInternet(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"/etc/hosts":         "127.0.0.1 localhost\n::1 localhost\n",
		"/etc/resolv.conf":   "nameserver 127.0.0.1\noptions timeout:2 attempts:1\nsearch evil.test.example\n",
		"/etc/nsswitch.conf": "hosts: files dns\n",
	}
	commands := [][]string{
		{"mount", "--make-rprivate", "/"},
		{"ip", "link", "set", "lo", "up"},
		{"ip", "route", "add", "local", publicNet, "dev", "lo"},
		{"ip", "addr", "add", ownAddress + "/32", "dev", "lo"},
		{"ip", "-6", "route", "add", "local", publicNet6, "dev", "lo"},
		{"ip", "-6", "addr", "add", "fd00::1/128", "dev", "lo"},
	}
	for _, network := range []string{"10.0.0.0/8", "169.254.0.0/16", "192.168.1.0/24", "172.16.0.0/12", "100.64.0.0/10"} {
		commands = append(commands, []string{"ip", "route", "add", "local", network, "dev", "lo"})
	}
	for path, text := range files {
		ours := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(ours, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			continue // a mount needs an existing file
		}
		commands = append(commands, []string{"mount", "--bind", ours, path})
	}
	for _, command := range commands {
		path := hosttest.FindProgram(command[0])
		if out, err := exec.Command(path, command[1:]...).CombinedOutput(); err != nil {
			hosttest.Lacks(t, "%q: %v: %s", command, err, out)
		}
	}
	// An ordinary user must be able to listen on 80 and 443.
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_unprivileged_port_start", []byte("0"), 0); err != nil {
		t.Fatal(err)
	}
}

const (
	publicNet  = "93.184.216.0/24"
	publicNet6 = "2606:2800:220:1::/64"
	// ownAddress is a public address of an interface: it leads to the host itself.
	ownAddress = "93.184.217.1"
)

// names are those that the name server knows. Every other name leads to the evil server, which
// must never be reached.
var names = map[string][]string{
	"allowed.test.example":                {"93.184.216.34", "2606:2800:220:1::34"},
	"six.test.example":                    {"2606:2800:220:1::34"},
	"a.cdn.test.example":                  {"93.184.216.35"},
	"xn--bcher-kva.test.example":          {"93.184.216.34"},
	"other.test.example":                  {"93.184.216.77"},
	"granted.test.example":                {"10.0.0.7"},
	"private.inside.test.example":         {"10.0.0.5"},
	"home.inside.test.example":            {"192.168.1.1"},
	"shared.inside.test.example":          {"100.64.0.1"},
	"metadata.inside.test.example":        {"169.254.169.254"},
	"link.inside.test.example":            {"169.254.1.1"},
	"loop.inside.test.example":            {"127.0.0.1"},
	"loop6.inside.test.example":           {"::1"},
	"zero.inside.test.example":            {"0.0.0.0"},
	"unique.inside.test.example":          {"fd00::1"},
	"mapped.inside.test.example":          {"::ffff:10.0.0.5"},
	"own.inside.test.example":             {ownAddress},
	"mixed.inside.test.example":           {"10.0.0.5", "93.184.216.34"},
	"rebind-native.inside.test.example":   {"93.184.216.34"}, // and the second time 127.0.0.1
	"rebind-bwrap.inside.test.example":    {"93.184.216.34"},
	"rebind-landlock.inside.test.example": {"93.184.216.34"},
	"rebind-auto.inside.test.example":     {"93.184.216.34"}, // on gVisor
	"nat64.inside.test.example":           {"64:ff9b::a00:5"},
}

const evilAddress = "93.184.216.66"

// nameServer answers queries for names, and records them.
type nameServer struct {
	mu    sync.Mutex
	asked map[string]int
}

func (s *nameServer) serve(conn net.PacketConn) {
	buffer := make([]byte, 1500)
	for {
		n, from, err := conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		if reply, err := s.answer(buffer[:n]); err == nil {
			_, _ = conn.WriteTo(reply, from)
		}
	}
}

func (s *nameServer) answer(query []byte) ([]byte, error) {
	var parser dnsmessage.Parser
	header, err := parser.Start(query)
	if err != nil {
		return nil, err
	}
	question, err := parser.Question()
	if err != nil {
		return nil, err
	}
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: header.ID, Response: true, Authoritative: true, RecursionDesired: header.RecursionDesired, RecursionAvailable: true})
	if err := b.StartQuestions(); err != nil {
		return nil, err
	}
	if err := b.Question(question); err != nil {
		return nil, err
	}
	if err := b.StartAnswers(); err != nil {
		return nil, err
	}
	head := dnsmessage.ResourceHeader{Name: question.Name, Class: question.Class}
	for _, addr := range s.lookup(question) {
		if addr.Is4() && question.Type == dnsmessage.TypeA {
			err = b.AResource(head, dnsmessage.AResource{A: addr.As4()})
		} else if addr.Is6() && question.Type == dnsmessage.TypeAAAA {
			err = b.AAAAResource(head, dnsmessage.AAAAResource{AAAA: addr.As16()})
		}
		if err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

func (s *nameServer) lookup(q dnsmessage.Question) []netip.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimSuffix(strings.ToLower(q.Name.String()), ".")
	s.asked[name]++
	texts, known := names[name]
	if !known {
		texts = []string{evilAddress}
	}
	if strings.HasPrefix(name, "rebind-") && s.asked[name] > 2 { // after A and AAAA
		texts = []string{"127.0.0.1"}
	}
	var addrs []netip.Addr
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs
}

// strangers returns the names that must not be queried: a query can carry data out.
func (s *nameServer) strangers() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for name := range s.asked {
		if _, known := names[name]; !known {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}
