package attack

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// arrivalTime is how long to wait until the effects of a guest's last line arrive here: a
// signal or a datagram is delivered at once, but our goroutine has to wake up.
const arrivalTime = 10 * time.Millisecond

// survivorTime is how long a process of a guest may take to disappear after
// its run was reported.
const survivorTime = 500 * time.Millisecond

// caughtSignals are those that attempts send. SIGCONT is among them because
// it is harmless to any other process that a broad kill would reach.
var caughtSignals = []os.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGIO, syscall.SIGCONT}

// The host sends lastSignal to itself when a guest has ended. The kernel and the Go runtime
// deliver the lowest number first, so every signal that a guest sent before has arrived
// when this one does, however busy the machine is.
const lastSignal = syscall.Signal(64) // SIGRTMAX

func (c *Canaries) awaitEffects() {
	_ = syscall.Kill(os.Getpid(), lastSignal)
	select {
	case <-c.lastSignal:
	case <-time.After(survivorTime): // this host may not signal itself
	}
	time.Sleep(arrivalTime)
}

func (c *Canaries) plantHost() error {
	if name, err := os.Hostname(); err == nil {
		c.context["hostname"] = name
	}
	if home, err := os.UserHomeDir(); err == nil {
		c.context["home"] = home
	}
	c.context["host_pgid"] = unix.Getpgrp()
	c.plantSignals()
	c.plantListeners()
	if err := c.plantDescriptor(); err != nil {
		return err
	}
	c.plantMemory()
	c.plantIPC()
	c.checks = append(c.checks, c.checkSharedMemoryDirectory, c.checkSurvivors, c.checkPriority())
	return nil
}

func (c *Canaries) plantSignals() {
	caught := make(chan os.Signal, 64)
	signal.Notify(caught, append(slices.Clone(caughtSignals), lastSignal)...)
	c.lastSignal = make(chan struct{}, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for s := range caught {
			if s != lastSignal {
				c.touch("the host process received %s", s)
				continue
			}
			select {
			case c.lastSignal <- struct{}{}:
			default:
			}
		}
	}()
	c.closes = append(c.closes, func() {
		signal.Stop(caught)
		close(caught)
		<-done
	})
}

// plantListeners opens one listener of each kind that this host has.
func (c *Canaries) plantListeners() {
	c.plantStream("tcp4_port", "tcp4", "127.0.0.1:0")
	c.plantStream("tcp6_port", "tcp6", "[::1]:0")
	c.plantStream("unix_path", "unix", filepath.Join(c.dir, "stream"))
	c.plantStream("abstract", "unix", "@"+c.mark+"-stream")
	c.plantPacket("udp4_port", "udp4", "127.0.0.1:0")
	c.plantPacket("udp6_port", "udp6", "[::1]:0")
	c.plantPacket("unixgram_path", "unixgram", filepath.Join(c.dir, "datagram"))
	c.plantPacket("abstractgram", "unixgram", "@"+c.mark+"-datagram")
}

// publish puts the address of a listener into the context: a port, a path, or an abstract
// name without its leading NUL.
func (c *Canaries) publish(key string, addr net.Addr) {
	if _, port, err := net.SplitHostPort(addr.String()); err == nil && !strings.HasPrefix(addr.Network(), "unix") {
		c.context[key], _ = strconv.Atoi(port)
		return
	}
	name := addr.String()
	if !strings.HasPrefix(name, "@") {
		// The umask must not act as a wall.
		_ = os.Chmod(name, 0o777)
	}
	c.context[key] = strings.TrimPrefix(name, "@")
}

func (c *Canaries) plantStream(key, network, address string) {
	// Enable TCP Fast Open if the host allows it: an attempt to connect with it must
	// not fail because the listener lacks it.
	config := net.ListenConfig{Control: func(network, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			if strings.HasPrefix(network, "tcp") {
				_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_FASTOPEN, 16)
			}
		})
	}}
	listener, err := config.Listen(context.Background(), network, address)
	if err != nil {
		return
	}
	secret := c.secret(key)
	c.publish(key, listener.Addr())
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			c.touch("the host's listener %s was reached", key)
			_, _ = conn.Write([]byte(secret + "\n"))
			conn.Close()
		}
	}()
	c.closes = append(c.closes, func() { listener.Close() })
}

func (c *Canaries) plantPacket(key, network, address string) {
	conn, err := net.ListenPacket(network, address)
	if err != nil {
		return
	}
	secret := c.secret(key)
	c.publish(key, conn.LocalAddr())
	go func() {
		buf := make([]byte, 512)
		for {
			_, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			c.touch("the host's socket %s was reached", key)
			if from != nil && from.String() != "" {
				_, _ = conn.WriteTo([]byte(secret), from)
			}
		}
	}()
	c.closes = append(c.closes, func() { _ = conn.Close() })
}

// plantDescriptor leaks a descriptor, as a careless embedder might: without O_CLOEXEC, so
// that every process started later inherits it.
func (c *Canaries) plantDescriptor() error {
	path := filepath.Join(c.dir, "leaked.txt")
	if err := os.WriteFile(path, []byte(c.secret("descriptor")), 0o600); err != nil {
		return err
	}
	fd, err := unix.Open(path, unix.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("cannot open %s: %w", path, err)
	}
	c.context["leaked_fd"] = fd
	c.closes = append(c.closes, func() { unix.Close(fd) })
	return nil
}

// checkSharedMemoryDirectory looks for a guest's file in the host's /dev/shm.
func (c *Canaries) checkSharedMemoryDirectory() []string {
	path := filepath.Join("/dev/shm", c.context["marker"].(string))
	if _, err := os.Lstat(path); err != nil {
		return nil
	}
	_ = os.Remove(path) // it counts as an escape even if this fails
	return []string{"the host's " + path + " was created"}
}

// checkSurvivors looks for processes that have the marker as their name or an argument
// and outlived their run.
func (c *Canaries) checkSurvivors() []string {
	marker := c.context["marker"].(string)
	deadline := time.Now().Add(survivorTime)
	for {
		pids := tagged(marker)
		if len(pids) == 0 {
			return nil
		}
		if time.Now().After(deadline) {
			for _, pid := range pids {
				_ = unix.Kill(pid, unix.SIGKILL)
			}
			return []string{fmt.Sprintf("process %v of the guest outlived its run", pids)}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func tagged(marker string) []int {
	names, _ := filepath.Glob("/proc/[0-9]*")
	var pids []int
	for _, dir := range names {
		comm, _ := os.ReadFile(filepath.Join(dir, "comm"))
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		if strings.Contains(string(comm), marker) || strings.Contains(string(line), marker) {
			if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// checkPriority returns a check whether this process's nice value has changed.
func (c *Canaries) checkPriority() func() []string {
	was, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return func() []string { return nil }
	}
	return func() []string {
		if is, err := unix.Getpriority(unix.PRIO_PROCESS, 0); err == nil && is != was {
			was = is
			return []string{"the host process was reniced"}
		}
		return nil
	}
}
