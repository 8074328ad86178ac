package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// short returns a directory with a short path: the kernel limits socket paths to 107
// bytes.
func short(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "cd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(directory) })
	return directory
}

func TestOpenness(t *testing.T) {
	directory := short(t)
	socket := func(mode os.FileMode) string {
		path := filepath.Join(directory, mode.String())
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tcp := func(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 8734} }
	file := func(name string) net.Addr { return &net.UnixAddr{Net: "unix", Name: name} }
	for _, tt := range []struct {
		name string
		at   net.Addr
		open bool
	}{
		{"loopback", tcp("127.0.0.1"), false},
		{"another address of loopback", tcp("127.8.7.34"), false},
		{"loopback of IPv6", tcp("::1"), false},
		{"loopback of IPv4 in IPv6", tcp("::ffff:127.0.0.1"), false},
		{"all addresses", tcp("0.0.0.0"), true},
		{"all addresses of IPv6", tcp("::"), true},
		{"no address, which means all", &net.TCPAddr{Port: 8734}, true},
		{"a private network", tcp("10.0.0.1"), true},
		{"a link", tcp("fe80::1"), true},
		{"a socket of one user", file(socket(0o600)), false},
		{"a socket of a group", file(socket(0o660)), false},
		{"a socket of everybody", file(socket(0o666)), true},
		{"a socket without a file", file("@cordon"), true},
		{"a socket without a name", file(""), true},
		{"a socket that is gone", file(filepath.Join(directory, "gone")), true},
		{"something else", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, true},
	} {
		if got := openness(tt.at); (got != "") != tt.open {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

func TestOpenEndpoint(t *testing.T) {
	p, err := openEndpoint(t.Context(), "localhost:0", false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.open != "" {
		t.Errorf("loopback is open to %s", p.open)
	}
	if _, err := openEndpoint(t.Context(), p.Addr().String(), false); run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a taken address: %v", err)
	}
	if _, err := openEndpoint(t.Context(), "0.0.0.0:0", false); run.ClassOf(err) != run.Invalid {
		t.Errorf("a public address without tokens: %v", err)
	}
	public, err := openEndpoint(t.Context(), "0.0.0.0:0", true)
	if err != nil {
		t.Fatal(err)
	}
	defer public.Close()
	if public.open == "" {
		t.Error("a public address is open to nobody")
	}
}

func TestListenUnix(t *testing.T) {
	path := filepath.Join(short(t), "s")
	first, err := listenUnix(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if _, err := listenUnix(t.Context(), path); err == nil || !strings.Contains(err.Error(), "another process is listening") {
		t.Errorf("a second one: %v", err)
	}
	first.(*net.UnixListener).SetUnlinkOnClose(false) // as if it had been killed
	first.Close()
	second, err := listenUnix(t.Context(), path)
	if err != nil {
		t.Fatalf("what a dead service has left: %v", err)
	}
	second.Close()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("the socket stays: %v", err)
	}
}

// A file that is not a socket is kept.
func TestListenUnixReplacesNothingElse(t *testing.T) {
	directory := short(t)
	file, link, empty := filepath.Join(directory, "f"), filepath.Join(directory, "l"), filepath.Join(directory, "d")
	if err := errors.Join(os.WriteFile(file, []byte("mine"), 0o600), os.Symlink(file, link), os.Mkdir(empty, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, empty} {
		if l, err := listenUnix(t.Context(), path); err == nil || !strings.Contains(err.Error(), "not a socket") {
			t.Errorf("%s: %v, %v", path, l, err)
		}
	}
	if text, err := os.ReadFile(link); err != nil || string(text) != "mine" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := os.Stat(empty); err != nil {
		t.Error(err)
	}
}
