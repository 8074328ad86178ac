package compat_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// venvScripts run under the default memory limit unless they set another: without a cgroup,
// memory is measured as address space, of which numpy reserves much.
var venvScripts = []script{
	{name: "numpy computes", limits: policy.Limits{Memory: 256 * policy.MiB}, result: `[[[19.0, 22.0], [43.0, 50.0]], -2.0, true, [6.0, 0.0], 4950]`, source: `
import numpy as np
a, b = np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6], [7, 8]])
inverse = np.linalg.inv(a)
result = [a.dot(b).tolist(), round(float(np.linalg.det(a)), 9), bool(np.allclose(a @ inverse, np.eye(2))),
          np.round(np.fft.fft([3, 0, 0, 3]).real, 9)[[0, 2]].tolist(), int(np.arange(100).sum())]
`},
	{name: "numpy is random and seedable", result: `[true, true, [2, 0, 1, 3, 4]]`, source: `
import numpy as np
a, b = np.random.default_rng(1).random(5), np.random.default_rng(1).random(5)
result = [bool((a == b).all()), bool((a != np.random.default_rng().random(5)).any()), np.random.RandomState(0).permutation(5).tolist()]
`},
	{name: "numpy with large matrices", result: `[[600, 600], true]`, source: `
import numpy as np
a = np.random.default_rng(0).random((600, 600))
q, r = np.linalg.qr(a)
result = [list(q.shape), bool(np.allclose(q @ r, a))]
`},
	// OpenBLAS starts a thread for each CPU unless it is configured otherwise; with a limit
	// of one thread that would be a violation.
	{name: "numpy uses one thread", limits: policy.Limits{Threads: 1}, result: `160000.0`, source: `
import numpy as np
result = float((np.ones((400, 400)) @ np.ones((400, 400))).sum() / 400)
`},
	{name: "numpy in threads", result: `[8, 1000.0]`, source: `
import numpy as np
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(8) as pool:
    sums = list(pool.map(lambda n: float((np.ones((100, 100)) @ np.ones((100, 100))).mean() * n), range(8)))
result = [len(sums), round(sums[1] * 10, 6)]
`},
	{name: "numpy files", result: `[[0, 1, 2], [3, 4, 5], true]`, source: `
import numpy as np
np.save("a.npy", np.arange(6).reshape(2, 3))
m = np.memmap("m.bin", dtype="f8", mode="w+", shape=(10,)); m[:] = 1; m.flush()
a = np.load("a.npy", mmap_mode="r")
result = a.tolist() + [bool(np.fromfile("m.bin").sum() == 10)]
`},
	{name: "numpy as a result", result: `[2.5, {"x": 1, "y": 0.5, "b": true}, [[0, 1], [2, 3]], [1.0, null], "2026-01-02", ["2026-01-02"]]`, source: `
import numpy as np
result = [np.float64(2.5), {"x": np.int64(1), "y": np.float32(0.5), "b": np.bool_(True)}, np.arange(4).reshape(2, 2),
          np.array([1, np.nan]), np.datetime64("2026-01-02"), np.array(["2026-01-02"], dtype="M8[D]")]
`},
	{name: "pandas as a result", result: `[[{"a": 1, "b": 0.5, "t": "2026-01-01T00:00:00", "s": "x", "3": 1}, {"a": 2, "b": null, "t": null, "s": null, "3": null}], [0.5, null], ["a", "b", "t", "s", 3], "2026-01-01T00:00:00", null, []]`, source: `
import pandas as pd
f = pd.DataFrame({"a": [1, 2], "b": [0.5, None], "t": pd.to_datetime(["2026-01-01", None]), "s": pd.Series(["x", None], dtype=object), 3: pd.array([1, None], dtype="Int64")})
result = [f, f["b"], f.columns, f["t"][0], f["t"][1], f[f.a > 5]]
`},
	{name: "numpy complex as a result", outcome: run.InvalidOutput, error: []string{"result['n']", "complex", "not a JSON value"}, source: `
import numpy as np
result = {"n": np.complex128(1)}
`},
	{name: "numpy as a variable", variables: []string{"a"}, variable: `{"a": [0, 1]}`, source: `
import numpy as np
a = np.arange(2)
`},
	{name: "array of 1 GiB", limits: policy.Limits{Memory: 256 * policy.MiB}, outcome: run.OutOfMemory,
		error: []string{"memory limit of 256MiB"}, stderr: []string{""}, source: `
import numpy as np
np.ones(1 << 27)
`},
	{name: "arrays that add up to 1 GiB", limits: policy.Limits{Memory: 256 * policy.MiB}, outcome: run.OutOfMemory,
		error: []string{"memory limit of 256MiB"}, stderr: []string{""}, source: `
import numpy as np
kept = [np.ones(1 << 20) for _ in range(128)]
`},
	{name: "half of the limit is usable", limits: policy.Limits{Memory: 256 * policy.MiB}, result: `16777216.0`, source: `
import numpy as np
result = float(np.ones(1 << 24).sum())
`},
	{name: "pandas", result: `[{"a": 3, "b": 3}, [{"k": "a", "v": 1}, {"k": "a", "v": 2}], [4, 2], "2024-01-31", 1.5]`, source: `
import io
import pandas as pd
f = pd.read_csv(io.StringIO("k,v\na,1\na,2\nb,3\n"))
dates = pd.date_range("2024-01-01", periods=31, tz="Europe/Berlin")
result = [f.groupby("k")["v"].sum().to_dict(), f[f.k == "a"].to_dict("records"),
          list(f.merge(pd.DataFrame({"k": ["a", "b", "c", "b"], "w": 1}), how="left").shape)[:1] + [int(f["k"].nunique())],
          str(dates[-1].date()), float(f[f.k == "a"].v.mean())]
`},
	{name: "pandas files", result: `[2, [1, 2], 2]`, source: `
import sqlite3
import pandas as pd
f = pd.DataFrame({"a": [1, 2], "s": ["x", "y"]})
f.to_csv("f.csv", index=False); f.to_pickle("f.pkl"); f.to_json("f.json")
db = sqlite3.connect(":memory:"); f.to_sql("t", db)
result = [len(pd.read_csv("f.csv")), pd.read_pickle("f.pkl")["a"].tolist(), len(pd.read_sql("select * from t", db))]
`},
}

// virtualEnvironment returns the environment that make test created in .cache/venv, or a copy if
// that is below /tmp, which is hidden from guests.
func virtualEnvironment(t *testing.T) string {
	t.Helper()
	venv := os.Getenv("CORDON_TEST_VENV")
	if venv == "" {
		skipOrFail(t, "CORDON_TEST_VENV names no virtual environment with numpy and pandas: make test makes one in .cache/venv")
	}
	if !strings.HasPrefix(venv, "/tmp/") {
		return venv
	}
	return openCopy(t, venv)
}

// openCopy copies an environment to a directory that every user may read.
func openCopy(t *testing.T, venv string) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "cordon-venv-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-r", "--no-dereference", venv+"/.", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

func TestVirtualEnvironment(t *testing.T) {
	venv := virtualEnvironment(t)
	r := newRunner(t, policy.Policy{Python: filepath.Join(venv, "bin", "python3"), Maxima: maxima})
	t.Logf("cgroup: %s", r.Enforcement().Walls[policy.WallCgroup])
	for _, s := range venvScripts {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.test(t, r)
		})
	}
}

// TestVirtualEnvironmentPreloaded checks that preloaded numpy and pandas are imported once, not in
// each run.
func TestVirtualEnvironmentPreloaded(t *testing.T) {
	venv := virtualEnvironment(t)
	r := newRunner(t, policy.Policy{Python: filepath.Join(venv, "bin", "python3"), Maxima: maxima, Preload: []string{"numpy", "pandas"}})
	for _, s := range venvScripts {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.test(t, r)
		})
	}
}
