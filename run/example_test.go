package run_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cordon-sandbox/cordon/run"
)

func ExampleRequest_Validate() {
	both := run.Request{
		Script:  run.Script{Source: "result = 6 * 7"},
		Command: run.Command{Args: []string{"make", "test"}},
	}
	err := both.Validate()
	fmt.Println(err)
	fmt.Println(errors.Is(err, run.ErrInvalid))
	// Output:
	// script: this is for scripts, and the request is for commands
	// true
}

func ExampleResult_Decode() {
	res := run.Result{Outcome: run.Succeeded, Value: json.RawMessage(`{"answer": 42}`)}

	var value struct{ Answer int }
	if err := res.Decode(&value); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.OK(), value.Answer)
	// Output: true 42
}
