package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// plot shows a plot, and stores it in a file.
const plot = `
import matplotlib.pyplot as plt
rows = [int(line) for line in open("data.csv")]
plt.plot(rows)
plt.savefig("plot.png")
plt.show()`

// image is one that a client got.
type image struct{ Type, Data string }

// TestImagesInClients lets the official clients draw with matplotlib. Images arrive as images,
// in each way that there is to get them.
func TestImagesInClients(t *testing.T) {
	n := needsNode(t)
	python := filepath.Join(elsewhere(t, hosttest.NeedsExtra(t, hosttest.PythonClient)), "bin", "python")
	t.Setenv(pythonVariable, python)
	server := startHTTP(t, self(t))
	type target struct{ mode, transport, at string }
	typescript := func(which string) func(t *testing.T, to target) (string, string, int) {
		return func(t *testing.T, to target) (string, string, int) {
			return n.run(t, "testdata/images.mjs", which, to.mode, to.transport, to.at, plot)
		}
	}
	inPython := func(t *testing.T, to target) (string, string, int) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		return runForeign(t, exec.CommandContext(ctx, python, "testdata/images.py", to.mode, to.transport, to.at, plot))
	}
	stdio, http, sse := self(t), server.url("/mcp"), server.url("/sse")
	for i, row := range []struct {
		name string
		run  func(t *testing.T, to target) (stdout, stderr string, code int)
		to   target
	}{
		{"Python on stdio", inPython, target{"legacy", "stdio", stdio}},
		{"Python on stdio, newest", inPython, target{"auto", "stdio", stdio}},
		{"Python on streamable HTTP", inPython, target{"legacy", "http", http}},
		{"Python on streamable HTTP, newest", inPython, target{"auto", "http", http}},
		{"Python on server-sent events", inPython, target{"legacy", "sse", sse}},
		{"TypeScript sdk 1 on stdio", typescript("sdk"), target{"default", "stdio", stdio}},
		{"TypeScript sdk 1 on streamable HTTP", typescript("sdk"), target{"default", "http", http}},
		{"TypeScript client 2 on stdio, newest", typescript("client"), target{"auto", "stdio", stdio}},
		{"TypeScript client 2 on streamable HTTP, newest", typescript("client"), target{"auto", "http", http}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("CORDON_TEST_TOKEN", fmt.Sprint("client", i)) // each with its own sessions
			stdout, stderr, code := row.run(t, row.to)
			if code != 0 {
				t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
			}
			var saw struct {
				Step, File, Resource, Alone []image
				Artifacts, Files            []string
			}
			if err := json.Unmarshal([]byte(stdout), &saw); err != nil {
				t.Fatalf("%v in %s", err, stdout)
			}
			if !slices.Equal(saw.Artifacts, []string{"plot.png"}) || !slices.Equal(saw.Files, []string{"data.csv", "plot.png"}) {
				t.Errorf("artifacts %q, files %q", saw.Artifacts, saw.Files)
			}
			// A step shows the plot, too.
			for name, got := range map[string][]image{"step": saw.Step[min(1, len(saw.Step)):], "shown": saw.Step[:min(1, len(saw.Step))], "file": saw.File, "resource": saw.Resource, "alone": saw.Alone} {
				if len(got) != 1 {
					t.Errorf("%s: %d images", name, len(got))
					continue
				}
				checkPlot(t, name, got[0])
			}
		})
	}
}

// elsewhere returns a virtual environment, or a copy if it is below /work: guests have their
// files there.
func elsewhere(t *testing.T, venv string) string {
	t.Helper()
	if !strings.HasPrefix(venv, "/work/") {
		return venv
	}
	directory, err := os.MkdirTemp("/var/tmp", "cordon-venv-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			t.Error(err)
		}
	})
	if out, err := exec.Command("sh", "-c", `chmod 755 "$2" && cp -r --no-dereference "$1/." "$2"`, "sh", venv, directory).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return directory
}

// checkPlot checks that an image is a plot that has been drawn.
func checkPlot(t *testing.T, name string, got image) {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(got.Data)
	if err != nil || got.Type != "image/png" {
		t.Errorf("%s: %q, %v", name, got.Type, err)
		return
	}
	drawn, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	colors := map[color.Color]bool{}
	for x := range drawn.Bounds().Dx() {
		for y := range drawn.Bounds().Dy() {
			colors[drawn.At(x, y)] = true
		}
	}
	if size := drawn.Bounds().Size(); size.X < 200 || size.Y < 200 || len(colors) < 10 {
		t.Errorf("%s: %v with %d colors", name, size, len(colors))
	}
}
