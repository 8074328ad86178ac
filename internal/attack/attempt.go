package attack

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

//go:embed scripts scripts/_prelude.py scripts/_syscall.py scripts/_memory.py
var scripts embed.FS

// Held in Attempt.Expect means that the run finished without an escape.
const Held run.Outcome = "held"

// Attempt is one attempt to break one promise of the sandbox.
type Attempt struct {
	// Name is "area/name"; Title is the attack in one line.
	Name, Area, Title string
	// Class is the number of the attempt's class among known failures of sandboxes, or 0.
	Class int
	// Walls lists the walls that stop the attempt. Any one of them is enough.
	Walls []policy.Wall
	// Needs lists helpers and conditions: scratch, syscall, memory, threads.
	Needs []string
	// Absent lists modules, and functions of modules, that WebAssembly does not have. An
	// attempt that needs one is impossible there, so it counts as held.
	Absent []string
	// GVisor says what the attempt reaches on gVisor's own kernel, where it may succeed: nothing
	// of the host. Empty if it must not succeed there either.
	GVisor string
	// Expect lists the ends that the attempt may have: Held, or outcomes.
	Expect []run.Outcome
	// Limits are the limits of the run. A zero field means the policy's limit.
	Limits policy.Limits
	// Alone means that no other attempt may run at the same time, because the evidence
	// or the load concerns the whole host process.
	Alone bool
	// Naked says how a test may run the attempt without walls, to show that it can
	// succeed.
	Naked Naked
	// Script is the complete source, with the header and all runs.
	Script string
}

// Naked is how a test may run an attempt without any sandbox.
type Naked struct {
	// As is "yes" for an unprivileged uid, "same-uid" for the uid of the host process,
	// "root", or "no".
	As string
	// Maybe allows the attempt to fail: the kernel may lack the feature.
	Maybe bool
	// Reason is required with "no" and "maybe".
	Reason string
}

// nextRun is the line between two runs of a script.
const nextRun = "# --- next run ---\n"

// absentName matches a module, or a name in one.
var absentName = regexp.MustCompile(`^[a-z_]+(\.\w+)?$`)

var knownNeeds = []string{"scratch", "syscall", "memory", "threads"}

// All reads every embedded attempt, in the order of their names.
func All() ([]Attempt, error) {
	var all []Attempt
	err := fs.WalkDir(scripts, "scripts", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), "_") || path.Ext(file) != ".py" {
			return err
		}
		source, err := scripts.ReadFile(file)
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(file, "scripts/"), ".py")
		a, err := parse(name, string(source))
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		all = append(all, a)
		return nil
	})
	return all, err
}

// Runs returns the programs to run one after another, each with the helpers.
func (a Attempt) Runs() ([]string, error) {
	prelude, err := scripts.ReadFile("scripts/_prelude.py")
	if err != nil {
		return nil, err
	}
	for _, need := range []string{"syscall", "memory"} {
		if !slices.Contains(a.Needs, need) {
			continue
		}
		more, err := scripts.ReadFile("scripts/_" + need + ".py")
		if err != nil {
			return nil, err
		}
		prelude = append(prelude, more...)
	}
	if len(a.Absent) > 0 {
		prelude = fmt.Appendf(prelude, "lacks(%s)\n", quoted(a.Absent))
	}
	var programs []string
	for part := range strings.SplitSeq(a.Script, nextRun) {
		programs = append(programs, string(prelude)+part)
	}
	return programs, nil
}

// quoted returns names, which parse has checked, as Python string literals.
func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

// mayBeAbsent reports whether the attempt may claim that a name does not exist: a name in
// its header, or one that its helpers need.
func (a Attempt) mayBeAbsent(name string) bool {
	switch name {
	case "ctypes":
		return slices.Contains(a.Needs, "syscall")
	case "threads":
		return slices.Contains(a.Needs, "threads")
	}
	return slices.Contains(a.Absent, name)
}

// parse reads a script. It is strict: a mistyped key would silently weaken a test.
func parse(name, source string) (Attempt, error) {
	a := Attempt{Name: name, Area: path.Dir(name), Script: source, Naked: Naked{As: "yes"}}
	seen := map[string]bool{}
	for line := range strings.Lines(source) {
		text, comment := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "# ")
		if !comment {
			break
		}
		key, value, found := strings.Cut(text, ": ")
		value = strings.TrimSpace(value)
		if !found || value == "" {
			return a, fmt.Errorf("header line %q is not \"key: value\"", text)
		}
		if seen[key] {
			return a, fmt.Errorf("header has %q twice", key)
		}
		seen[key] = true
		if err := a.set(key, value); err != nil {
			return a, fmt.Errorf("header %s: %w", key, err)
		}
	}
	for _, key := range []string{"attack", "class", "walls"} {
		if !seen[key] {
			return a, fmt.Errorf("header lacks %q", key)
		}
	}
	if len(a.Expect) == 0 {
		a.Expect = []run.Outcome{Held}
	}
	if !strings.Contains(source, "result = ") {
		return a, fmt.Errorf("does not set result")
	}
	return a, nil
}

func (a *Attempt) set(key, value string) error {
	switch key {
	case "attack":
		a.Title = value
	case "class":
		class, err := strconv.Atoi(value)
		if err != nil || class < 0 || class > 23 {
			return fmt.Errorf("%q is not a class: 0 to 23", value)
		}
		a.Class = class
	case "walls":
		for _, w := range strings.Fields(value) {
			if !slices.Contains(policy.Walls(), policy.Wall(w)) {
				return fmt.Errorf("%q is not a wall", w)
			}
			a.Walls = append(a.Walls, policy.Wall(w))
		}
	case "needs":
		a.Needs = strings.Fields(value)
		for _, n := range a.Needs {
			if !slices.Contains(knownNeeds, n) {
				return fmt.Errorf("%q is unknown: write one of %v", n, knownNeeds)
			}
		}
	case "absent":
		for _, name := range strings.Fields(value) {
			if !absentName.MatchString(name) {
				return fmt.Errorf("%q is neither a module nor a name in one", name)
			}
			a.Absent = append(a.Absent, name)
		}
	case "gvisor":
		a.GVisor = value
	case "expect":
		for _, word := range strings.Fields(value) {
			outcome, isOutcome := strings.CutPrefix(word, "outcome:")
			switch o := run.Outcome(outcome); {
			case o == Held && !isOutcome:
			case isOutcome && slices.Contains(run.Outcomes(), o):
			default:
				return fmt.Errorf("%q is neither held nor outcome:NAME", word)
			}
			a.Expect = append(a.Expect, run.Outcome(outcome))
		}
	case "limits":
		return a.setLimits(value)
	case "alone":
		a.Alone = value == "yes"
		if !a.Alone {
			return fmt.Errorf("%q: write yes or leave it out", value)
		}
	case "naked":
		return a.Naked.parse(value)
	default:
		return fmt.Errorf("is not a key")
	}
	return nil
}

func (a *Attempt) setLimits(value string) error {
	for _, pair := range strings.Fields(value) {
		field, text, _ := strings.Cut(pair, "=")
		limit, known := policy.LimitNamed(field)
		if !known {
			return fmt.Errorf("%q is not a limit", field)
		}
		amount, err := limit.Parse(text)
		if err != nil {
			return err
		}
		limit.Set(&a.Limits, amount)
	}
	return nil
}

func (n *Naked) parse(value string) error {
	n.As, n.Reason, _ = strings.Cut(value, " ")
	if !slices.Contains([]string{"yes", "same-uid", "root", "no"}, n.As) {
		return fmt.Errorf("%q is not yes, same-uid, root or no", n.As)
	}
	n.Reason, n.Maybe = strings.CutPrefix(n.Reason, "maybe ")
	if n.Reason == "" && (n.As == "no" || n.Maybe) {
		return fmt.Errorf("%q gives no reason", value)
	}
	if n.Reason != "" && n.As != "no" && !n.Maybe {
		return fmt.Errorf("%q: only no and maybe take a reason", value)
	}
	return nil
}
