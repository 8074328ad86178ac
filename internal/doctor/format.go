package doctor

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/policy"
)

const platform = runtime.GOOS + "/" + runtime.GOARCH

var colors = map[State]string{Enforced: "\x1b[32m", Weaker: "\x1b[33m", Missing: "\x1b[31m"}

// Format writes the report for people: facts, one line a wall with the remedy below a
// missing one, and the verdict.
func Format(w io.Writer, r Report, color bool) error {
	var b strings.Builder
	facts := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fact := func(name, format string, args ...any) {
		fmt.Fprintf(facts, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	fact("kernel", "%s (%s)", r.Kernel, r.Platform)
	fact("user", "%s", r.User)
	fact("policy", "%s", r.Policy)
	fact("python", "%s", r.Interpreter)
	fact("latency", "%s", r.Latency)
	if err := facts.Flush(); err != nil {
		return err
	}
	b.WriteString("\n")

	// Aligned by hand: a tabwriter counts the bytes of a color.
	for i, wall := range r.Walls {
		state := string(wall.State)
		if state == "" {
			state = "unknown"
		}
		padded := fmt.Sprintf("%-8s", state)
		if color && wall.State != "" {
			padded = colors[wall.State] + padded + "\x1b[0m"
		}
		note := wall.note()
		cause := r.sameCause(i)
		if cause != "" {
			note = "for the same reason as " + cause
		}
		fmt.Fprintf(&b, "%s\n", strings.TrimRight(fmt.Sprintf("%-12s  %s  %s", wall.Name, padded, note), " "))
		if wall.Remedy != "" && wall.State != Enforced && cause == "" {
			fmt.Fprintf(&b, "%-12s  %-8s  to fix it: %s\n", "", "", wall.Remedy)
		}
	}
	fmt.Fprintf(&b, "\n%s\n", r.Verdict)
	if r.Problem != "" && !strings.Contains(r.Verdict, r.Problem) {
		fmt.Fprintf(&b, "%s\n", r.Problem)
	}
	fmt.Fprintf(&b, "%s\n%s\n%s\n%s\n", r.Commands, r.Modules, r.Modules.Python, r.GVisor.Verdict)
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sameCause names the first wall that is missing for the same reason as wall i: seven
// namespaces fail together, and one remedy is enough.
func (r Report) sameCause(i int) string {
	for _, before := range r.Walls[:i] {
		if w := r.Walls[i]; w.State == Missing && w.note() == before.note() && w.Remedy == before.Remedy {
			return string(before.Name)
		}
	}
	return ""
}

// note follows the state of a wall.
func (w Wall) note() string {
	var parts []string
	if w.Detail != "" {
		parts = append(parts, w.Detail)
	}
	if w.Reason != "" {
		parts = append(parts, w.Reason)
	}
	if w.Name == policy.WallCgroup && w.State == Missing {
		parts = append(parts, "memory is limited by address space instead")
	}
	if w.Required && w.State == Missing {
		parts = append(parts, "required by the policy")
	}
	return strings.Join(parts, "; ")
}

func (u User) String() string {
	switch {
	case u.UID < 0:
		return "unknown"
	case u.UID == u.GuestUID:
		return fmt.Sprintf("uid %d; guests have the same uid", u.UID)
	}
	return fmt.Sprintf("uid %d; guests run as uid %d", u.UID, u.GuestUID)
}

func (i *Interpreter) String() string {
	if i == nil {
		return "none"
	}
	text := "CPython " + i.Version + " at " + i.Path
	switch {
	case i.Shim:
		text = "CPython " + i.Version + " at " + i.Path + ", behind the shim " + i.Found
	case i.Found != i.Path && i.Found != "":
		text = "CPython " + i.Version + " at " + i.Path + ", found as " + i.Found
	}
	if i.VirtualEnv != "" {
		text += ", virtual environment " + i.VirtualEnv
	}
	return text
}

func (l *Latency) String() string {
	if l == nil || l.Runs == 0 {
		return "not measured"
	}
	where := "in a waiting worker"
	if runtime.GOOS != linux {
		where = "including the start of its interpreter"
	}
	return fmt.Sprintf("%v a run %s (median of %d, slowest %v); %v from a cold start",
		rounded(l.P50), where, l.Runs, rounded(l.Max), rounded(l.Start))
}

func rounded(d plainjson.Milliseconds) time.Duration {
	return time.Duration(d).Round(10 * time.Microsecond)
}
