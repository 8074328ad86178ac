package httpapi

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/service"
)

// Other websites cannot reach any route with any method, with or without tokens. The test
// uses the routes of the frontend, so that it covers new ones.
func TestWebsitesReachNothing(t *testing.T) {
	reached := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a website reached a mounted frontend") })
	for name, with := range map[string]Finder{"with tokens": tokens{"s": {Name: "alice"}}, "without": nil} {
		d := open(t, &fake{run: echo}, func(_ *service.Options, o *Options) {
			if with != nil {
				o.Tokens = with
			}
			o.Metrics = reached
			o.Mounts = map[string]http.Handler{"/mcp": reached, "/sse": reached}
		})
		paths := map[string][]string{"/mcp": {"GET", "POST", "DELETE"}, "/sse": {"GET", "POST"}, "/nowhere": {"GET"}, "/": {"GET"}}
		for path, methods := range d.api.routes() {
			path = strings.ReplaceAll(path, "{id}", "x")
			for method := range methods {
				if method == "" {
					method = "OPTIONS" // a method that the path does not have
				}
				paths[path] = append(paths[path], method)
			}
		}
		if len(paths) < 12 {
			t.Fatalf("only %d routes", len(paths))
		}
		for path, methods := range paths {
			for _, method := range methods {
				for _, header := range []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: https://evil.example", "Origin: null"} {
					r := d.request(method, path, "", header, "Authorization: Bearer s")
					a := d.fetch(r)
					if a.status != http.StatusForbidden || method != http.MethodHead && !strings.Contains(string(a.body), "another website") {
						t.Errorf("%s: %s %s with %s: %d %.100s", name, method, path, header, a.status, a.body)
					}
				}
			}
		}
		for _, header := range []string{"Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: none", "Origin: http://" + d.at, "X: y"} {
			if a := d.fetch(d.request(http.MethodGet, "/v1/info", "", header, "Authorization: Bearer s")); a.status != http.StatusOK {
				t.Errorf("%s: %s: %d %s", name, header, a.status, a.body)
			}
		}
	}
}
