package main

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// onePixel is a PNG.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="

func TestPictureProtocol(t *testing.T) {
	for _, tt := range []struct {
		program, term, window string
		want                  pictureForm
	}{
		{"", "xterm-kitty", "1", kittyPictures},
		{"", "xterm-kitty", "", kittyPictures},
		{"", "xterm-256color", "1", kittyPictures},
		{"ghostty", "xterm-ghostty", "", kittyPictures},
		{"iTerm.app", "xterm-256color", "", itermPictures},
		{"WezTerm", "xterm-256color", "", itermPictures},
		{"vscode", "xterm-256color", "1", noPictures}, // started from kitty
		{"tmux", "tmux-256color", "1", noPictures},
		{"", "screen", "1", noPictures},
		{"", "xterm-256color", "", noPictures},
		{"Apple_Terminal", "xterm-256color", "", noPictures},
	} {
		variables := map[string]string{"TERM_PROGRAM": tt.program, "TERM": tt.term, "KITTY_WINDOW_ID": tt.window}
		getenv := func(name string) string { return variables[name] }
		if got := pictureProtocol(true, getenv); got != tt.want {
			t.Errorf("%v: %v; want %v", variables, got, tt.want)
		}
		if got := pictureProtocol(false, getenv); got != noPictures {
			t.Errorf("%v, and no terminal: %v", variables, got)
		}
	}
}

func TestPicturesAreSaved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var p pictures
	for range 2 {
		drawn, path, err := p.show(onePixel)
		if err != nil || drawn != "" {
			t.Fatalf("%q %v", drawn, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if size, err := png.DecodeConfig(bytes.NewReader(data)); err != nil || size.Width != 1 {
			t.Errorf("%+v %v", size, err)
		}
		for file, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): os.ModeDir | 0o700} {
			if info, err := os.Stat(file); err != nil || info.Mode() != mode {
				t.Errorf("%s: %v, %v", file, info.Mode(), err)
			}
		}
	}
	if p.saved != 2 {
		t.Errorf("%d are saved", p.saved)
	}
}

// What a guest gives as a picture is drawn only if it is one.
func TestPicturesOfGuests(t *testing.T) {
	large := pngOf(t, image.NewGray(image.Rect(0, 0, 5000, 5000)))
	for name, data := range map[string]string{
		"escape sequences": "\x1b]0;title\a", "nothing": "", "text": base64.StdEncoding.EncodeToString([]byte("\x1b[2J")),
		"half a picture":  base64.StdEncoding.EncodeToString([]byte(pngOf(t, image.NewGray(image.Rect(0, 0, 9, 9)))[:50])),
		"too many pixels": base64.StdEncoding.EncodeToString([]byte(large)),
	} {
		for _, form := range []pictureForm{noPictures, kittyPictures, itermPictures} {
			p := pictures{protocol: form}
			if drawn, path, err := p.show(data); err == nil || drawn != "" || path != "" || p.directory != "" {
				t.Errorf("%s: %q %q %v", name, drawn, path, err)
			}
		}
	}
}

func pngOf(t *testing.T, picture image.Image) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Both protocols carry the whole picture, in pieces that terminals take.
func TestPicturesAreDrawn(t *testing.T) {
	noise := image.NewGray(image.Rect(0, 0, 90, 90))
	if _, err := rand.NewChaCha8([32]byte{}).Read(noise.Pix); err != nil {
		t.Fatal(err)
	}
	picture := []byte(pngOf(t, noise))
	drawn := drawKitty(picture)
	var data strings.Builder
	pieces := strings.SplitAfter(strings.TrimSuffix(drawn, "\n"), "\x1b\\")
	for i, piece := range pieces[:len(pieces)-1] {
		keys, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSuffix(piece, "\x1b\\"), "\x1b_G"), ";")
		want := "m=1"
		if i == len(pieces)-2 {
			want = "m=0"
		}
		if i == 0 {
			want = "a=T,f=100,q=2," + want
		}
		if keys != want || len(rest) > kittyChunk {
			t.Errorf("piece %d: keys %q, %d bytes; want %q", i, keys, len(rest), want)
		}
		data.WriteString(rest)
	}
	if got, err := base64.StdEncoding.DecodeString(data.String()); err != nil || !bytes.Equal(got, picture) || len(pieces) < 3 {
		t.Errorf("%d pieces, %d bytes, %v", len(pieces), len(got), err)
	}
	if drawn := drawIterm(picture); drawn != "\x1b]1337;File=inline=1;size="+strconv.Itoa(len(picture))+":"+base64.StdEncoding.EncodeToString(picture)+"\a\n" {
		t.Errorf("%q", drawn)
	}
}
