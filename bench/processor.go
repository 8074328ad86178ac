package main

import (
	"context"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// programs keep a processor busy for more than a second each, in the ways in
// which walls could slow one down: plain bytecode; many small objects (memory,
// page faults, the allocator); C code over large data.
var programs = []struct{ name, work string }{
	{"loop of integers", `
def work():
    a, b, total = 1, 1, 0
    for i in range(%d):
        a, b = b, (a * 31 + i) & 0xFFFFFF
        if b & 1:
            total += b
    return total
`},
	{"dicts and strings", `
def work():
    words, total = {}, 0
    for i in range(%d):
        key = "word%%d" %% (i %% 50021)
        words[key] = words.get(key, 0) + 1
        if i %% 7 == 0:
            total += len(key.upper().replace("W", "vv").split("O"))
    return total + len(words)
`},
	{"sorting and hashing", `
import hashlib
def work():
    seed, total = b"cordon", 0
    for i in range(%d):
        seed = hashlib.sha256(seed * 64).digest()
        numbers = sorted((seed[j %% 32] * (j + i) * 2654435761) & 0xFFFFFF for j in range(2000))
        total += numbers[1000]
    return total
`},
}

// sizes make each program take a bit more than a second on a machine of 2025.
var sizes = []int{11_000_000, 4_000_000, 2_400}

// clock is around the work alone, inside and outside: the start has its own
// measure, and would flatter the walls here.
const clock = `
import time
begin = time.perf_counter()
value = work()
took = time.perf_counter() - begin
`

// processor compares the speed of long scripts behind the walls with that of
// the same interpreter without.
func (b *bench) processor(ctx context.Context, t *table) error {
	for i, p := range programs {
		size := b.few(sizes[i], sizes[i]/20)
		in, out, err := b.compare(ctx, p.name, fmt.Sprintf(p.work, size))
		// Short scripts measure the clock; a faster machine gets more to do.
		for err == nil && !b.quick && out < time.Second {
			size = int(float64(size) * 1.2 * float64(time.Second) / float64(out))
			in, out, err = b.compare(ctx, p.name, fmt.Sprintf(p.work, size))
		}
		if err != nil {
			return err
		}
		t.add(row{
			place: placeProcessor, Measure: "speed of a long script: " + p.name, Value: fmt.Sprintf("%.3f s", in.Seconds()),
			Number: in.Seconds(), Ratio: over(out, in), Must: atLeast(0.97, "0.97 ×"),
		})
	}
	return nil
}

// compare takes turns, and gives the best time of each side: noise only ever
// adds.
func (b *bench) compare(ctx context.Context, name, source string) (in, out time.Duration, err error) {
	in, out = math.MaxInt64, math.MaxInt64
	for range b.few(5, 1) {
		d, want, err := b.outside(ctx, source)
		if err != nil {
			return 0, 0, err
		}
		out = min(out, d)
		d, got, err := b.inside(ctx, source)
		if err != nil {
			return 0, 0, err
		}
		in = min(in, d)
		if got != want {
			return 0, 0, fmt.Errorf("%s: %s inside, %s outside", name, got, want)
		}
	}
	return in, out, nil
}

func (b *bench) outside(ctx context.Context, source string) (time.Duration, string, error) {
	out, err := exec.CommandContext(ctx, b.python, "-I", "-S", "-X", "utf8", "-c", source+clock+"print(took, value)").Output()
	if err != nil {
		return 0, "", err
	}
	took, value, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	seconds, err := strconv.ParseFloat(took, 64)
	return time.Duration(seconds * float64(time.Second)), value, err
}

func (b *bench) inside(ctx context.Context, source string) (time.Duration, string, error) {
	result, err := b.runner.Run(ctx, run.Request{
		Script: source + clock + "result = [took, str(value)]",
		Limits: policy.Limits{CPUTime: policy.Duration(10 * time.Second)},
	})
	if err != nil {
		return 0, "", err
	}
	if !result.OK() {
		return 0, "", fmt.Errorf("%s: %s", result.Outcome, result.Error)
	}
	var seconds float64
	var value string
	if err := result.Decode(&[]any{&seconds, &value}); err != nil {
		return 0, "", err
	}
	return time.Duration(seconds * float64(time.Second)), value, nil
}
