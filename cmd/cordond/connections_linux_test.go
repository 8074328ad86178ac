package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Connections above --connections are refused with a message, and counted.
func TestServeConnections(t *testing.T) {
	r := start(t, "--connections", "3")
	r.client.CloseIdleConnections()
	alive := func(conn net.Conn) int {
		t.Helper()
		if _, err := fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		return response.StatusCode
	}
	var open []net.Conn
	for i := range 4 {
		conn, err := net.Dial("unix", r.socket)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
		if i == 3 { // an answer before the request is a fault to many clients
			err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
			if n, _ := conn.Read(make([]byte, 1)); n > 0 || err != nil {
				t.Errorf("words came before the request (%v)", err)
			}
			if err := conn.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
		}
		if status, want := alive(conn), []int{200, 200, 200, 429}[i]; status != want {
			t.Errorf("connection %d: %d; want %d", i, status, want)
		}
	}
	for _, conn := range open {
		conn.Close()
	}
	var metrics string
	for status := 0; status != 200; { // until they are gone
		status, metrics = r.ask("GET", "/metrics", "")
	}
	if strings.Contains(metrics, `cordon_requests_refused_total{class="busy",frontend="http"} 0`) {
		t.Errorf("it is not counted: %s", metrics)
	}
	r.logged("--connections")
}
