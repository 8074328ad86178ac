// Command bench measures cordon and its alternatives in one run on one machine, and compares
// the ratios with the promises of SPECIFICATION.md. Numbers of two runs, or of two machines,
// cannot be compared; the ratios of one run can.
//
// Everything is measured in short, alternating turns, so that a noisy minute affects all
// measures equally.
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
	cordon string // the binary for cold starts; if empty, they are left out
	python string // the interpreter of all measures; if empty, cordon's choice
	rival  string // the virtual environment with RestrictedPython
	json   string
	only   string
	quick  bool
	strict bool
	growth bool
	peers  bool
}

func main() {
	var opts options
	flag.StringVar(&opts.cordon, "cordon", "", "the cordon binary, to measure cold starts")
	flag.StringVar(&opts.python, "python", "", "the interpreter to measure with (default: the one that cordon finds)")
	flag.StringVar(&opts.rival, "restrictedpython", ".cache/bench", "the virtual environment that has RestrictedPython")
	flag.StringVar(&opts.json, "json", "", "also write the table to this file")
	flag.BoolVar(&opts.quick, "quick", false, "a smoke test: few rounds and no verdicts")
	flag.BoolVar(&opts.strict, "strict", false, "exit with 1 when a promise is missed")
	flag.BoolVar(&opts.growth, "growth", false, fmt.Sprintf("instead, double quantities %d times, and exit with 1 when the cost for each unit grows by more than %v ×", doublings, maxGrowth))
	flag.BoolVar(&opts.peers, "peers", false, "also measure sandlock and Monty, which scripts/setup peers installs")
	flag.StringVar(&opts.only, "only", "", "measure only `NAME`, one of "+phaseNames(phases)+"; with -growth, one of "+phaseNames(growthPhases))
	fetched := flag.String("fetch", "", "run the client of the proxy measure, for this address")
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
	if missed && (opts.strict || opts.growth) {
		os.Exit(1)
	}
}

// phase is a part of the bench that can be measured alone.
type phase struct {
	name string
	// tier is the tier that it measures; commands have a separate Runner.
	tier    policy.Tier
	measure func(*bench, context.Context, *table) error
}

// phases are in the order of measuring. Memory is first: it needs a Runner that has not run
// anything yet.
var phases = []phase{
	{"memory", policy.TierProcess, (*bench).memory},
	{"tuning", policy.TierProcess, (*bench).tuning},
	{"starts", policy.TierProcess, (*bench).starts},
	{"throughput", policy.TierProcess, (*bench).throughput},
	{"processor", policy.TierProcess, (*bench).processor},
	{"numpy", policy.TierProcess, (*bench).numpy},
	{"failures", policy.TierProcess, (*bench).failures},
	{"limits", policy.TierProcess, (*bench).otherLimits},
	{"imports", policy.TierProcess, (*bench).imports},
	{"data", policy.TierProcess, (*bench).data},
	{"grants", policy.TierProcess, (*bench).manyGrants},
	{"hooks", policy.TierProcess, (*bench).hooks},
	{"sessions", policy.TierProcess, (*bench).sessions},
	{"language", policy.TierProcess, (*bench).language},
	{"commands", policy.TierJail, (*bench).commands},
	{"landlock", policy.TierJail, (*bench).sharedCommands},
	{"gvisor", policy.TierProcess, (*bench).gvisor},
	{"egress", policy.TierJail, (*bench).egress},
	{"wasm", policy.TierWasm, (*bench).wasm},
	{"http", policy.TierProcess, (*bench).frontendHTTP},
	{"unread", policy.TierProcess, (*bench).unreadHTTP},
	{"mcp", policy.TierProcess, (*bench).frontendMCP},
	{"frontends", policy.TierProcess, (*bench).frontends},
	{"python", policy.TierProcess, (*bench).pythonAPI},
}

func phaseNames(phases []phase) string {
	names := make([]string, len(phases))
	for i, p := range phases {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}

// chosen returns the phases to measure. An unknown name is an error: it would measure
// nothing, and so miss no promise.
func (o *options) chosen() ([]phase, error) {
	all := phases
	switch {
	case o.growth:
		all = growthPhases
	case o.peers:
		all = append(slices.Clone(phases), peersPhase)
	}
	if o.only == "" {
		return all, nil
	}
	chosen := slices.DeleteFunc(slices.Clone(all), func(p phase) bool { return p.name != o.only })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("-only %s: unknown name: write one of %s", o.only, phaseNames(all))
	}
	return chosen, nil
}

// bench is the state that all measures share.
type bench struct {
	options
	python string // the real binary, not a shim, which takes longer to start
	cores  int
	runner *cordon.Runner
	bwrap  []string // command line up to the interpreter; empty if it does not work

	scripts int // the number of scripts that were made for one run
}

func runBench(ctx context.Context, opts options) (missed bool, err error) {
	if runtime.GOOS != "linux" {
		return false, errors.New("the bench needs the process tier, which is for Linux")
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
	chosen, err := opts.chosen()
	if err != nil {
		return false, err
	}
	// From the first Runner: commands need no interpreter.
	b.runner, err = cordon.NewRunnerContext(ctx, cordon.Options{Policy: policy.Policy{Python: b.python}, Tier: chosen[0].tier})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, b.runner.Close()) }()

	t := table{
		Machine: fmt.Sprintf("%s, %d cores, load %s, uid %d", proc.Machine(), b.cores, proc.Load(), os.Getuid()),
		Python:  found.String(), Go: runtime.Version(), Judged: !opts.quick, Growth: opts.growth,
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

// few returns the number of rounds: n, or the number for a smoke test.
func (b *bench) few(n, quick int) int {
	if b.quick {
		return quick
	}
	return n
}

// findBubblewrap returns the first recipe of bubblewrap's documentation: the whole file
// system read-only, all namespaces new. It has fewer walls than cordon (no filter, no
// limits), so it has less to do.
func findBubblewrap(python string) []string {
	program, err := hostpath.FindProgram("bwrap", hostpath.Writable())
	if err != nil {
		return nil
	}
	for _, recipe := range []string{
		"--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --unshare-all --die-with-parent",
		"--ro-bind / / --tmpfs /tmp --unshare-all --die-with-parent", // for containers that forbid a new /proc
	} {
		line := append([]string{program.Path}, strings.Fields(recipe)...)
		if exec.Command(line[0], append(line[1:], python, "-I", "-S", "-c", "pass")...).Run() == nil {
			return line
		}
	}
	return nil
}
