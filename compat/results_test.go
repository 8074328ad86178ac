package compat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

var _ = table("results",
	script{name: "none", source: `pass`},
	script{name: "every JSON type", context: map[string]any{"a": []any{1, 2.5, "x", nil, true, map[string]any{}}},
		result: `{"a": [1, 2.5, "x", null, true, {}]}`, source: `result = context`},
	script{name: "tuple", result: `[1, [2, 3]]`, source: `result = (1, (2, 3))`},
	script{name: "keys that are not strings", result: `{"1": "int", "2.5": "float", "true": "bool", "null": "None"}`, source: `
result = {1: "int", 2.5: "float", True and "true": "bool", None: "None"}
`},
	script{name: "floats keep their value", result: `[0.1, 1e+300, 5e-324, -0.0, 123456789.125]`, source: `
result = [0.1, 1e300, 5e-324, -0.0, 123456789.125]
`},
	script{name: "big integers", result: "1" + strings.Repeat("0", 5000), source: `result = 10 ** 5000`},
	script{name: "big integers in the context", context: json.RawMessage(strings.Repeat("9", 4000)),
		result: "1" + strings.Repeat("0", 4000), source: `result = context + 1`},
	script{name: "limits of machine integers", result: `[2147483647, -2147483648, 9223372036854775807, -9223372036854775809, 0]`, source: `
result = [2**31 - 1, -2**31, 2**63 - 1, -2**63 - 1, 0]
`},
	script{name: "subclasses", result: `[{"a": 2, "b": 1}, {"z": 1, "a": 2}, {"k": [1]}, [1, 2], 2, "text", 2.5]`, source: `
import collections, enum
class Level(enum.IntEnum): LOW = 1; HIGH = 2
class Text(str): pass
class Real(float): pass
d = collections.defaultdict(list); d["k"].append(1)
result = [collections.Counter("aab"), collections.OrderedDict(z=1, a=2), d, collections.namedtuple("P", "x y")(1, 2), Level.HIGH,
          Text("text"), Real(2.5)]
`},
	// json.dumps uses str.__str__, not the method of a subclass.
	script{name: "StrEnum", since: 11, result: `{"kind": "a", "a": 1}`, source: `
import enum
class Kind(enum.StrEnum): A = "a"
result = {"kind": Kind.A, Kind.A: 1}
`},
	script{name: "unicode", context: map[string]any{"in": "ä€😀\u0000"}, result: `["ä€😀\u0000", 4, "家族👨‍👩‍👧", "\u0000"]`, source: `
result = [context["in"], len(context["in"]), "家族👨‍👩‍👧", "\0"]
`},
	// JSON can express a lone surrogate, UTF-8 cannot: the escape must survive.
	script{name: "lone surrogates", check: resultText(`"a\ud83d"`), result: `"a\ufffd"`, source: `result = "a\ud83d"`},
	script{name: "surrogate escapes", check: resultText(`"\udcff"`), result: `"\ufffd"`, source: `result = b"\xff".decode("utf-8", "surrogateescape")`},
	script{name: "499 deep", check: depth(499), result: nested(499), source: `
result = 0
for _ in range(499): result = [result]
`},
	script{name: "499 deep goes in and out", context: json.RawMessage(nested(499)), result: nested(499), source: `result = context`},
	script{name: "600 deep", outcome: run.InvalidOutput, error: []string{"result[0]", "nested", "500"}, check: checkNotForged, source: `
result = 0
for _ in range(600): result = [result]
`},
	// Subclasses are rebuilt in Python, frame by frame, so their limit is a bit lower.
	script{name: "399 deep of subclasses", result: strings.Repeat(`{"k":`, 399) + "0" + strings.Repeat("}", 399), source: `
import collections
result = 0
for _ in range(399): result = collections.OrderedDict(k=result)
`},
	script{name: "10 MB in and out", limits: policy.Limits{Memory: 256 * policy.MiB, Result: 16 * policy.MiB},
		context: map[string]any{"text": strings.Repeat("0123456789", 1_000_000)},
		check:   size(10_000_002), result: jsonString(strings.Repeat("9876543210", 1_000_000)), source: `
result = context["text"][::-1]
`},
	script{name: "a million numbers", check: size(6_888_891), result: numbers(1_000_000), source: `
result = list(range(1000000))
`},
)

var _ = table("results of other kinds",
	script{name: "datetime", result: `{"when": "2024-01-01T00:00:00"}`, source: `
import datetime
result = {"when": datetime.datetime(2024, 1, 1)}
`},
	script{name: "Decimal", result: `"1"`, source: `
import decimal
result = decimal.Decimal(1)
`},
)

var _ = table("invalid results",
	script{name: "NaN", outcome: run.InvalidOutput, error: []string{"result['a'][1]", "float nan"}, source: `result = {"a": [1, float("nan")]}`},
	script{name: "infinity", outcome: run.InvalidOutput, error: []string{"result", "float -inf"}, source: `result = -float("inf")`},
	script{name: "bytes", outcome: run.InvalidOutput, error: []string{"result['data']", "bytes"}, source: `result = {"data": b"x"}`},
	script{name: "set", outcome: run.InvalidOutput, error: []string{"result[0]", "set"}, source: `result = [{1, 2}]`},
	script{name: "object", outcome: run.InvalidOutput, error: []string{"result['x'][2]", "Thing"}, source: `
class Thing: pass
result = {"x": [1, 2, Thing()]}
`},
	script{name: "complex", outcome: run.InvalidOutput, error: []string{"result", "complex"}, source: `result = 1j`},
	script{name: "generator", outcome: run.InvalidOutput, error: []string{"result", "generator"}, source: `result = (n for n in "ab")`},
	script{name: "module and function", outcome: run.InvalidOutput, error: []string{"result[0]", "module"}, source: `
import json
result = [json, len]
`},
	script{name: "key of another type", outcome: run.InvalidOutput, error: []string{"result", "tuple", "key"}, source: `result = {(1, 2): 3}`},
	script{name: "contains itself", outcome: run.InvalidOutput, error: []string{"result", "nested"}, source: `
result = []
result.append(result)
`},
	script{name: "invalid value inside a subclass", outcome: run.InvalidOutput, error: []string{"result['c'][1]", "bytes"}, source: `
import collections
result = collections.OrderedDict(c=[1, b""])
`},
	script{name: "NaN inside a subclass", outcome: run.InvalidOutput, error: []string{"result['a']", "float nan"}, source: `
import collections
result = collections.Counter(a=float("nan"))
`},
	// The run itself succeeded: its output and its variables are in the Result.
	script{name: "output is kept", outcome: run.InvalidOutput, stdout: "hi\n", variables: []string{"x"}, variable: `{"x": 1}`, source: `
print("hi")
x = 1
result = object()
`},
)

var _ = table("variables",
	script{name: "JSON values", variables: []string{"a", "b", "c", "absent"}, variable: `{"a": 42, "b": [1, {"k": null}], "c": [1, 2]}`, source: `
import collections
a, b, c = 42, [1, {"k": None}], collections.namedtuple("P", "x y")(1, 2)
`},
	script{name: "others", variables: []string{"a", "b", "c", "d"}, variable: `{
  "a": {"$type": "set", "$repr": "{1}"}, "b": {"$type": "float", "$repr": "nan"},
  "c": {"$type": "Thing", "$repr": "<Thing>"}, "d": {"$type": "list", "$repr": "[b'x']"}}`, source: `
class Thing:
    def __repr__(self): return "<Thing>"
a, b, c, d = {1}, float("nan"), Thing(), [b"x"]
`},
	script{name: "a long repr is cut", variables: []string{"a"}, check: func(t *testing.T, res run.Result) {
		if n := len(res.Variables["a"]); n > 2000 {
			t.Errorf("the variable takes %d bytes", n)
		}
	}, source: `a = set(range(100000))`},
	script{name: "a repr that fails", variables: []string{"a"},
		variable: `{"a": {"$type": "Bad", "$repr": "<Bad that cannot be shown>"}}`, source: `
class Bad:
    def __repr__(self): raise ValueError
a = Bad()
`},
	script{name: "after an exception", variables: []string{"x"}, variable: `{"x": 1}`,
		outcome: run.Raised, exception: "ZeroDivisionError", source: `
x = 1
1 / 0
`},
	script{name: "after an exit", variables: []string{"x"}, variable: `{"x": 1}`, outcome: run.Exited, exit: 3, source: `
x = 1
raise SystemExit(3)
`},
)

// checkNotForged checks that an invalid value is not reported as a forged report.
func checkNotForged(t *testing.T, res run.Result) {
	if strings.Contains(res.Error, "result channel") {
		t.Errorf("error %q blames the guest wrongly", res.Error)
	}
}

func nested(n int) string { return strings.Repeat("[", n) + "0" + strings.Repeat("]", n) }

func jsonString(s string) string { return `"` + s + `"` }

func numbers(n int) string {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func resultText(want string) func(*testing.T, run.Result) {
	return func(t *testing.T, res run.Result) {
		if string(res.Value) != want {
			t.Errorf("result %s, want %s", res.Value, want)
		}
	}
}

func size(want int) func(*testing.T, run.Result) {
	return func(t *testing.T, res run.Result) {
		if len(res.Value) != want {
			t.Errorf("result of %d bytes, want %d", len(res.Value), want)
		}
	}
}

func depth(want int) func(*testing.T, run.Result) {
	return func(t *testing.T, res run.Result) {
		if got := strings.Count(string(res.Value), "["); got != want {
			t.Errorf("result is %d deep, want %d", got, want)
		}
	}
}
