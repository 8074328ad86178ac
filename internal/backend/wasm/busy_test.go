package wasm

import (
	"context"
	"runtime"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// busy are calls into C that take minutes, during which no Python instruction runs.
var busy = map[string]string{
	"sum":        "sum(range(10 ** 18))",
	"deque":      "collections.deque(itertools.repeat(0), maxlen=0)",
	"power":      "pow(3, 10 ** 8, 10 ** 3000000 + 1)",
	"digits":     "sys.set_int_max_str_digits(0); str(1 << (1 << 26))",
	"regex":      "re.match('(a+)+$', 'a' * 64 + 'b')",
	"search":     "[('ab' * 200000 + 'c' + 'a' * n) in 'ab' * 4000000 for n in range(10 ** 6)]",
	"replace":    "all(('x' * (1 << 22)).replace('x', 'yy') for _ in itertools.repeat(0))",
	"sort":       "sorted(range(1 << 21), key=hash, reverse=True)",
	"comparison": "all(map(operator.eq, itertools.repeat([0] * (1 << 22)), itertools.repeat([0] * (1 << 22))))",
	"hash":       "all(map(hashlib.sha512, itertools.repeat(bytes(1 << 22))))",
	"checksum":   "all(map(binascii.crc32, itertools.repeat(bytes(1 << 22) + b'x')))",
	"decimal":    "decimal.Context(prec=1000000).ln(decimal.Decimal(2))",
	"copies":     "all(map(bytes, itertools.repeat(bytearray(1 << 24))))",
	"fills":      "all(map(bytes, itertools.repeat(1 << 24)))",
	"random":     "all(map(os.urandom, itertools.repeat(1 << 22)))",
	"output":     "all(map(functools.partial(os.write, 2), itertools.repeat(bytes(1 << 20))))",
	"repr":       "repr(functools.reduce(lambda inner, _: [inner], range(20000), []))",
	"collector":  "[gc.collect() for _ in itertools.repeat(0)]",
	"compiler":   "[compile('x = ' + '+'.join('a' * 5000), 'x', 'exec') for _ in itertools.repeat(0)]",
}

// firstWrite is a writer that signals when a guest has written something.
type firstWrite struct{ written chan struct{} }

func (w firstWrite) Write(data []byte) (int, error) {
	select {
	case w.written <- struct{}{}:
	default:
	}
	return len(data), nil
}

// A guest that is busy in C does not block Go's garbage collector, and with it the whole
// process, and can be ended.
func TestBusyInC(t *testing.T) {
	hosttest.Slow(t, "takes long under the race detector")
	b := pythonBench(t, Options{Idle: 1})
	const names = "import binascii, collections, decimal, functools, gc, hashlib, itertools, operator, os, re, sys\nsys.setrecursionlimit(10 ** 6)\nprint('begun')\n"
	for name, expression := range busy {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := firstWrite{make(chan struct{}, 1)}
			job := backend.Job{
				Request: run.Request{Script: run.Script{Source: names + "while True:\n    " + expression}, Streams: run.Streams{Out: out}},
				// It is canceled long before these limits.
				Limits: policy.Limits{WallTime: policy.DefaultMaxima().WallTime, CPUTime: policy.DefaultMaxima().CPUTime}.Or(policy.DefaultLimits()),
			}
			s, err := b.Open(ctx, job)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			type end struct {
				result run.Result
				err    error
			}
			ended := make(chan end, 1)
			go func() {
				r, err := s.Run(ctx, job)
				ended <- end{r, err}
			}()
			select {
			case <-out.written:
			case e := <-ended:
				t.Fatalf("it did not begin: %s %v\n%s", e.result.Error, e.err, e.result.Stderr)
			}
			for range 20 {
				runtime.GC()
			}
			select {
			case e := <-ended:
				t.Fatalf("the guest was over before the collector: %s %v\n%s", e.result.Error, e.err, e.result.Stderr)
			default:
			}
			cancel()
			if e := <-ended; e.err != nil || e.result.Outcome != run.Canceled {
				t.Errorf("%s: %s %v", e.result.Outcome, e.result.Error, e.err)
			}
		})
	}
}
