package compat_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestTry(t *testing.T) {
	src, err := os.ReadFile(os.Getenv("TRY"))
	if err != nil {
		t.Skip()
	}
	py := os.Getenv("TRYPY")
	if py == "" {
		py = "/usr/bin/python3"
	}
	r := newRunner(t, policy.Policy{Python: py, Maxima: maxima})
	for range 3 {
		res, err := r.Run(t.Context(), run.Request{Script: string(src), Limits: policy.Limits{WallTime: policy.Duration(5 * time.Second)}})
		b, _ := json.Marshal(res)
		fmt.Println(err, string(b))
	}
}
