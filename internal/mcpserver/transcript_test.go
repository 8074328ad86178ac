package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cordon-sandbox/cordon/internal/golden"
	"github.com/cordon-sandbox/cordon/internal/mcpserver"
)

var modified = regexp.MustCompile(`"modified": "[^"]*"`)

// TestTranscripts pins the messages of the protocol: each file has the lines of a client and
// the answers of the server.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) != 2 || archive.Files[0].Name != "client" || archive.Files[1].Name != "server" {
				t.Fatal("a transcript has two parts, client and server")
			}
			got := converse(t, fakeServer(t, nil), string(archive.Files[0].Data))
			got = modified.ReplaceAllString(got, `"modified": "2026-01-02T03:04:05Z"`)
			archive.Files[1].Data = []byte(got)
			golden.Check(t, file, string(txtar.Format(archive)))
		})
	}
}

// converse sends lines to a server over stdio and waits for the answer to each call before
// it sends the next line. It returns the answers, indented.
func converse(t *testing.T, s *mcpserver.Server, lines string) string {
	t.Helper()
	c := startStdio(t, s)
	var answers bytes.Buffer
	for line := range strings.Lines(lines) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		var message struct{ ID any }
		if err := json.Unmarshal([]byte(line), &message); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		c.send(t, line)
		if message.ID == nil {
			continue
		}
		if err := json.Indent(&answers, c.receive(t), "", "  "); err != nil {
			t.Fatal(err)
		}
	}
	return answers.String()
}

// stdioClient is a minimal client that sends and receives lines.
type stdioClient struct {
	in    *io.PipeWriter
	out   *bufio.Reader
	ended chan error
}

func startStdio(t *testing.T, s *mcpserver.Server) *stdioClient {
	t.Helper()
	return startStdioIn(t.Context(), t, s)
}

func startStdioIn(ctx context.Context, t *testing.T, s *mcpserver.Server) *stdioClient {
	t.Helper()
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	c := &stdioClient{in: in, out: bufio.NewReader(out), ended: make(chan error, 1)}
	go func() {
		err := s.ServeStdio(ctx, serverIn, serverOut)
		serverOut.Close()
		c.ended <- err
		close(c.ended)
	}()
	t.Cleanup(func() {
		in.Close()
		go func() { _, _ = io.Copy(io.Discard, out) }()
		if err := <-c.ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return c
}

func (c *stdioClient) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.in, strings.TrimSpace(line)+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (c *stdioClient) receive(t *testing.T) []byte {
	t.Helper()
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	return line
}
