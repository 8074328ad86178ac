package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

func TestFilesOfSessions(t *testing.T) {
	d := openReal(t, cordon.Options{}, nil)
	at := d.openSession("{}") + "/files"
	put := func(name, content string) answer { return d.ask(http.MethodPut, at+"/"+name, content) }

	var info run.FileInfo
	if a := put("data/sales%20of%20may.csv", "day,sum\n1,42\n"); a.status != http.StatusCreated || json.Unmarshal(a.body, &struct {
		Name *string `json:"name"`
	}{&info.Name}) != nil || info.Name != "data/sales of may.csv" || a.header.Get("Location") != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	step := d.ask(http.MethodPost, strings.TrimSuffix(at, "/files")+"/steps", `{"script": "open('plot.svg', 'w').write('<svg/>'); open('data/sales of may.csv').read()"}`)
	if got := d.stepped(step); got.Display[0].Forms["text/plain"] != `'day,sum\n1,42\n'` {
		t.Errorf("%s", step.body)
	}
	if a := d.ask(http.MethodPost, strings.TrimSuffix(at, "/files")+"/steps", `{"script": "x = [1, 2]"}`); !strings.Contains(string(a.body), `"added":["x"]`) {
		t.Errorf("%s", a.body)
	}
	if a := d.ask(http.MethodGet, strings.TrimSuffix(at, "/files")+"/variables", ""); !strings.Contains(string(a.body), `{"variables":[{"name":"x","type":"list","bytes":`) || !strings.Contains(string(a.body), `"text":"[1, 2]"}]}`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	var list struct {
		Files []struct{ Name, Type string }
	}
	if a := d.ask(http.MethodGet, at, ""); json.Unmarshal(a.body, &list) != nil || fmt.Sprint(list.Files) != "[{data/sales of may.csv text/csv} {plot.svg image/svg+xml}]" {
		t.Errorf("%d %s", a.status, a.body)
	}

	// Never as a page of this service.
	whole := d.fetch(d.request(http.MethodGet, at+"/plot.svg", "", "Accept: */*"))
	if string(whole.body) != "<svg/>" || whole.header.Get("Content-Type") != "image/svg+xml" || whole.header.Get("Content-Security-Policy") != "sandbox" ||
		whole.header.Get("X-Content-Type-Options") != "nosniff" || whole.header.Get("Content-Disposition") != "attachment; filename*=UTF-8''plot.svg" {
		t.Errorf("%d %v %s", whole.status, whole.header, whole.body)
	}
	part := d.fetch(d.request(http.MethodGet, at+"/plot.svg", "", "Range: bytes=1-3"))
	if part.status != http.StatusPartialContent || string(part.body) != "svg" || part.header.Get("Content-Range") != "bytes 1-3/6" {
		t.Errorf("%d %v %s", part.status, part.header, part.body)
	}
	if a := d.fetch(d.request(http.MethodGet, at+"/plot.svg", "", "Range: bytes=100-")); a.status != http.StatusRequestedRangeNotSatisfiable || d.problem(a).Class != run.Invalid {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.fetch(d.request(http.MethodHead, at+"/plot.svg", "")); a.status != http.StatusOK || a.header.Get("Content-Length") != "6" {
		t.Errorf("%d %v", a.status, a.header)
	}
	if a := d.ask(http.MethodDelete, at+"/data", ""); a.status != http.StatusNoContent {
		t.Errorf("%d %s", a.status, a.body)
	}

	for path, status := range map[string]int{"/none": http.StatusNotFound, "/": http.StatusBadRequest, "/a%2F..%2F..%2Fetc": http.StatusBadRequest, "/%2Fetc%2Fpasswd": http.StatusBadRequest, "/a%00b": http.StatusBadRequest} {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			if method == http.MethodPut && status == http.StatusNotFound {
				continue
			}
			if a := d.fetch(d.request(method, at+path, "x")); a.status != status {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			}
		}
	}
	if a := d.fetch(d.request(http.MethodPut, at+"/zipped", "x", "Content-Encoding: gzip")); a.status != http.StatusUnsupportedMediaType {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := put("large", strings.Repeat("x", 17<<20)); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %.200s", a.status, a.body)
	}
}

// An upload whose client disconnects leaves nothing under the name of the file.
func TestUploadThatIsCutOff(t *testing.T) {
	d := openReal(t, cordon.Options{}, nil)
	at := d.openSession("{}") + "/files"
	if a := d.ask(http.MethodPut, at+"/a", "whole"); a.status != http.StatusCreated {
		t.Fatalf("%d %s", a.status, a.body)
	}
	conn, _ := d.raw(t, "PUT "+at+"/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\npart")
	names := func() string { return string(d.ask(http.MethodGet, at, "").body) }
	hosttest.Eventually(t, "the upload has begun", func() bool { return strings.Count(names(), "name") == 2 })
	conn.Close()
	hosttest.Eventually(t, "the part is removed", func() bool { return strings.Count(names(), "name") == 1 })
	if a := d.fetch(d.request(http.MethodGet, at+"/a", "")); string(a.body) != "whole" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestFilesOfRuns(t *testing.T) {
	offered := t.TempDir()
	if err := os.WriteFile(filepath.Join(offered, "sales.csv"), []byte("1,2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(offered, "out")); err != nil {
		t.Fatal(err)
	}
	d := openReal(t, cordon.Options{}, func(so *service.Options, _ *Options) { so.FileRoots = []string{offered} })
	body := func(path string) string {
		return fmt.Sprintf(`{"script": "import sys; open('out.txt', 'w').write(open('in.csv').read() + sys.argv[1])", "args": ["!"], "artifacts": ["*.txt"], "files": [{"name": "in.csv", "path": %q}]}`, path)
	}
	a := d.ask(http.MethodPost, "/v1/runs", body(filepath.Join(offered, "sales.csv")))
	if want := `"artifacts":[{"name":"out.txt","bytes":4,"type":"text/plain","sha256":"`; a.status != http.StatusOK || !strings.Contains(string(a.body), want) || !strings.Contains(string(a.body), `"base64":"MSwyIQ=="`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	for _, path := range []string{"/etc/passwd", filepath.Join(offered, "out"), filepath.Join(offered, "none"), offered, filepath.Join(offered, "..", "x"), "sales.csv"} {
		if a := d.ask(http.MethodPost, "/v1/runs", body(path)); a.status != http.StatusForbidden || !strings.Contains(string(a.body), "not a file that the operator offers") || !strings.Contains(string(a.body), "files[0].path") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	at := d.openSession("{}") + "/steps"
	if a := d.ask(http.MethodPost, at, body("/etc/passwd")); a.status != http.StatusForbidden {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := d.ask(http.MethodPost, at, body(filepath.Join(offered, "sales.csv"))); a.status != http.StatusOK || !strings.Contains(string(a.body), "MSwyIQ==") {
		t.Errorf("%d %s", a.status, a.body)
	}
}
