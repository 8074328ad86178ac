package httpapi

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/cordon-sandbox/cordon/internal/golden"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Clients are generated from the document, so its changes must be reviewed.
func TestDocumentIsTheCommittedOne(t *testing.T) {
	text, err := encode(newDocument("test"))
	if err != nil {
		t.Fatal(err)
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/openapi.json", pretty.String())
}

// docs/http.md lists the endpoints of the table, and no others.
func TestDocsListEveryEndpoint(t *testing.T) {
	const file, start = "../../docs/http.md", "| | |\n| --- | --- |\n"
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), start)
	_, after, ends := strings.Cut(rest, "\n\n")
	if !found || !ends {
		t.Fatalf("%s has no table of endpoints", file)
	}
	var rows []string
	for _, e := range endpoints {
		rows = append(rows, "| `"+e.method+" "+e.documented()+"` | "+e.summary+" |")
	}
	golden.Check(t, file, before+start+strings.Join(rows, "\n")+"\n\n"+after)
}

func TestDocumentIsValid(t *testing.T) {
	spec := specification(t)
	if !spec.IsOpenAPI31OrLater() {
		t.Errorf("OpenAPI %s", spec.OpenAPI)
	}
	if err := spec.Validate(t.Context(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaPatternValidation()); err != nil {
		t.Error(err)
	}
}

func TestEverythingHasWords(t *testing.T) {
	used := map[string]bool{}
	for name, schema := range newDocument("test").Components.Schemas.Map() {
		used[name] = true
		if schema.Description == "" {
			t.Errorf("%s has no description", name)
		}
		for property, field := range schema.Properties {
			used[name+"."+property] = true
			if field.Description == "" {
				t.Errorf("%s.%s has no description", name, property)
			}
		}
	}
	for path := range words {
		if !used[path] {
			t.Errorf("there is a description of %s, which does not exist", path)
		}
	}
}

func TestWhatIsNotForStrangersIsNotInTheDocument(t *testing.T) {
	request := specification(t).Components.Schemas["Request"].Value
	for _, field := range []string{"module", "tools", "streams", "-"} {
		if request.Properties[field] != nil {
			t.Errorf("a request has %q", field)
		}
	}
	if got := request.Properties["limits"].Value.Properties["wall_time"].Value; !got.Type.Is("string") || got.Pattern == "" || len(got.Examples) == 0 {
		t.Errorf("wall_time is %+v", got)
	}
	if got := request.Properties["tier"].Value.Enum; len(got) != 5 {
		t.Errorf("tiers: %v", got)
	}
}

func TestDocumentsAreServed(t *testing.T) {
	d := open(t, &fake{}, nil)
	var spec map[string]any
	if a := d.ask(http.MethodGet, "/openapi.json", ""); a.status != http.StatusOK || json.Unmarshal(a.body, &spec) != nil || spec["openapi"] != "3.1.0" {
		t.Errorf("%d: %.100s", a.status, a.body)
	}
	page := d.ask(http.MethodGet, "/docs", "")
	text := string(page.body)
	for _, e := range endpoints {
		if !strings.Contains(text, "<code>"+e.documented()+"</code>") || !strings.Contains(text, e.summary) {
			t.Errorf("the page does not have %s", e.path)
		}
	}
	if strings.Contains(text, "://") || strings.Contains(text, "<script") {
		t.Error("the page needs a network or scripts")
	}
	if policy := page.header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, digest(pageStyle)) || !strings.Contains(text, pageStyle) {
		t.Errorf("the policy is %q", policy)
	}
	if !strings.Contains(text, `{&#34;$type&#34;`) {
		t.Error("descriptions are not escaped")
	}
}

// The schemas against which the tests validate answers must refuse wrong ones.
func TestTheDocumentIsStrict(t *testing.T) {
	problem := specification(t).Components.Schemas["Problem"].Value
	fine := map[string]any{"type": "urn:cordon:error:busy", "title": "t", "status": 429.0, "detail": "d", "class": "busy"}
	if err := problem.VisitJSON(fine, openapi3.EnableJSONSchema2020()); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]any{"class": "lazy", "status": "429", "more": 1, "title": nil} {
		wrong := maps.Clone(fine)
		wrong[name] = value
		if err := problem.VisitJSON(wrong, openapi3.EnableJSONSchema2020()); err == nil {
			t.Errorf("%s may be %v", name, value)
		}
	}
}

// docs/http.md has every endpoint and every class.
func TestThePageInTheRepository(t *testing.T) {
	page, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range endpoints {
		if !strings.Contains(string(page), "`"+e.method+" "+e.documented()+"`") {
			t.Errorf("docs/http.md does not have %s %s", e.method, e.path)
		}
	}
	for _, class := range run.Classes() {
		if !strings.Contains(string(page), "`"+string(class)+"`") {
			t.Errorf("docs/http.md does not have the class %s", class)
		}
		if status := statuses[class]; status < 400 || status > 599 {
			t.Errorf("%s has the HTTP status %d", class, status)
		}
		if titles[class] == "" {
			t.Errorf("%s has no title", class)
		}
	}
}

func TestDocumentHasEveryLimit(t *testing.T) {
	limits := newDocument("test").Components.Schemas.Map()["Limits"].Properties
	keys := map[string]bool{}
	for _, limit := range policy.LimitTable() {
		keys[limit.Key], keys[limit.NumberKey()] = true, true
		if field := limits[limit.Key]; field == nil || field.Description != limit.About {
			t.Errorf("%s: %+v", limit.Key, field)
		}
		if limits[limit.NumberKey()] == nil {
			t.Errorf("%s is missing", limit.NumberKey())
		}
	}
	if len(limits) != len(keys) {
		t.Errorf("%d keys in the document, %d in the table", len(limits), len(keys))
	}
}
