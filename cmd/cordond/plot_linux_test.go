package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

const plotFile = "../../docs/plot.png"

// isPlot reports whether an example draws the README's plot.
func isPlot(e example) bool {
	return e.file == "README.md" && e.language == "python" && strings.Contains(e.text, "plt.plot")
}

// TestPlot runs the README's code for agents in a session. Its plot is the picture below it.
// `make picture` draws it anew.
func TestPlot(t *testing.T) {
	python := filepath.Join(hosttest.NeedsExtra(t, hosttest.PythonClient), "bin", "python")
	r := start(t, "--python", python)
	var opened struct{ Session string }
	if status, answer := r.ask("POST", "/v1/sessions", `{}`); status != 201 || json.Unmarshal([]byte(answer), &opened) != nil {
		t.Fatalf("%d %s", status, answer)
	}
	for _, e := range examples(t) {
		if isPlot(e) {
			comparePlot(t, r.plot(opened.Session, e.text))
			return
		}
	}
	t.Error("README.md plots nothing")
}

// plot returns the one picture that a step displays.
func (r *runningService) plot(session, script string) []byte {
	r.t.Helper()
	step, err := json.Marshal(map[string]string{"script": script})
	if err != nil {
		r.t.Fatal(err)
	}
	_, answer := r.ask("POST", "/v1/sessions/"+session+"/steps", string(step))
	var result struct {
		Step struct {
			Display []struct{ Forms map[string]string }
		}
	}
	if err := json.Unmarshal([]byte(answer), &result); err != nil || len(result.Step.Display) != 1 {
		r.t.Fatalf("%v %.1000s", err, answer)
	}
	data, err := base64.StdEncoding.DecodeString(result.Step.Display[0].Forms["image/png"])
	if err != nil {
		r.t.Fatal(err)
	}
	return data
}

// comparePlot allows for other versions of matplotlib and its fonts, which draw a few points in
// another way.
func comparePlot(t *testing.T, drawn []byte) {
	t.Helper()
	if *updatePicture {
		if err := os.WriteFile(plotFile, drawn, 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(plotFile)
	if err != nil {
		t.Fatal(err)
	}
	if share := differentPoints(t, kept, drawn); share > 0.005 {
		t.Errorf("%.1f %% of the points of %s are not those that README.md draws: run make picture", 100*share, plotFile)
	}
}

// differentPoints returns the share of points at which two pictures clearly differ: all of them if
// the sizes do.
func differentPoints(t *testing.T, a, b []byte) float64 {
	t.Helper()
	x, y := decodePNG(t, a), decodePNG(t, b)
	if x.Bounds() != y.Bounds() {
		return 1
	}
	different, area := 0, x.Bounds()
	for row := area.Min.Y; row < area.Max.Y; row++ {
		for column := area.Min.X; column < area.Max.X; column++ {
			if brightness(x, column, row)-brightness(y, column, row) > 0x4000 || brightness(y, column, row)-brightness(x, column, row) > 0x4000 {
				different++
			}
		}
	}
	return float64(different) / float64(area.Dx()*area.Dy())
}

func brightness(of image.Image, x, y int) int {
	red, green, blue, _ := of.At(x, y).RGBA()
	return int(red+green+blue) / 3
}

func decodePNG(t *testing.T, data []byte) image.Image {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return picture
}
