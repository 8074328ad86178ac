package mcpserver

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	maxText = maxStream         // bytes of all text files in an answer
	maxBlob = maxImages / 4 * 3 // bytes of all other files, which are maxImages in base64
	// minPiece is the least that can be read of a file: each character fits.
	minPiece = utf8.UTFMax
)

// fileImages are the images that models can read.
var fileImages = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// unknownType is the type of data about which nothing is known.
const unknownType = "application/octet-stream"

// piece is a part of a file, or all of it.
type piece struct {
	run.FileInfo
	start int64
	data  []byte
}

func (p piece) end() int64 { return p.start + int64(len(p.data)) }

func (p piece) whole() bool { return p.start == 0 && p.end() == int64(p.Size) }

// String describes the piece, for the remark after it.
func (p piece) String() string {
	name := text.Line(p.Name)
	switch {
	case p.whole():
		return fmt.Sprintf("%s is complete: %d bytes, %s.", name, p.Size, p.Type)
	case p.end() < int64(p.Size):
		return fmt.Sprintf("Bytes %d to %d of %s, which has %d. Go on with offset %d.", p.start, p.end(), name, p.Size, p.end())
	}
	return fmt.Sprintf("Bytes %d to %d of %s, which ends there.", p.start, p.end(), name)
}

// text returns the piece as text, at most so many bytes of it. It may begin within a character,
// and does not end within one. It is not ok if the data is not text.
func (p piece) text(most int) (words string, ok bool) {
	words = string(p.data[:min(len(p.data), most)])
	begin := 0
	for p.start > 0 && begin < min(len(words), utf8.UTFMax-1) && text.FirstInvalid(words[begin:]) == 0 {
		begin++
	}
	valid := begin + text.FirstInvalid(words[begin:])
	cut := p.start+int64(len(words)) < int64(p.Size)
	if valid < len(words) && (!cut || len(words)-valid >= utf8.UTFMax) || strings.ContainsRune(words[:valid], 0) {
		return "", false
	}
	return words[:valid], true
}

// budget is what an answer still holds of the data of files.
type budget struct{ text, encoded int }

func newBudget() *budget { return &budget{text: maxText, encoded: maxImages} }

// content returns a file as a part of an answer: an image, or a resource. It returns nil if the
// answer does not hold it.
func (b *budget) content(uri string, p piece) mcp.Content {
	size := base64.StdEncoding.EncodedLen(len(p.data))
	if kind := http.DetectContentType(p.data); p.whole() && slices.Contains(fileImages, kind) && size <= b.encoded {
		b.encoded -= size
		return &mcp.ImageContent{Data: p.data, MIMEType: kind}
	}
	if resource := b.resource(uri, p); resource != nil {
		return &mcp.EmbeddedResource{Resource: resource}
	}
	return nil
}

// resource returns a file as a resource, or nil if the answer does not hold it.
func (b *budget) resource(uri string, p piece) *mcp.ResourceContents {
	// The SDK leaves out an empty text, without which a resource is none.
	if words, ok := p.text(b.text); ok && len(words) == len(p.data) && words != "" {
		b.text -= len(words)
		return &mcp.ResourceContents{URI: uri, MIMEType: p.kind(true), Text: words}
	}
	size := base64.StdEncoding.EncodedLen(len(p.data))
	if size > b.encoded {
		return nil
	}
	b.encoded -= size
	r := &mcp.ResourceContents{URI: uri, MIMEType: p.kind(false), Blob: p.data}
	if r.Blob == nil {
		r.Blob = []byte{} // nil would be left out, too
	}
	return r
}

// kind returns the MIME type of the data. It is that of the name, unless a program could then
// give a model what is no image or document: some refuse a conversation with that.
func (p piece) kind(isText bool) string {
	checked := strings.HasPrefix(p.Type, "image/") || p.Type == "application/pdf"
	switch {
	case isText && (p.Type == unknownType || checked && p.Type != "image/svg+xml"):
		return "text/plain"
	case !isText && checked && (!p.whole() || http.DetectContentType(p.data) != p.Type):
		return unknownType
	}
	return p.Type
}
