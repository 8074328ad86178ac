package mcpserver

import (
	"encoding/base64"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	maxDisplay = 256 << 10 // bytes of all texts that a step displayed
	maxImages  = 4 << 20   // bytes of all its images, in base64
)

// The forms of an object that a model can read, the best first. It gets one text and one image
// of each object.
var (
	textForms  = []string{"text/plain", "text/markdown", "text/html"}
	imageForms = []string{"image/png", "image/jpeg"}
)

// displayed returns the parts of an answer for what a step displayed, and the step with no
// more than their texts. Each note describes what is cut or left out.
func displayed(step *run.Step) (kept *run.Step, parts []mcp.Content, notes []string) {
	if step == nil {
		return nil, nil, nil
	}
	kept = &run.Step{Number: step.Number, Survived: step.Survived, Display: []run.Display{}, Omitted: step.Omitted}
	texts, images := 0, 0     // bytes
	tooLarge, invalid := 0, 0 // images
	for _, object := range step.Display {
		own := run.Display{Forms: map[string]string{}, Value: object.Value}
		if kind, words := formOf(object, textForms); kind != "" {
			words, texts = text.Cut(words, max(maxDisplay-texts, 0)), texts+len(words)
			own.Forms[kind] = words
			if words != "" {
				parts = append(parts, &mcp.TextContent{Text: words})
			}
		}
		if kind, encoded := formOf(object, imageForms); kind != "" {
			image, valid := decodedImage(kind, encoded)
			switch {
			case !valid:
				invalid++
			case images+len(encoded) > maxImages:
				tooLarge++
			default:
				images += len(encoded)
				parts = append(parts, image)
			}
		}
		kept.Display = append(kept.Display, own)
	}
	if texts > maxDisplay {
		notes = append(notes, note("what was displayed", texts, maxDisplay))
	}
	for _, left := range []struct {
		n   int
		why string
	}{
		{tooLarge, fmt.Sprintf("images above the %d bytes that an answer holds: make them smaller, or show fewer", maxImages)},
		{invalid, "images that are not what their type says"},
		{step.Omitted, "objects above the limits on what a step displays: show less"},
	} {
		if left.n > 0 {
			notes = append(notes, fmt.Sprintf("Left out (%d): %s.", left.n, left.why))
		}
	}
	return kept, parts, notes
}

// formOf returns the first of these forms that an object has.
func formOf(d run.Display, kinds []string) (kind, data string) {
	for _, kind := range kinds {
		if data := d.Forms[kind]; data != "" {
			return kind, data
		}
	}
	return "", ""
}

// decodedImage returns an image as a part of an answer. Data that only claims to be an image
// would make some models refuse the whole conversation.
func decodedImage(kind, encoded string) (*mcp.ImageContent, bool) {
	data, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || http.DetectContentType(data) != kind {
		return nil, false
	}
	return &mcp.ImageContent{Data: data, MIMEType: kind}, true
}
