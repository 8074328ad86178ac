package run_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cordon-sandbox/cordon/run"
)

func ExampleParseRequest() {
	req, err := run.ParseRequest([]byte(`{"script": "result = 6 * 7", "limits": {"wall_time": "2s"}}`))
	fmt.Println(req.Limits.WallTime, err)

	_, err = run.ParseRequest([]byte(`{"script": "result = 6 * 7", "limits": {"wall_time": 2}}`))
	fmt.Println(err)
	fmt.Println(errors.Is(err, run.ErrInvalid))
	// Output:
	// 2s <nil>
	// request: field "limits.wall_time": "2" has no unit: write 2s, 2ms or 2m
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
