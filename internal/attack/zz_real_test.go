package attack_test

import (
	"os"
	"testing"
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/attack"
"github.com/cordon-sandbox/cordon/internal/hosttest"
"github.com/cordon-sandbox/cordon/policy"
)

func TestMain(m *testing.M) {
	hosttest.Enter()
	os.Exit(m.Run())
}

func TestReal(t *testing.T) {
	dir, _ := os.MkdirTemp("", "cdr")
	os.Chmod(dir, 0o755)
	defer os.RemoveAll(dir)
	s, err := attack.NewSuite(dir)
	if err != nil { t.Fatal(err) }
	defer s.Close()
	r, err := cordon.NewRunner(cordon.Options{Policy: policy.Policy{Python: "/usr/bin/python3"}})
	if err != nil { t.Fatal(err) }
	defer r.Close()
	fmt.Println(r.Enforcement())
	start := time.Now()
	vs, err := s.Prove(t.Context(), r, nil)
	fmt.Println(err, attack.Counts(vs), time.Since(start))
	for _, v := range vs {
		fmt.Printf("%-8s %-32s %6s %.150q\n", v.State, v.Attempt.Name, v.Result.Usage.WallTime.Std().Round(time.Millisecond), v.Detail)
	}
}
