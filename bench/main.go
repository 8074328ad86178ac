// Command bench measures cordon beside what a reader would use instead, in one
// run on one machine, and holds the ratios to the promises of
// SPECIFICATION.md. Numbers of two runs, let alone of two machines, say little
// beside each other; the ratios of one run do.
//
// Everything is measured in short turns, one after another and over again, so
// that a noisy minute hits all measures alike.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/bench/proc"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/policy"
)

type options struct {
	cordon string // the binary, for cold starts; empty leaves them out
	python string // the interpreter of all measures; empty means cordon's choice
	rival  string // a virtual environment
	json   string
	only   string
	quick  bool
	strict bool
}

func main() {
	var opts options
	flag.StringVar(&opts.cordon, "cordon", "", "the cordon binary, to measure cold starts")
	flag.StringVar(&opts.python, "python", "", "the interpreter to measure with (default: the one that cordon finds)")
	flag.StringVar(&opts.rival, "restrictedpython", ".cache/bench", "the virtual environment that has RestrictedPython")
	flag.StringVar(&opts.json, "json", "", "write the table to this file too")
	flag.BoolVar(&opts.quick, "quick", false, "measure shortly and judge nothing: a smoke test")
	flag.BoolVar(&opts.strict, "strict", false, "exit with 1 when a promise is missed")
	flag.Func("only", "measure only `NAME`, one of "+phaseNames(), opts.choose)
	fetched := flag.String("fetch", "", "be the client of the proxy's measure, for this address")
	flag.Parse()
	if *fetched != "" {
		if err := fetch(*fetched); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	missed, err := runBench(context.Background(), opts)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	if missed && opts.strict {
		os.Exit(1)
	}
}

// phase is a part of the bench that can be measured alone.
type phase struct {
	name string
	// tier is what it measures, with a Runner of its own for commands.
	tier    policy.Tier
	measure func(*bench, context.Context, *table) error
}

// phases in the order of measuring. Memory first: it is the state of a Runner
// that has not run yet.
var phases = []phase{
	{"memory", policy.TierProcess, (*bench).memory},
	{"tuning", policy.TierProcess, (*bench).tuning},
	{"starts", policy.TierProcess, (*bench).starts},
	{"throughput", policy.TierProcess, (*bench).throughput},
	{"processor", policy.TierProcess, (*bench).processor},
	{"hooks", policy.TierProcess, (*bench).hooks},
	{"language", policy.TierProcess, (*bench).language},
	{"commands", policy.TierJail, (*bench).commands},
	{"egress", policy.TierJail, (*bench).egress},
	{"wasm", policy.TierWasm, (*bench).wasm},
	{"http", policy.TierProcess, (*bench).frontendHTTP},
	{"unread", policy.TierProcess, (*bench).unreadHTTP},
	{"mcp", policy.TierProcess, (*bench).frontendMCP},
	{"python", policy.TierProcess, (*bench).pythonAPI},
}

func phaseNames() string {
	names := make([]string, len(phases))
	for i, p := range phases {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}

// choose takes the name that -only gives. One that is wrong would measure
// nothing, and miss nothing.
func (o *options) choose(name string) error {
	if !slices.ContainsFunc(phases, func(p phase) bool { return p.name == name }) {
		return fmt.Errorf("there is no such measure: write one of %s", phaseNames())
	}
	o.only = name
	return nil
}

// chosen are the phases to measure.
func (o *options) chosen() []phase {
	return slices.DeleteFunc(slices.Clone(phases), func(p phase) bool { return o.only != "" && p.name != o.only })
}

// bench is what all measures share.
type bench struct {
	options
	python string // the real binary, not a shim: a shim's start is not Python's
	cores  int
	runner *cordon.Runner
	bwrap  []string // command line up to the interpreter; empty where it does not work

	scripts int // that were made to be run once
}

func runBench(ctx context.Context, opts options) (missed bool, err error) {
	if runtime.GOOS != "linux" {
		return false, errors.New("the process tier, and so this bench, is for Linux")
	}
	found, err := interpreter.Find(interpreter.Search{Python: opts.python})
	if err != nil {
		return false, err
	}
	b := &bench{options: opts, python: found.Path, cores: runtime.NumCPU()}
	if opts.cordon != "" {
		if b.cordon, err = filepath.Abs(opts.cordon); err != nil {
			return false, err
		}
	}
	b.bwrap = findBubblewrap(b.python)
	chosen := opts.chosen()
	// The first one's: for commands alone, no interpreter has to be started.
	b.runner, err = cordon.NewRunnerContext(ctx, cordon.Options{Policy: policy.Policy{Python: b.python}, Tier: chosen[0].tier})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.runner.Close()) }()

	t := table{
		Machine: fmt.Sprintf("%s, %d cores, load %s, uid %d", proc.Machine(), b.cores, proc.Load(), os.Getuid()),
		Python:  found.String(), Go: runtime.Version(), Judged: !opts.quick,
	}
	for _, w := range policy.Walls() {
		if state, ok := b.runner.Enforcement().Walls[w]; ok {
			t.Walls = append(t.Walls, fmt.Sprintf("%s: %s", w, state))
		}
	}
	for _, phase := range chosen {
		fmt.Fprintf(os.Stderr, "measuring: %s\n", phase.name)
		if err := phase.measure(b, ctx, &t); err != nil {
			return false, fmt.Errorf("%s: %w", phase.name, err)
		}
	}
	t.sort()
	if err := t.write(os.Stdout); err != nil {
		return false, err
	}
	if opts.json != "" {
		text, err := json.MarshalIndent(t, "", "  ")
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(opts.json, append(text, '\n'), 0o644); err != nil {
			return false, err
		}
	}
	return t.missed(), nil
}

// few gives the number of rounds: n, or as many as a smoke test needs.
func (b *bench) few(n, quick int) int {
	if b.quick {
		return quick
	}
	return n
}

// findBubblewrap gives the recipe that its documentation begins with: the
// whole file system read-only, all namespaces new. Fewer walls than cordon's
// (no filter, no limits), so its time is flattered.
func findBubblewrap(python string) []string {
	program, err := hostpath.FindProgram("bwrap", hostpath.Writable())
	if err != nil {
		return nil
	}
	for _, recipe := range []string{
		"--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all --die-with-parent",
		"--ro-bind / / --tmpfs /tmp --unshare-all --die-with-parent", // where a container forbids a new /proc
	} {
		line := append([]string{program.Path}, strings.Fields(recipe)...)
		if exec.Command(line[0], append(line[1:], python, "-I", "-S", "-c", "pass")...).Run() == nil {
			return line
		}
	}
	return nil
}
