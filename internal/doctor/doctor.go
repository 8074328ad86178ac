// Package doctor reports what this host can enforce under a policy.
//
// It does not guess: Examine starts the real backend and runs scripts in it. If the
// policy requires a wall that the host lacks, the backend refuses to start. Examine then
// starts it under a policy that only prefers these walls, to see which ones stand, and
// still reports failure.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/process"
	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/landlock"
	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Report is the result of Examine, and its JSON form.
type Report struct {
	// OK means that scripts run here under this policy.
	OK      bool   `json:"ok"`
	Verdict string `json:"verdict"`
	// Problem says why they do not, and Class is its class.
	Problem string    `json:"problem,omitempty"`
	Class   run.Class `json:"class,omitempty"`

	Policy      string       `json:"policy"`
	Tier        policy.Tier  `json:"tier"`
	Kernel      string       `json:"kernel"`
	Platform    string       `json:"platform"`
	User        User         `json:"user"`
	Interpreter *Interpreter `json:"interpreter"`
	Latency     *Latency     `json:"latency"`
	Walls       []Wall       `json:"walls"`
	// ViolationsObserved is false if the kernel denies calls without reporting them to
	// us.
	ViolationsObserved bool `json:"violations_observed"`
	// Commands, Modules and GVisor are about other tiers; OK does not depend on them.
	Commands Commands `json:"commands"`
	Modules  Modules  `json:"modules"`
	GVisor   GVisor   `json:"gvisor"`
	// Notes are facts about the walls of this operating system.
	Notes []string `json:"notes,omitempty"`
}

// User is the user of cordon and of its guests.
type User struct {
	UID      int `json:"uid"`
	GuestUID int `json:"guest_uid"`
}

// Interpreter is the Python that guests run on.
type Interpreter struct {
	// Found is the path that was named or found first; Path is the real binary.
	Found   string `json:"found"`
	Path    string `json:"path"`
	Version string `json:"version"`
	// Shim means that Found is a script or link of a version manager.
	Shim       bool   `json:"shim"`
	VirtualEnv string `json:"virtual_env,omitempty"`
}

// Latency is the measured cost of runs on this host.
type Latency struct {
	// Start is the time from starting the backend to the end of the first run.
	Start plainjson.Milliseconds `json:"start_ms"`
	Runs  int                    `json:"runs"`
	// P50 and Max are of runs in workers that were forked ahead. Other systems than Linux
	// have none: each run starts an interpreter.
	P50 plainjson.Milliseconds `json:"p50_ms"`
	Max plainjson.Milliseconds `json:"max_ms"`
}

// State of a wall.
type State = policy.WallState

// The states of a wall. A weaker wall stands, but an older kernel leaves gaps in it.
const (
	Enforced       = policy.Enforced
	Weaker   State = "weaker"
	Missing        = policy.Missing
)

// Wall is one mechanism on this host.
type Wall struct {
	Name policy.Wall `json:"name"`
	// State is empty if it is unknown.
	State State `json:"state"`
	// Required means that the policy runs nothing without it.
	Required bool   `json:"required"`
	Detail   string `json:"detail,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Remedy   string `json:"remedy,omitempty"`
}

// warmRuns is how many runs are measured.
const warmRuns = 20

// probeScript uses the guest's interpreter, and its result is checked.
const probeScript = "import sys\nresult = {'sum': context['a'] + 1, 'version': sys.version.split()[0]}"

// Examine starts the tiers under p and reports which walls stand. The named tier is
// tested in full.
func Examine(ctx context.Context, p policy.Policy, tier policy.Tier) Report {
	report := examineScripts(ctx, p)
	report.Commands = examineCommands(ctx, p)
	report.Modules = examineModules(ctx, p, tier == policy.TierWasm)
	report.GVisor = examineGVisor(ctx, p, tier == policy.TierGVisor)
	return report
}

func examineScripts(ctx context.Context, p policy.Policy) Report {
	report := begin(p)
	began := time.Now()
	// With one worker forked ahead, it measures a run and not a pool.
	b, err := process.New(ctx, process.Options{Policy: p, Idle: 2})
	if errors.Is(err, run.ErrUnsupported) {
		report.fail(err)
		began = time.Now()
		if b, err = process.New(ctx, process.Options{Policy: relaxed(p), Idle: 2}); err != nil {
			return report.judged(p)
		}
	} else if err != nil {
		report.fail(err)
		return report.judged(p)
	}
	report.see(b.Plan(), b.Interpreter(), p)
	if err := errors.Join(report.measure(ctx, b, p, began), b.Close()); err != nil {
		report.fail(err)
	}
	return report.judged(p)
}

// begin returns what is known before anything starts.
func begin(p policy.Policy) Report {
	f := hostfeature.Quick()
	r := Report{
		Policy: p.Name, Tier: policy.TierProcess, Kernel: f.Kernel, Platform: platform, Notes: notes(runtime.GOOS),
		User: User{UID: f.UID, GuestUID: f.UID},
	}
	if r.Policy == "" {
		r.Policy = "default"
	}
	for _, w := range policy.Walls() {
		r.Walls = append(r.Walls, Wall{Name: w, Required: slices.Contains(p.Required(), w)})
	}
	if runtime.GOOS != linux {
		r.Walls = otherWalls(runtime.GOOS, nil, p)
	}
	return r
}

func (r *Report) fail(err error) {
	if r.Problem == "" {
		r.Problem, r.Class = err.Error(), run.ClassOf(err)
	}
}

// relaxed prefers what p requires.
func relaxed(p policy.Policy) policy.Policy {
	p.Prefer, p.Require = p.Required(), nil
	return p
}

// see records what the backend built.
func (r *Report) see(plan confine.Plan, python interpreter.Interpreter, p policy.Policy) {
	r.User.GuestUID = plan.UID
	r.ViolationsObserved = plan.Seccomp == confine.SeccompNotify
	r.Interpreter = &Interpreter{
		Found: python.Found, Path: python.Path, Version: fmt.Sprintf("%d.%d", python.Version[0], python.Version[1]),
		Shim: isShim(python), VirtualEnv: python.VirtualEnv,
	}
	if runtime.GOOS != linux {
		r.Walls = otherWalls(runtime.GOOS, plan.Walls, p)
		return
	}
	r.Walls = walls(plan, p, hostfeature.Quick().SeccompNotify)
}

// isShim reports that Found is neither the binary nor a plain link beside it.
func isShim(python interpreter.Interpreter) bool {
	return strings.Contains(python.Found, "/shims/")
}

// walls is pure: it orders and words the plan's report.
func walls(plan confine.Plan, p policy.Policy, notify hostfeature.Support) []Wall {
	required := p.Required()
	var all []Wall
	for _, name := range policy.Walls() {
		w := Wall{Name: name, Required: slices.Contains(required, name)}
		if s, gone := plan.Missing[name]; gone {
			w.State, w.Reason, w.Remedy = Missing, s.Reason, s.Remedy
		} else if status := plan.Walls[name]; status.Enforced() {
			w.State, w.Detail = Enforced, status.Detail
		}
		w.weaken(plan, notify)
		all = append(all, w)
	}
	return all
}

// weaken knows the gaps that older kernels leave in a wall.
func (w *Wall) weaken(plan confine.Plan, notify hostfeature.Support) {
	if w.State != Enforced {
		return
	}
	switch {
	case w.Name == policy.WallSeccomp && plan.Seccomp == confine.SeccompErrno:
		w.State, w.Reason, w.Remedy = Weaker, "calls are denied, but not reported", notify.Remedy
	case w.Name == policy.WallLandlock && plan.LandlockGaps != "":
		w.State, w.Reason, w.Remedy = Weaker, plan.LandlockGaps, "use "+landlock.LastGap+" or newer"
		w.Detail = fmt.Sprintf("ABI %d", plan.Landlock)
	}
}

// measure runs scripts, one after the other.
func (r *Report) measure(ctx context.Context, b *process.Backend, p policy.Policy, began time.Time) error {
	limits := p.Resolved().Limits
	var times []time.Duration
	for range warmRuns {
		version, took, err := once(ctx, b, limits)
		if err != nil {
			return err
		}
		if r.Latency == nil {
			r.Latency = &Latency{Start: plainjson.Milliseconds(time.Since(began))}
			r.Interpreter.Version = version
		}
		times = append(times, took)
	}
	slices.Sort(times)
	r.Latency.Runs = len(times)
	r.Latency.P50, r.Latency.Max = plainjson.Milliseconds(times[len(times)/2]), plainjson.Milliseconds(times[len(times)-1])
	return nil
}

// once runs the probe and checks its result. The clock starts when a worker is available:
// on a busy host, forking takes a while.
func once(ctx context.Context, b *process.Backend, limits policy.Limits) (version string, took time.Duration, err error) {
	job := backend.Job{
		Request: run.Request{Script: run.Script{Source: probeScript, Context: map[string]any{"a": 41}}}, Limits: limits, OnOutputLimit: policy.OutputTruncate,
	}
	sandbox, err := b.Open(ctx, job)
	if err != nil {
		return "", 0, err
	}
	defer func() { err = errors.Join(err, sandbox.Close()) }()
	started := time.Now()
	res, err := sandbox.Run(ctx, job)
	took = time.Since(started)
	if err != nil {
		return "", 0, err
	}
	version, err = probed(res)
	return version, took, err
}

// probed checks the result of the probe and returns the version.
func probed(res run.Result) (version string, err error) {
	var answer struct {
		Sum     int    `json:"sum"`
		Version string `json:"version"`
	}
	if !res.OK() {
		return "", run.Errorf(run.Unsupported, "a test script does not run here: %s: %s", res.Outcome, res.Error)
	}
	if err := res.Decode(&answer); err != nil || answer.Sum != 42 {
		return "", run.Errorf(run.Unsupported, "a test script gave the wrong result: %s", res.Value)
	}
	return answer.Version, nil
}

// judged fills in the verdict.
func (r Report) judged(p policy.Policy) Report {
	standing := 0
	for _, w := range r.Walls {
		if w.State == Enforced || w.State == Weaker {
			standing++
		}
	}
	unmet := r.unmet(p)
	switch {
	case r.Problem != "" && standing == 0:
		r.Verdict = "the process tier does not work here: " + r.Problem
	case len(unmet) > 0:
		r.Verdict = fmt.Sprintf("the process tier is refused under this policy: it requires %s, and %d of %d walls stand here",
			strings.Join(unmet, ", "), standing, len(r.Walls))
	case r.Problem != "":
		r.Verdict = "the process tier does not work here: " + r.Problem
	default:
		r.OK = true
		r.Verdict = fmt.Sprintf("the process tier works here with %d of %d walls", standing, len(r.Walls))
	}
	return r
}

// unmet lists the walls that the policy requires and this host lacks.
func (r Report) unmet(p policy.Policy) []string {
	if runtime.GOOS != linux {
		return r.unmetElsewhere(p)
	}
	var unmet []string
	for _, need := range p.Required() {
		if need == policy.WallLanguage {
			continue // every host has it
		}
		met := slices.ContainsFunc(need.Alternatives(), func(alternative policy.Wall) bool {
			return slices.ContainsFunc(r.Walls, func(w Wall) bool {
				return w.Name == alternative && (w.State == Enforced || w.State == Weaker)
			})
		})
		if !met {
			unmet = append(unmet, string(need))
		}
	}
	return unmet
}
