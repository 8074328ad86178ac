package jsonform

import (
	"fmt"
	"io"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cordon-sandbox/cordon/run"
)

// File is the JSON form of a run.File: its content is in one of the other fields.
type File struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	Data []byte `json:"base64,omitempty"`
	Path string `json:"path,omitempty"`
}

// check moves a text into Data.
func (f *File) check(path string, given []string) error {
	contents := 0
	for _, field := range []string{"text", "base64", "path"} {
		if slices.Contains(given, field) {
			contents++
		}
	}
	if contents != 1 {
		return fieldError(path, "needs one of text, base64 and path, and has %d of them", contents)
	}
	if slices.Contains(given, "text") {
		f.Data, f.Text = []byte(f.Text), ""
	}
	return nil
}

// Run returns the run.File.
func (f File) Run() run.File { return run.File{Name: f.Name, Data: f.Data, Path: f.Path} }

func filesOf(list []File) (files []run.File) {
	for _, f := range list {
		files = append(files, f.Run())
	}
	return files
}

// readFiles fills a list from the next JSON array.
func readFiles(d *jsontext.Decoder, path string, into *[]File) error {
	if begun, err := begin(d, '[', path, "a list of files"); !begun {
		return err
	}
	for d.PeekKind() != ']' {
		var f File
		if err := readObject(d, fmt.Sprintf("%s[%d].", path, len(*into)), reflect.ValueOf(&f).Elem()); err != nil {
			return err
		}
		*into = append(*into, f)
	}
	_, err := d.ReadToken()
	return err
}

// EncodeFile writes the same JSON as Document, with a file and its content in the key "file", and
// a line break. It makes no copy of the content.
func EncodeFile(w io.Writer, answer any, file run.FileInfo, content []byte) error {
	e := encoder{to: w}
	e.text(fmt.Sprintf(`{"v":%d,`, run.Version))
	e.fields(answer)
	e.text(`,"file":`)
	e.withData(file, content)
	e.text("}\n")
	return e.err
}
