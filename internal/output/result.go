package output

import (
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Result returns a Result with the guest's output.
func Result(stdout, stderr Capture) run.Result {
	return run.Result{
		Stdout: string(stdout.Data), StdoutSize: policy.Bytes(stdout.Size), StdoutTruncated: stdout.Dropped > 0,
		Stderr: string(stderr.Data), StderrSize: policy.Bytes(stderr.Size), StderrTruncated: stderr.Dropped > 0,
		Usage: run.Usage{Output: policy.Bytes(stdout.Size + stderr.Size)},
	}
}
