package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A service that hangs does not feed the watchdog, so that systemd restarts it.
func TestHangingServiceStopsWatchdog(t *testing.T) {
	at := &net.UnixAddr{Net: "unixgram", Name: filepath.Join(short(t), "n")}
	heard, err := net.ListenUnixgram("unixgram", at)
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	t.Setenv("NOTIFY_SOCKET", at.Name)
	t.Setenv("WATCHDOG_USEC", "20000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	hangs := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { watch(ctx, slog.New(slog.DiscardHandler), func() { <-hangs }) })
	defer watching.Wait()
	defer cancel()

	sign := make([]byte, 100)
	if err := heard.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := heard.Read(sign); err == nil {
		t.Errorf("it hangs, and says %q", sign[:n])
	}
	close(hangs)
	if err := heard.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if n, err := heard.Read(sign); err != nil || string(sign[:n]) != "WATCHDOG=1" {
		t.Errorf("%q, %v", sign[:n], err)
	}
}

// A run belongs to the trace that its caller names.
func TestServeTraces(t *testing.T) {
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	id, err := hex.DecodeString(trace)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var sent bytes.Buffer
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = io.Copy(&sent, r.Body)
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	r := start(t)
	if status, answer := r.ask("POST", "/v1/runs", `{"script": "pass"}`, "Traceparent: 00-"+trace+"-00f067aa0ba902b7-01"); status != http.StatusOK {
		t.Fatalf("%d %s", status, answer)
	}
	r.signal(syscall.SIGTERM)
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	mu.Lock()
	defer mu.Unlock()
	if !bytes.Contains(sent.Bytes(), id) {
		t.Errorf("the collector got %d bytes, without the trace", sent.Len())
	}
}
