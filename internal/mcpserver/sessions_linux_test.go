package mcpserver_test

import (
	"bytes"
	"encoding/base64"
	"image/png"
	"strings"
	"testing"
)

// drawing makes a real image without a library.
const drawing = `
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
class Drawing:
    def _repr_png_(self):
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"\0" + b"\xff\0\0" * 2)) + chunk(b"IEND", b""))
    def __repr__(self): return "a drawing"
Drawing()`

// TestRealSessions runs steps in a real interpreter.
func TestRealSessions(t *testing.T) {
	s := realServer(t)
	client := startStdio(t, s)
	c := client.steps(t)
	c.want(t, "main", "import math\nx = 41\ndef f(n):\n    return n + math.floor(1.5)", "It ran to its end and printed nothing.")
	c.want(t, "main", "print('printed')\nf(x)", "printed\n42")
	c.want(t, "other", "x", "NameError", "The session goes on with its state.")
	c.want(t, "main", "x = 43\n1/0", "ZeroDivisionError", "The session goes on with its state.")
	c.want(t, "main", "x", "43")
	startStdio(t, s).steps(t).want(t, "main", "x", "NameError")

	result := client.ask(t, stepLine(3, "main", drawing)).Result
	content, _ := result["content"].([]any)
	if len(content) != 2 || content[0].(map[string]any)["text"] != "a drawing" {
		t.Fatalf("the content is %v", content)
	}
	data, err := base64.StdEncoding.DecodeString(content[1].(map[string]any)["data"].(string))
	if err != nil {
		t.Fatal(err)
	}
	if image, err := png.Decode(bytes.NewReader(data)); err != nil || image.Bounds().Dx() != 2 {
		t.Errorf("%v", err)
	}

	slow := strings.Replace(stepLine(4, "main", "x = 44\nwhile True: pass"), `"arguments":{`, `"arguments":{"timeout":0.3,`, 1)
	if got := wordsOf(t, map[string]any{"result": client.ask(t, slow).Result}); !strings.Contains(got, "It reached a limit") || !strings.Contains(got, "The session goes on with its state.") {
		t.Error(got)
	}
	c.want(t, "main", "x", "44")
	more := strings.Replace(stepLine(5, "main", "x"), `"arguments":{`, `"arguments":{"memory":512,`, 1)
	if got := wordsOf(t, map[string]any{"result": client.ask(t, more).Result}); !strings.Contains(got, "memory: the session was opened with 256MiB, and keeps it: open another session") {
		t.Error(got)
	}
	c.want(t, "main", "import os\nos._exit(3)", "The session has ended, and its state is lost: step 8 ended it: ", "The next call with this name opens a new session.")
	c.want(t, "main", "x", "NameError", "This is a new session: the one before ended because step 8 ended it: ")
	c.want(t, "main", "1", "1")

	client.in.Close()
	if err := <-client.ended; err != nil {
		t.Error(err)
	}
	if n := s.Service.OpenSessions(); n > 1 { // the other client has one
		t.Errorf("%d sessions are open", n)
	}
}
