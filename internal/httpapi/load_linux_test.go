package httpapi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/internal/service"
)

// Load from a thousand clients that keep their connections, with a short queue. A quarter of
// the guests is hostile, and clients with another token never read. Each client gets a
// correct Result or is refused at once, and no files or processes are left.
func TestLoad(t *testing.T) {
	hosttest.Slow(t, "takes a quarter of a minute")
	hosttest.Needs(t, "wrk")
	before := countResources(t)
	t.Cleanup(func() { // runs after all other cleanups
		deadline := time.Now().Add(5 * time.Minute)
		for after := countResources(t); after != before; after = countResources(t) {
			if time.Now().After(deadline) {
				t.Errorf("before: %+v, after: %+v", before, after)
				return
			}
			<-time.After(10 * time.Millisecond)
		}
	})
	d := openReal(t, cordon.Options{Concurrent: 8, Queue: 64}, func(_ *service.Options, o *Options) {
		o.Tokens = tokens{"good": {Name: "load"}, "m": {Name: "mute", Quota: admission.Quota{Concurrent: 2}}}
	})
	for range 20 { // clients that never read, during the whole test
		body := `{"script": "result = 'x' * (7 << 20)"}`
		d.raw(t, "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer m\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
	}
	// The shell raises the limit of open files for wrk, if it may.
	command := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 4096; exec "$@"`, "sh",
		hosttest.FindProgram("wrk"), "--threads", "2", "--connections", "1000", "--duration", "10s", "--timeout", "30s",
		"--script", "testdata/load.lua", "http://"+d.at+"/v1/runs")
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	var good, bad, busy, wrong, connect, read, write, timeout, p50, p99 int
	_, totals, _ := strings.Cut(string(output), "\ntotals ")
	if _, err := fmt.Sscanf(totals, "good=%d bad=%d busy=%d wrong=%d connect=%d read=%d write=%d timeout=%d p50us=%d p99us=%d",
		&good, &bad, &busy, &wrong, &connect, &read, &write, &timeout, &p50, &p99); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	t.Log(strings.TrimSpace(totals))
	if wrong > 0 || connect+read+write+timeout > 0 {
		t.Errorf("wrong or lost answers: %s", output)
	}
	if good < 20 || bad < 5 || busy == 0 {
		t.Errorf("too few runs, or no request was refused: %s", output)
	}
	if most := 8 * time.Second; time.Duration(p99)*time.Microsecond > most {
		t.Errorf("the 99th percentile is %v", time.Duration(p99)*time.Microsecond)
	}
	// The service still works.
	if got := d.result(d.ask("POST", "/v1/runs", `{"script": "result = 1"}`, "Authorization: Bearer good")); string(got.Value) != "1" {
		t.Errorf("%+v", got)
	}
}

type resourceCounts struct{ files, children int }

// countResources counts the open files and the children of this process.
func countResources(t *testing.T) (r resourceCounts) {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	r.files = len(files)
	lists, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		text, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		r.children += len(strings.Fields(string(text)))
	}
	return r
}
