package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// egress measures how fast a command gets data through the proxy, next to the same client
// over the loopback without a sandbox.
func (b *bench) egress(ctx context.Context, t *table) (err error) {
	size := int64(1 << 30)
	if b.quick {
		size = 64 << 20
	}
	server, err := serveBytes(size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	address := server.Addr().String()
	chosen, err := policy.Preset("command")
	if err != nil {
		return err
	}
	chosen.Read, chosen.AllowNet = []string{self}, []string{address}
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: chosen, Tier: policy.TierJail})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()

	line := []string{self, "-fetch", address}
	var direct, proxied float64
	rounds := b.few(6, 1)
	for range rounds {
		out, err := exec.CommandContext(ctx, line[0], line[1:]...).Output()
		if err != nil {
			return fmt.Errorf("fetch without a sandbox: %w", err)
		}
		rate, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			return err
		}
		direct += rate / float64(rounds)
		result, err := runner.Run(ctx, run.Request{Command: run.Command{Args: line}})
		if err != nil {
			return err
		}
		if rate, err = strconv.ParseFloat(strings.TrimSpace(result.Stdout), 64); err != nil {
			return fmt.Errorf("fetch through the proxy: %s: %s %s", result.Outcome, result.Error, result.Stderr)
		}
		proxied += rate / float64(rounds)
	}
	t.add(row{
		position: rowProxy, Measure: fmt.Sprintf("a copy of %v through the proxy", policy.Bytes(size)), Value: fmt.Sprintf("%.0f MiB/s", proxied/(1<<20)),
		Number: proxied, Ratio: proxied / direct, Must: atLeast(0.7, "0.7 ×"), Note: "of a copy over the loopback",
	})
	t.add(row{
		position: rowCommandMore, Measure: "the same over the loopback, without a sandbox", Value: fmt.Sprintf("%.0f MiB/s", direct/(1<<20)), Number: direct,
	})
	return nil
}

// serveBytes sends this many bytes to each connection.
func serveBytes(size int64) (net.Listener, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				block := make([]byte, 256<<10)
				for left := size; left > 0; {
					n, err := c.Write(block[:min(left, int64(len(block)))])
					if err != nil {
						return
					}
					left -= int64(n)
				}
			}()
		}
	}()
	return listener, nil
}

// fetch is the client inside and outside: it returns the bytes per second.
func fetch(address string) error {
	proxy := strings.TrimPrefix(os.Getenv("HTTPS_PROXY"), "http://")
	target := address
	if proxy != "" {
		target = proxy
	}
	c, err := net.Dial("tcp", target)
	if err != nil {
		return err
	}
	defer c.Close()
	if proxy != "" {
		if err := connect(c, address); err != nil {
			return err
		}
	}
	begin := time.Now()
	n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, 256<<10))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "%f\n", float64(n)/time.Since(begin).Seconds())
	return err
}

// connect asks a proxy for a tunnel. It reads the answer byte by byte, so that it reads
// nothing of the tunnel itself.
func connect(c net.Conn, address string) error {
	if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", address); err != nil {
		return err
	}
	var head bytes.Buffer
	for !bytes.HasSuffix(head.Bytes(), []byte("\r\n\r\n")) {
		if _, err := io.CopyN(&head, c, 1); err != nil {
			return err
		}
	}
	status, err := bufio.NewReader(&head).ReadString('\n')
	if err != nil || !strings.Contains(status, " 200 ") {
		return fmt.Errorf("the proxy answered %q", strings.TrimSpace(status))
	}
	return nil
}
