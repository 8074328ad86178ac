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

// place is where the service listens.
type place struct {
	net.Listener
	// open says who else than the user of the service can come in there, in words;
	// empty means nobody.
	open string
}

// inherited gives the socket that systemd has opened for us, if it has.
func inherited() (net.Listener, error) {
	files := activation.Files(true)
	switch len(files) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, run.Errorf(run.Invalid, "%d sockets were handed over (LISTEN_FDS): one is what the service listens on", len(files))
	}
	defer files[0].Close()
	l, err := net.FileListener(files[0])
	if err != nil {
		return nil, run.Errorf(run.Invalid, "the socket that was handed over (LISTEN_FDS) is none to listen on: %w", err)
	}
	return l, nil
}

// openPlace gives the inherited socket if there is one, or listens at an address. Where
// others than the user of the service can come in, it refuses unless they are asked for
// tokens: before the address is open.
func openPlace(ctx context.Context, address string, tokens bool) (place, error) {
	l, err := inherited()
	if err != nil {
		return place{}, err
	}
	if l != nil {
		p := place{l, openness(l.Addr())}
		if p.open != "" && !tokens {
			l.Close()
			return place{}, errNeedsTokens("the socket that was handed over (LISTEN_FDS)", p.open)
		}
		return p, nil
	}
	if path, isPath := strings.CutPrefix(address, "unix:"); isPath {
		l, err := listenUnix(ctx, path)
		return place{Listener: l}, err
	}
	tcp, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return place{}, run.Errorf(run.Invalid, "--listen %s: %w (write HOST:PORT, like 127.0.0.1:8734, or unix:PATH)", address, err)
	}
	open := openness(tcp)
	if open != "" && !tokens {
		return place{}, errNeedsTokens("--listen "+address, open)
	}
	// The address that was looked at: a name could mean another one the next time.
	l, err = net.ListenTCP("tcp", tcp)
	if err != nil {
		return place{}, run.Errorf(run.Invalid, "--listen %s: %w", address, err)
	}
	return place{l, open}, nil
}

func errNeedsTokens(what, who string) error {
	return run.Errorf(run.Invalid, "%s: %s could run code here without tokens: say who may with --tokens FILE "+
		"(cordon token new NAME makes one), or listen on 127.0.0.1:8734 or unix:PATH", what, who)
}

// openness says who else can come in at an address; empty means nobody.
func openness(a net.Addr) string {
	switch a := a.(type) {
	case *net.TCPAddr:
		if !a.IP.IsLoopback() {
			return "whoever reaches this machine"
		}
	case *net.UnixAddr:
		if a.Name == "" || a.Name[0] == '@' || a.Name[0] == 0 {
			return "everybody on this machine (a socket without a file has no mode)"
		}
		info, err := os.Stat(a.Name)
		if err != nil {
			return "nobody knows who (" + err.Error() + ")"
		}
		// A group was chosen by whoever set the mode; systemd's own choice is 0666.
		if info.Mode().Perm()&0o002 != 0 {
			return "everybody on this machine (the socket's mode is " + info.Mode().Perm().String() + ": set SocketMode=0600)"
		}
	default:
		return "nobody knows who"
	}
	return ""
}

// listenUnix opens a socket for the user of the service alone. One that a dead service
// has left is replaced; nothing else is.
func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	fail := func(format string, args ...any) (net.Listener, error) {
		return nil, run.Errorf(run.Invalid, "--listen unix:"+path+": "+format, args...)
	}
	switch {
	case path == "":
		return fail("the path is empty: write unix:/run/cordon.sock")
	case path[0] == '@':
		return fail("a socket without a file has no mode, and everybody on this machine could use it: write a path")
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fail("%w", err)
	case info.Mode().Type() != fs.ModeSocket:
		return fail("there is something that is no socket")
	default:
		var dialer net.Dialer
		if c, err := dialer.DialContext(ctx, "unix", path); err == nil {
			c.Close()
			return fail("somebody listens there already")
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
