package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/newfile"
	"github.com/cordon-sandbox/cordon/run"
)

// pictureForm is how a terminal draws pictures.
type pictureForm int

const (
	noPictures    pictureForm = iota
	kittyPictures             // https://sw.kovidgoyal.net/kitty/graphics-protocol/
	itermPictures             // https://iterm2.com/documentation-images.html
)

// pictureProtocol decides by the variables that terminals set. One that runs in another names
// itself in TERM_PROGRAM, and can have KITTY_WINDOW_ID from outside.
func pictureProtocol(terminal bool, getenv func(string) string) pictureForm {
	if !terminal {
		return noPictures
	}
	switch program := getenv("TERM_PROGRAM"); program {
	case "iTerm.app", "WezTerm", "mintty":
		return itermPictures
	case "ghostty", "kitty":
		return kittyPictures
	case "":
	default:
		return noPictures
	}
	switch name := getenv("TERM"); {
	case name == "xterm-kitty", name == "xterm-ghostty":
		return kittyPictures
	case strings.HasPrefix(name, "screen"), strings.HasPrefix(name, "tmux"):
		return noPictures
	}
	if getenv("KITTY_WINDOW_ID") != "" {
		return kittyPictures
	}
	return noPictures
}

// pictures shows pictures of guests. Each is decoded and encoded again: what reaches a
// terminal, or a program that opens the file, was written by Go's encoder.
type pictures struct {
	protocol  pictureForm
	directory string // made for the first that is saved
	saved     int
}

// maxPixels bounds the memory for a picture that is small while it is compressed.
const maxPixels = 16 << 20

// show returns the text that draws a picture, or the path of the file that has it.
func (p *pictures) show(data string) (drawn, path string, err error) {
	picture, err := encodeAgain(data)
	if err != nil {
		return "", "", err
	}
	switch p.protocol {
	case kittyPictures:
		return drawKitty(picture), "", nil
	case itermPictures:
		return drawIterm(picture), "", nil
	}
	path, err = p.save(picture)
	return "", path, err
}

func encodeAgain(data string) ([]byte, error) {
	given, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, errors.New("it is not valid base64")
	}
	size, err := png.DecodeConfig(bytes.NewReader(given))
	if err != nil {
		return nil, errors.New("it is not a valid PNG")
	}
	if size.Width > maxPixels || size.Height > maxPixels || size.Width*size.Height > maxPixels {
		return nil, fmt.Errorf("it has %d × %d pixels, and at most %d are shown: use display() with a smaller one", size.Width, size.Height, maxPixels)
	}
	picture, err := png.Decode(bytes.NewReader(given))
	if err != nil {
		return nil, errors.New("it is not a valid PNG")
	}
	var again bytes.Buffer
	err = png.Encode(&again, picture)
	return again.Bytes(), err
}

// save writes a picture into a file that only the user may read.
func (p *pictures) save(picture []byte) (string, error) {
	if p.directory == "" {
		directory, err := os.MkdirTemp("", "cordon-session-")
		if err != nil {
			return "", run.Errorf(run.Internal, "it cannot be saved: %w", err)
		}
		p.directory = directory
	}
	p.saved++
	path := filepath.Join(p.directory, fmt.Sprintf("%d.png", p.saved))
	if err := newfile.Write(path, picture, 0o600); err != nil {
		return "", run.Errorf(run.Internal, "it cannot be saved: %w", err)
	}
	return path, nil
}

// kittyChunk is the most base64 that one escape sequence has.
const kittyChunk = 4096

// drawKitty returns the escape sequences that draw a PNG. The terminal must not answer: its
// answer would be typed at the prompt.
func drawKitty(picture []byte) string {
	rest := base64.StdEncoding.EncodeToString(picture)
	var b strings.Builder
	keys := "a=T,f=100,q=2,"
	for len(rest) > kittyChunk {
		fmt.Fprintf(&b, "\x1b_G%sm=1;%s\x1b\\", keys, rest[:kittyChunk])
		rest, keys = rest[kittyChunk:], ""
	}
	fmt.Fprintf(&b, "\x1b_G%sm=0;%s\x1b\\\n", keys, rest)
	return b.String()
}

func drawIterm(picture []byte) string {
	return fmt.Sprintf("\x1b]1337;File=inline=1;size=%d:%s\a\n", len(picture), base64.StdEncoding.EncodeToString(picture))
}
