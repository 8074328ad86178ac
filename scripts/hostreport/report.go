package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A host is a line of scripts/hosts.d/hosts.
type host struct{ name, what string }

type hostList []host

func (l hostList) find(name string) (host, bool) {
	i := slices.IndexFunc(l, func(h host) bool { return h.name == name })
	if i < 0 {
		return host{}, false
	}
	return l[i], true
}

// parseHosts reads lines like "6.1 | root | what it is | tests".
func parseHosts(text string) hostList {
	var hosts hostList
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if strings.HasPrefix(line, "#") || len(cells) < 3 {
			continue
		}
		name := strings.TrimSpace(cells[0]) + "-" + strings.TrimSpace(cells[1])
		hosts = append(hosts, host{name, strings.TrimSpace(cells[2])})
	}
	return hosts
}

// A report is what one host printed.
type report struct {
	host     string
	doctor   *doctorReport
	outcomes map[string]string // of a script and a command that take too much memory
	states   map[string]string // of attempts
	tests    map[string]bool   // whether each passed
	details  []string          // of attempts that were not stopped
}

// A doctorReport is the part of `cordon doctor --json` that the table shows.
type doctorReport struct {
	OK     bool   `json:"ok"`
	Kernel string `json:"kernel"`
	Walls  []struct {
		Name  string `json:"name"`
		State string `json:"state"`
	} `json:"walls"`
	Commands struct {
		OK      bool   `json:"ok"`
		Verdict string `json:"verdict"`
	} `json:"commands"`
}

// readLog returns the reports of a machine's log, in order. Hosts start with "== KIND";
// "@ KIND WHAT …" is a report.
func readLog(machine, log string) []*report {
	var reports []*report
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if kind, ok := strings.CutPrefix(line, "== "); ok {
			reports = append(reports, &report{
				host: machine + "-" + kind, outcomes: map[string]string{}, states: map[string]string{}, tests: map[string]bool{},
			})
		}
		words := strings.SplitN(line, " ", 4)
		if len(words) == 4 && words[0] == "@" && len(reports) > 0 {
			reports[len(reports)-1].add(words[2], words[3])
		}
	}
	return reports
}

func (r *report) add(what, text string) {
	var one struct {
		Name, State, Detail, Outcome string
	}
	switch what {
	case "doctor":
		var d doctorReport
		if json.Unmarshal([]byte(text), &d) == nil {
			r.doctor = &d
		}
	case "script", "command":
		if json.Unmarshal([]byte(text), &one) == nil {
			r.outcomes[what] = one.Outcome
		}
	case "proof":
		// An attempt that broke is made again. One that escaped once has escaped.
		if json.Unmarshal([]byte(text), &one) == nil && r.states[one.Name] != "escaped" {
			r.states[one.Name] = one.State
			if one.State == "escaped" || one.State == "broken" {
				r.details = append(r.details, fmt.Sprintf("%s: %s: %s", one.State, one.Name, one.Detail))
			}
		}
	case "test":
		name, state, _ := strings.Cut(text, " ")
		r.tests[name] = state == "passed"
	}
}

// count counts the attempts in a state.
func (r *report) count(state string) int {
	n := 0
	for _, s := range r.states {
		if s == state {
			n++
		}
	}
	return n
}

// problems are failures whatever the table says.
func (r *report) problems() []string {
	var all []string
	if r.doctor == nil && len(r.tests) == 0 {
		all = append(all, "it reported nothing")
	}
	if n := r.count("escaped") + r.count("broken"); n > 0 {
		all = append(all, r.details...)
	}
	for name, passed := range r.tests {
		if !passed {
			all = append(all, "the test "+name+" failed")
		}
	}
	slices.Sort(all)
	return all
}

// row returns the cells of the table.
func (r *report) row(what string) row {
	cells := row{r.host, what, "–", "–", "–", "–", "–", r.attempts(), r.passed()}
	if d := r.doctor; d != nil {
		version := strings.SplitN(d.Kernel, ".", 3)
		cells[2] = strings.Join(version[:min(2, len(version))], ".")
		cells[3], cells[4], cells[5] = d.walls(), d.scripts(), d.commands()
		cells[6] = "scripts: " + r.memory("script") + "; commands: " + r.memory("command")
	}
	return cells
}

func (d *doctorReport) state(wall string) string {
	for _, w := range d.Walls {
		if w.Name == wall {
			return w.State
		}
	}
	return ""
}

// walls is like "13 of 15, weaker: landlock; no mount, cgroup".
func (d *doctorReport) walls() string {
	var missing, weaker []string
	for _, w := range d.Walls {
		switch w.State {
		case "enforced":
		case "weaker":
			weaker = append(weaker, w.Name)
		default:
			missing = append(missing, w.Name)
		}
	}
	text := fmt.Sprintf("%d of %d", len(d.Walls)-len(missing), len(d.Walls))
	if len(weaker) > 0 {
		text += ", weaker: " + strings.Join(weaker, ", ")
	}
	if len(missing) > 0 {
		text += "; no " + strings.Join(missing, ", ")
	}
	return text
}

func (d *doctorReport) scripts() string {
	if !d.OK {
		return "refused"
	}
	return "run"
}

func (d *doctorReport) commands() string {
	switch {
	case !d.Commands.OK:
		return "refused"
	case strings.Contains(d.Commands.Verdict, "jail: landlock"):
		return "run (`jail: landlock`)"
	}
	return "run"
}

// memory says what limits the memory of a script or a command: it took too much, and was
// ended or not.
func (r *report) memory(guest string) string {
	outcome, d := r.outcomes[guest], r.doctor
	switch {
	case guest == "script" && !d.OK, guest == "command" && !d.Commands.OK:
		return "–"
	case outcome != "out_of_memory":
		return "**not limited** (" + outcome + ")"
	case guest == "command" && strings.Contains(d.Commands.Verdict, "memory is watched"):
		return "watched"
	case guest == "script" && d.state("cgroup") != "enforced":
		return "address space"
	}
	return "cgroup"
}

// attempts is like "212 held, 15 skipped".
func (r *report) attempts() string {
	var parts []string
	for _, state := range []string{"held", "escaped", "broken", "slow", "skipped"} {
		if n := r.count(state); n > 0 || state == "held" && len(r.states) > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if len(parts) == 0 {
		return "–"
	}
	return strings.Join(parts, ", ")
}

// passed lists the tests that passed.
func (r *report) passed() string {
	var names []string
	for name, passed := range r.tests {
		if passed {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "–"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
