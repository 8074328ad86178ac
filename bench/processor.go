package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

// shortTurn has a chance to run at full speed throughout: on a shared machine the processor
// changes its speed by half within a second.
const shortTurn = time.Second / 10

// program defines work(), which keeps a processor busy.
type program struct {
	name string
	// size makes it take a bit more than shortTurn on a machine of 2025.
	size int
	work string // a format, for the size
}

// programs are scripts that walls could slow down: plain bytecode; many small objects
// (memory, page faults, the allocator); C code on large data.
var programs = []program{
	{"loop of integers", 1_100_000, `
def work():
    a, b, total = 1, 1, 0
    for i in range(%d):
        a, b = b, (a * 31 + i) & 0xFFFFFF
        if b & 1:
            total += b
    return total
`},
	{"dicts and strings", 400_000, `
def work():
    words, total = {}, 0
    for i in range(%d):
        key = "word%%d" %% (i %% 50021)
        words[key] = words.get(key, 0) + 1
        if i %% 7 == 0:
            total += len(key.upper().replace("W", "vv").split("O"))
    return total + len(words)
`},
	{"sorting and hashing", 240, `
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

// clock measures only the work, inside and outside: the start is measured separately, and
// would make the walls look better here. CPU time is judged, since other programs add
// little to it; wall time is shown next to it, so that waiting is visible.
const clock = `
import time
wall, cpu = time.perf_counter(), time.process_time()
value = work()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
`

// processor compares the speed of long scripts behind the walls with the same interpreter
// without walls.
func (b *bench) processor(ctx context.Context, t *table) error {
	for _, p := range programs {
		in, out, err := b.compare(ctx, p, 100, shortTurn, b.inside, b.outside)
		if err != nil {
			return err
		}
		t.add(row{
			position: rowProcessor, Measure: "speed of a long script: " + p.name, Value: fmt.Sprintf("%.3f s", in.cpu.Seconds()),
			Number: in.cpu.Seconds(), Ratio: over(out.cpu, in.cpu), Must: atLeast(0.97, "0.97 ×"),
			Note: onTheWall(in, out),
		})
	}
	return nil
}

func onTheWall(in, out times) string {
	return fmt.Sprintf("(by the clock on the wall %s)", ratioText(over(out.wall, in.wall)))
}

// times are the measurements of one script.
type times struct{ wall, cpu time.Duration }

// best keeps the smaller of each: noise only adds time.
func (t times) best(other times) times { return times{min(t.wall, other.wall), min(t.cpu, other.cpu)} }

// side does the work of a source, and returns its times and its value.
type side func(ctx context.Context, source string) (times, string, error)

// compare does the work of a program on both sides, in turns that take this long.
func (b *bench) compare(ctx context.Context, p program, turns int, long time.Duration, inside, outside side) (in, out times, err error) {
	size := b.few(p.size*int(long/shortTurn), p.size/2)
	for {
		in, out, err = takeTurns(ctx, fmt.Sprintf(p.work, size), b.few(turns, 1), inside, outside)
		if err != nil {
			return in, out, fmt.Errorf("%s: %w", p.name, err)
		}
		if b.quick || out.cpu >= long {
			return in, out, nil
		}
		// A turn that is too short would measure the clock, so a faster machine gets more work.
		size = int(float64(size) * 1.2 * float64(long) / float64(out.cpu))
	}
}

// takeTurns returns the best times of each side.
func takeTurns(ctx context.Context, source string, turns int, inside, outside side) (in, out times, err error) {
	in, out = times{math.MaxInt64, math.MaxInt64}, times{math.MaxInt64, math.MaxInt64}
	for range turns {
		took, want, err := outside(ctx, source)
		if err != nil {
			return in, out, err
		}
		out = out.best(took)
		took, got, err := inside(ctx, source)
		if err != nil {
			return in, out, err
		}
		in = in.best(took)
		if got != want {
			return in, out, fmt.Errorf("%s inside, %s outside", got, want)
		}
	}
	return in, out, nil
}

func (b *bench) outside(ctx context.Context, source string) (times, string, error) {
	line := []string{"-I", "-S", "-X", "utf8", "-c", source + clock + "import json\nprint(json.dumps([wall, cpu, str(value)]))"}
	out, err := exec.CommandContext(ctx, b.python, line...).Output()
	if err != nil {
		return times{}, "", err
	}
	return parseTimes(out)
}

func (b *bench) inside(ctx context.Context, source string) (times, string, error) {
	result, err := b.long(ctx, run.Request{Script: run.Script{Source: source + clock + "result = [wall, cpu, str(value)]"}})
	if err != nil {
		return times{}, "", err
	}
	return parseTimes(result.Value)
}

// long runs a request that keeps a processor busy.
func (b *bench) long(ctx context.Context, req run.Request) (run.Result, error) {
	req.Limits.CPUTime = 10 * time.Second
	result, err := b.runner.Run(ctx, req)
	if err == nil && !result.OK() {
		err = fmt.Errorf("%s: %s", result.Outcome, result.Error)
	}
	return result, err
}

func parseTimes(text []byte) (times, string, error) {
	var wall, cpu float64
	var value string
	err := json.Unmarshal(text, &[]any{&wall, &cpu, &value})
	return times{time.Duration(wall * float64(time.Second)), time.Duration(cpu * float64(time.Second))}, value, err
}
