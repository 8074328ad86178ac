package main

import (
	"testing"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/run"
)

// One hook too many closes the one that was called least recently, and no other.
func TestLineHooksMakeRoom(t *testing.T) {
	runner, err := cordon.NewRunnerContext(t.Context(), cordon.Options{Idle: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer runner.Close()
	opened, err := runner.OpenHook(t.Context(), run.HookSpec{Script: "result['output'] = 1"})
	if err != nil {
		t.Fatal(err)
	}
	var hooks lineHooks
	defer hooks.close()
	var ids []string
	for range maxHooks {
		ids = append(ids, hooks.add(opened)) // closing one that is closed changes nothing
	}
	for i, id := range ids {
		if i != 1 {
			h, err := hooks.use(id)
			if err != nil {
				t.Fatal(err)
			}
			hooks.done(h)
		}
	}
	hooks.add(opened)
	if _, err := hooks.use(ids[1]); run.ClassOf(err) != run.Unknown {
		t.Errorf("the oldest one: %v", err)
	}
	for i, id := range ids {
		if i != 1 {
			h, err := hooks.use(id)
			if err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			hooks.done(h)
		}
	}
}
