package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cordon-sandbox/cordon/run"
)

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

// pagePolicy allows the page its own style and nothing else.
var pagePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'sha256-" + digest(pageStyle) + "'"

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

// newPage renders the document as a page without scripts or external files.
func newPage(document *huma.OpenAPI) ([]byte, error) {
	page, err := template.New("page").Funcs(template.FuncMap{
		"type": typeWords, "name": schemaName, "status": http.StatusText,
	}).Parse(pageText)
	if err != nil {
		return nil, run.Wrap(run.Internal, err)
	}
	type property struct {
		Name     string
		Required bool
		Schema   *huma.Schema
	}
	type schema struct {
		Name       string
		Words      string
		Properties []property
	}
	var shown struct {
		Style      template.CSS
		Info       *huma.Info
		Operations []*huma.Operation
		Schemas    []schema
	}
	shown.Style = template.CSS(pageStyle) //nolint:gosec // our own file
	shown.Info = document.Info
	for _, e := range endpoints {
		item := document.Paths[e.documented()]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Delete} {
			if op != nil && op.OperationID == e.name {
				shown.Operations = append(shown.Operations, op)
			}
		}
	}
	schemas := document.Components.Schemas
	for _, name := range schemaNames(schemas) {
		s := schemas.Map()[name]
		one := schema{Name: name, Words: s.Description}
		for _, p := range slices.Sorted(maps.Keys(s.Properties)) {
			one.Properties = append(one.Properties, property{p, slices.Contains(s.Required, p), s.Properties[p]})
		}
		shown.Schemas = append(shown.Schemas, one)
	}
	var b bytes.Buffer
	if err := page.Execute(&b, shown); err != nil {
		return nil, run.Wrap(run.Internal, err)
	}
	return b.Bytes(), nil
}

// schemaName is the name of the schema that s refers to, empty for none.
func schemaName(s *huma.Schema) string {
	switch {
	case s.Ref != "":
		return strings.TrimPrefix(s.Ref, schemaPrefix)
	case len(s.AnyOf) > 0:
		return schemaName(s.AnyOf[0])
	case s.Items != nil:
		return schemaName(s.Items)
	}
	return ""
}

// typeWords describes the type of a value.
func typeWords(s *huma.Schema) string {
	kind := s.Type
	switch {
	case len(s.AnyOf) > 0:
		return "object or null"
	case s.Ref != "":
		return "object"
	case kind == huma.TypeArray && s.Items != nil:
		return "list of " + typeWords(s.Items)
	case kind == "":
		return "any"
	}
	if s.Nullable {
		kind += " or null"
	}
	return kind
}
