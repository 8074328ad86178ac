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

// TestRealFiles moves files through a real /work.
func TestRealFiles(t *testing.T) {
	c := startStdio(t, realServer(t)).asking(t)
	c.want(t, "write_file", given{"session": "main", "name": "data/sales.csv", "text": "1\n2\n39\n"}, "", "Wrote data/sales.csv: 7 bytes.")
	c.want(t, "run_python", given{"session": "main", "code": "import os\nrows = open('data/sales.csv').read().split()\nn = open('/work/sum.txt', 'w').write(str(sum(map(int, rows))))"}, "", "printed nothing")
	c.want(t, "read_file", given{"session": "main", "name": "sum.txt"}, `text "42"`, "sum.txt is complete: 2 bytes, text/plain.")
	c.want(t, "list_files", given{"session": "main"}, `text "7 bytes, text/csv: data/sales.csv\n2 bytes, text/plain: sum.txt\n"`, "Files in /work: 2.")
	c.want(t, "run_python", given{"session": "main", "code": "import os; os.symlink('/etc/passwd', 'link')", "artifacts": []string{"sum.*", "link"}}, `cordon://session/main/files/sum.txt text/plain text "42"`,
		"Files: sum.txt (2 bytes, text/plain).\nFiles left out: link: it is a symbolic link: name the file itself.")
	functions, _, _ := strings.Cut(drawing, "class")
	image := functions + `
open("a.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 2, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress(b"\0" + b"\xff\0\0" * 2)) + chunk(b"IEND", b""))`
	got := c("run_python", given{"code": image, "artifacts": []string{"*.png"}})
	if list := artifactsOf(t, got); !strings.HasPrefix(got.parts(), "image/png ") || len(list) != 1 || list[0].Name != "a.png" || len(list[0].Hash) != 64 {
		t.Errorf("%s, %+v", got.parts(), list)
	}
	c.want(t, "run_python", given{"code": "import os; print(os.path.exists('/work'))"}, "", "False")
	// The files end with their session.
	c("run_python", given{"session": "main", "code": "import os; os._exit(3)"})
	c.want(t, "read_file", given{"session": "main", "name": "sum.txt"}, "", "there is no session main (the last one ended because step 3 ended it: ")
}
