package main

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// The listener for metrics has no tokens, but websites cannot reach it either.
func TestMetricsRefuseWebsites(t *testing.T) {
	measured := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	d, err := metricsFrontend("127.0.0.1:0", measured, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- serveFrontend(d) }()
	defer func() {
		d.server.Close()
		<-served
	}()
	for header, want := range map[string]int{
		"X: y": 200, "Sec-Fetch-Site: cross-site": 403, "Sec-Fetch-Site: same-site": 403, "Origin: https://evil.example": 403,
		"Host: evil.example": 403, "Sec-Fetch-Site: none": 200,
	} {
		r, err := http.NewRequest(http.MethodGet, "http://"+d.at.Addr().String()+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		name, value, _ := strings.Cut(header, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", header, answer.StatusCode, want)
		}
	}
}
