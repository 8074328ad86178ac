package cordon_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// A Runner is made once and used for many runs.
func Example() {
	r, err := cordon.NewRunner(cordon.Options{Idle: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	res, err := r.Run(context.Background(), run.Request{
		Script: run.Script{Source: `result = {"sum": context["a"] + 1}`, Context: map[string]any{"a": 41}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var value struct{ Sum int }
	if err := res.Decode(&value); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Outcome, value.Sum)
	// Output: succeeded 42
}

// A failure of the guest is a Result, never an error.
func ExampleRunner_Run_failures() {
	r, err := cordon.NewRunner(cordon.Options{Idle: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	for _, req := range []run.Request{
		{Script: run.Script{Source: "x = 1\nraise ValueError('no')"}},
		{Script: run.Script{Source: "x ="}},
		{Script: run.Script{Source: "while True: pass"}, Limits: policy.Limits{WallTime: 100 * time.Millisecond}},
		{Script: run.Script{Source: "x = bytearray(10**9)"}},
		{Script: run.Script{Source: "import sys; sys.exit(7)"}},
		{Script: run.Script{Source: "result = {'a': [1, {2}]}"}},
	} {
		res, err := r.Run(context.Background(), req)
		fmt.Println(res.Outcome, res.ErrorType, err)
	}
	// Output:
	// raised exception <nil>
	// malformed syntax <nil>
	// timed_out timeout <nil>
	// out_of_memory memory_limit <nil>
	// exited exception <nil>
	// invalid_output invalid_output <nil>
}

// A Result lists the attempts that were blocked, with a hint for the author of the script.
func ExampleRunner_Run_violations() {
	r, err := cordon.NewRunner(cordon.Options{Idle: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	res, err := r.Run(context.Background(), run.Request{Script: run.Script{Source: "import socket\nsocket.socket()"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Error)
	for _, v := range res.Violations {
		fmt.Println(v.Wall, v.Op, v.Detail, v.Line)
	}
	// Output:
	// PermissionError: [Errno 1] Operation not permitted (line 2)
	// seccomp socket AF_INET, SOCK_STREAM 2
}

// A request narrows the policy; it never widens it.
func ExampleRunner_Run_limits() {
	r, err := cordon.NewRunner(cordon.Options{
		Policy: policy.Policy{Maxima: policy.Limits{Memory: 128 * policy.MiB}},
		Idle:   1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	_, err = r.Run(context.Background(), run.Request{
		Script: run.Script{Source: "pass"},
		Limits: policy.Limits{Memory: 1 * policy.GiB},
	})
	fmt.Println(errors.Is(err, run.ErrInvalid))
	fmt.Println(err)
	// Output:
	// true
	// limits.memory: 1GiB is above the policy's maximum of 128MiB
}

// Streams receive the guest's output while it runs. The Result has it as well.
func ExampleRunner_Run_streams() {
	r, err := cordon.NewRunner(cordon.Options{Idle: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	res, err := r.Run(context.Background(), run.Request{
		Script:  run.Script{Source: "print('hello', input())"},
		Stdin:   "world\n",
		Streams: run.Streams{Out: os.Stdout},
	})
	fmt.Printf("%q %v\n", res.Stdout, err)
	// Output:
	// hello world
	// "hello world\n" <nil>
}

// Variables selects globals of the script for the Result: JSON values as they are, others by
// type and repr.
func ExampleRunner_Run_variables() {
	r, err := cordon.NewRunner(cordon.Options{Idle: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	res, err := r.Run(context.Background(), run.Request{
		Script: run.Script{Source: "x = [1, 2]\ny = {3}", Variables: []string{"x", "y"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n%s\n", res.Variables["x"], res.Variables["y"])
	// Output:
	// [1,2]
	// {"$type":"set","$repr":"{3}"}
}

// A command has a private root, a workspace, and no network.
func ExampleRunner_Run_command() {
	r, err := cordon.NewRunner(cordon.Options{Tier: policy.TierJail})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	workspace, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(workspace)

	for _, command := range [][]string{{"touch", "made"}, {"ls"}, {"sh", "-c", "ls"}} {
		res, err := r.Run(context.Background(), run.Request{Command: run.Command{Args: command, Workspace: workspace}})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print(res.Outcome, "\n", res.Stdout)
		for _, v := range res.Violations {
			fmt.Println(v.Wall, v.Op)
		}
	}
	// Output:
	// succeeded
	// succeeded
	// made
	// refused
	// command interpreter
}
