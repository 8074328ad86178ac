package cordon_test

import (
	"context"
	"fmt"
	"os"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A module is checked and compiled once, and called many times.
func ExampleRunner_OpenModule() {
	r, err := cordon.NewRunner(cordon.Options{Tier: policy.TierWasm})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	binary, err := os.ReadFile("examples/score.wasm")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := r.OpenModule(context.Background(), binary)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()

	res, err := m.Call(context.Background(), "score", map[string]any{"points": []int{3, 4}, "bonus": 35})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Outcome, string(res.Value))
	// Output: succeeded 42
}

// With the same input, fuel runs out at the same instruction on every machine.
func ExampleModule_CallWith() {
	r, err := cordon.NewRunner(cordon.Options{Tier: policy.TierWasm})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	binary, err := os.ReadFile("examples/score.wasm")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := r.OpenModule(context.Background(), binary)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()

	for _, fuel := range []policy.Count{100, 1000} {
		req := run.Request{Limits: policy.Limits{Fuel: fuel}}
		res, err := m.CallWith(context.Background(), req, "score", []int{10, 20, 12})
		fmt.Println(res.Outcome, string(res.Value), res.Error, err)
	}
	// Output:
	// out_of_fuel  limit of 100 instructions reached <nil>
	// succeeded 42  <nil>
}
