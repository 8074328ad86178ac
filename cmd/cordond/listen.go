package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/cordon-sandbox/cordon/run"
)

// endpoint is where the service listens.
type endpoint struct {
	net.Listener
	// open says who can connect beside the user of the service; empty means nobody.
	open string
}

// inherited returns the socket that systemd opened for us, if any.
func inherited() (net.Listener, error) {
	files := activation.Files(true)
	switch len(files) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, run.Errorf(run.Invalid, "%d sockets were passed (LISTEN_FDS): the service listens on one", len(files))
	}
	defer files[0].Close()
	l, err := net.FileListener(files[0])
	if err != nil {
		return nil, run.Errorf(run.Invalid, "the passed socket (LISTEN_FDS) is not a listening socket: %w", err)
	}
	return l, nil
}

// openEndpoint returns the inherited socket if there is one, or listens at an address. If
// others than the user of the service can connect, it requires tokens, and refuses before
// the address is open.
func openEndpoint(ctx context.Context, address string, tokens bool) (endpoint, error) {
	l, err := inherited()
	if err != nil {
		return endpoint{}, err
	}
	if l != nil {
		p := endpoint{l, openness(l.Addr())}
		if p.open != "" && !tokens {
			l.Close()
			return endpoint{}, errNeedsTokens("the passed socket (LISTEN_FDS)", p.open)
		}
		return p, nil
	}
	if path, isPath := strings.CutPrefix(address, "unix:"); isPath {
		l, err := listenUnix(ctx, path)
		return endpoint{Listener: l}, err
	}
	tcp, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return endpoint{}, run.Errorf(run.Invalid, "--listen %s: %w (write HOST:PORT, like 127.0.0.1:8734, or unix:PATH)", address, err)
	}
	open := openness(tcp)
	if open != "" && !tokens {
		return endpoint{}, errNeedsTokens("--listen "+address, open)
	}
	// The address that was checked: a name could resolve to another one the next time.
	l, err = net.ListenTCP("tcp", tcp)
	if err != nil {
		return endpoint{}, run.Errorf(run.Invalid, "--listen %s: %w", address, err)
	}
	return endpoint{l, open}, nil
}

func errNeedsTokens(what, who string) error {
	return run.Errorf(run.Invalid, "%s: %s could run code here without tokens: name the callers with --tokens FILE "+
		"(cordon token new NAME creates one), or listen on 127.0.0.1:8734 or unix:PATH", what, who)
}

// openness says who else can connect to an address; empty means nobody.
func openness(a net.Addr) string {
	switch a := a.(type) {
	case *net.TCPAddr:
		if !a.IP.IsLoopback() {
			return "anyone who reaches this machine"
		}
	case *net.UnixAddr:
		if a.Name == "" || a.Name[0] == '@' || a.Name[0] == 0 {
			return "everyone on this machine (an abstract socket has no mode)"
		}
		info, err := os.Stat(a.Name)
		if err != nil {
			return "an unknown set of users (" + err.Error() + ")"
		}
		// An operator who sets a group mode chose the group. systemd's default is 0666.
		if info.Mode().Perm()&0o002 != 0 {
			return "everyone on this machine (the socket's mode is " + info.Mode().Perm().String() + ": set SocketMode=0600)"
		}
	default:
		return "an unknown set of users"
	}
	return ""
}

// listenUnix opens a socket for the user of the service only. It replaces the socket of a
// dead service, and nothing else.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	fail := func(format string, args ...any) (net.Listener, error) {
		return nil, run.Errorf(run.Invalid, "--listen unix:"+path+": "+format, args...)
	}
	switch {
	case path == "":
		return fail("the path is empty: write unix:/run/cordon.sock")
	case path[0] == '@':
		return fail("an abstract socket has no mode, and everyone on this machine could use it: write a path")
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fail("%w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fail("the file exists and is not a socket")
	default:
		var dialer net.Dialer
		if c, err := dialer.DialContext(ctx, "unix", path); err == nil {
			c.Close()
			return fail("another process is listening there")
		}
		if err := os.Remove(path); err != nil {
			return fail("%w", err)
		}
	}
	l, err := bindPrivately(path)
	if err != nil {
		return fail("%w", err)
	}
	return l, nil
}
