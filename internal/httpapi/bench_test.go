package httpapi

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// BenchmarkRun measures the frontend itself: the guest takes no time.
func BenchmarkRun(b *testing.B) {
	d := open(b, &fake{run: echo}, nil)
	conn, err := net.Dial("tcp", d.at)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for b.Loop() {
		if _, err := io.WriteString(conn, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 18\r\n\r\n{\"script\": \"pass\"}"); err != nil {
			b.Fatal(err)
		}
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
			b.Fatal(response.Status, err)
		}
		response.Body.Close()
	}
}
