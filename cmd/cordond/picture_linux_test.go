package main

import (
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var updatePicture = flag.Bool("update-picture", false, "write the pictures of README.md from real runs")

const pictureFile = "../../docs/picture.svg"

// scene is one command of the README's picture.
type scene struct {
	shown string // what the picture shows behind the prompt
	quick string // what the test runs instead: the full run takes a minute; empty: the same
}

// The lines of the full and the quick proof differ in the count, which
// TestDocumentsShowTheCount in internal/attack compares.
var scenes = []scene{
	{shown: `cordon run --context '{"prices": [19, 23]}' -v result -c 'result = sum(context["prices"])'`},
	{shown: `cordon run -c 'open("/etc/shadow")'`},
	{shown: `cordon doctor --prove | tail -n 5`, quick: `cordon doctor --prove --area signals | tail -n 5`},
}

// TestPicture keeps the README's picture true: each line comes out of a real run.
// `make picture` draws it anew.
func TestPicture(t *testing.T) {
	var lines []string
	for n, s := range scenes {
		command := s.quick
		if command == "" || *updatePicture {
			command = s.shown
		}
		out, _ := shell(t, t.TempDir(), command) // the second one fails, and the picture shows it
		if n > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, "$ "+s.shown)
		lines = append(lines, strings.Split(strings.TrimRight(out, "\n"), "\n")...)
	}
	if *updatePicture {
		if err := os.WriteFile(pictureFile, []byte(drawTerminal(lines)), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
	picture, err := os.ReadFile(pictureFile)
	if err != nil {
		t.Fatal(err)
	}
	drawn := strings.Split(string(picture), "\n")
	fresh := strings.Split(drawTerminal(lines), "\n")
	if len(drawn) != len(fresh) {
		t.Fatalf("%s has %d lines, a fresh one has %d: run make picture", pictureFile, len(drawn), len(fresh))
	}
	for n := range drawn {
		if drawn[n] != fresh[n] && !strings.Contains(fresh[n], "0 escaped, 0 broken") {
			t.Errorf("the picture shows\n%s\na run gives\n%s\nrun make picture", drawn[n], fresh[n])
		}
	}
}

const (
	pictureColumns = 104
	cellWidth      = 8
	cellHeight     = 19
	pictureMargin  = 16
)

// drawTerminal draws lines as an SVG image of a terminal.
func drawTerminal(lines []string) string {
	var rows []string
	y := pictureMargin + 34
	for _, line := range lines {
		color := colorOfLine(line)
		for _, part := range wrapLine(line, pictureColumns) {
			if part != "" {
				var text strings.Builder
				_ = xml.EscapeText(&text, []byte(part)) // a Builder takes everything
				rows = append(rows, fmt.Sprintf(`<text x="%d" y="%d" fill="%s" xml:space="preserve">%s</text>`, pictureMargin, y, color, &text))
			}
			y += cellHeight
		}
	}
	width, height := 2*pictureMargin+pictureColumns*cellWidth, y
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="13">
<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>
<circle cx="20" cy="16" r="5" fill="#f85149"/><circle cx="38" cy="16" r="5" fill="#d29922"/><circle cx="56" cy="16" r="5" fill="#3fb950"/>
%s
</svg>
`, width, height, width, height, strings.Join(rows, "\n"))
}

func colorOfLine(line string) string {
	switch {
	case strings.HasPrefix(line, "$ "):
		return "#f0f6fc"
	case strings.HasPrefix(line, "cordon: blocked"):
		return "#f2cc60"
	case strings.HasPrefix(line, "cordon: "):
		return "#ff7b72"
	case strings.HasPrefix(line, "held"), strings.Contains(line, " held, 0 escaped"), strings.HasPrefix(line, "result = "):
		return "#7ee787"
	}
	return "#8b949e"
}

// wrapLine cuts a line at words. What goes on is indented.
func wrapLine(line string, columns int) []string {
	var parts []string
	for len([]rune(line)) > columns {
		runes := []rune(line)
		cut := columns
		for cut > columns/2 && runes[cut] != ' ' {
			cut--
		}
		parts = append(parts, string(runes[:cut]))
		line = "        " + strings.TrimLeft(string(runes[cut:]), " ")
	}
	return append(parts, line)
}
