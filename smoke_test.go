package cordon

import (
	"context"
	"encoding/json"
	"testing"
	"time"
	"fmt"
	"sort"

	"github.com/cordon-sandbox/cordon/run"
)

func TestSmoke(t *testing.T) {
	r, err := NewRunner(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, s := range []string{"result = context['a'] + 1", "print('hi'); 1/0", "import socket; socket.socket()", "open('/etc/shadow')", "x = [0]*10**9", "import subprocess; subprocess.run(['ls'])"} {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		res, err := r.Run(ctx, run.Request{Script: s, Context: map[string]any{"a": 41}})
		cancel()
		b, _ := json.MarshalIndent(res, "", " ")
		t.Logf("%v %s", err, b)
	}
	var ts []time.Duration
	for range 1000 {
		a := time.Now()
		if _, err := r.Run(context.Background(), run.Request{Script: "result = context['a'] + 1", Context: map[string]any{"a": 41}}); err != nil { t.Fatal(err) }
		ts = append(ts, time.Since(a))
		time.Sleep(5*time.Millisecond)
	}
	sort.Slice(ts, func(i, j int) bool { return ts[i] < ts[j] })
	fmt.Println("p50", ts[500], "p99", ts[990])
}
