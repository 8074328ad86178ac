package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/jail"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/internal/zygote"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// evidence is all that is known about a run that is over.
type evidence struct {
	zygote.Ending
	Limits   policy.Limits
	OOMKills int
	Plan     jail.Plan
}

// judge draws the conclusion. It is pure: the same evidence gives the same
// Result. What the host saw goes before what the guest says.
func judge(e evidence) (run.Result, error) {
	r := output.Result(e.Stdout, e.Stderr)
	r.Usage.WallTime, r.Usage.CPUTime, r.Usage.Memory = policy.Duration(e.WallTime), policy.Duration(e.CPUTime), e.Memory
	r.Violations = e.Violations
	switch {
	case e.Orphaned && e.Report == nil && e.Killed == "":
		return run.Result{}, run.Errorf(run.Internal, "the fork server died while the guest ran")
	case e.Killed == zygote.KilledOutput:
		end(&r, run.OutOfOutput, "SIGKILL", fmt.Sprintf("output limit of %v reached", e.Limits.Output))
	case e.Report == nil && e.killed(&r), e.Report == nil && e.died(&r):
	case errors.Is(e.Malformed, wire.ErrValue):
		end(&r, run.InvalidOutput, "", e.Malformed.Error())
	case e.Malformed != nil:
		end(&r, run.InvalidOutput, "", "the guest wrote to its result channel: "+e.Malformed.Error())
	default:
		observed := r
		if err := e.reported(&r); err != nil {
			r = observed
			end(&r, run.InvalidOutput, "", "the guest wrote to its result channel: "+err.Error())
		}
	}
	r.Status, r.ErrorType = r.Outcome.Status(), r.Outcome.ErrorType()
	return r, nil
}

func end(r *run.Result, o run.Outcome, signal, message string) {
	r.Outcome, r.Signal, r.Error = o, signal, message
}

// killed: the guest is dead because we wanted it so.
func (e evidence) killed(r *run.Result) bool {
	switch e.Killed {
	case zygote.KilledWall:
		end(r, run.TimedOut, "SIGKILL", fmt.Sprintf("wall time limit of %v reached", e.Limits.WallTime))
	case zygote.KilledCPU:
		end(r, run.OutOfCPU, "SIGKILL", fmt.Sprintf("processor time limit of %v reached", e.Limits.CPUTime))
	case zygote.KilledCanceled:
		end(r, run.Canceled, "SIGKILL", "the caller canceled the run")
	case zygote.KilledHammering:
		end(r, run.Denied, "SIGKILL", "the guest kept trying what the sandbox denies")
	case zygote.KilledChannel:
		end(r, run.InvalidOutput, "SIGKILL", "the guest closed its result channel")
	default:
		return false
	}
	return true
}

// died: the guest's process ended by itself, without a report.
func (e evidence) died(r *run.Result) bool {
	switch exit := e.Exit; {
	case exit == nil:
		return false
	case e.OOMKills > 0:
		end(r, run.OutOfMemory, exit.Signal, fmt.Sprintf("memory limit of %v reached", e.Limits.Memory))
	case (exit.Signal == "SIGXCPU" || exit.Signal == "SIGKILL") && e.CPUTime >= e.Limits.CPUTime.Std():
		end(r, run.OutOfCPU, exit.Signal, fmt.Sprintf("processor time limit of %v reached", e.Limits.CPUTime))
	case exit.Signal == "SIGSYS":
		// The filter kills for one thing only, but nothing tells its signal from
		// one that the guest has sent itself.
		end(r, run.Signaled, exit.Signal, "the guest was ended by SIGSYS, as programs are that make system calls through a foreign ABI")
	case exit.Signal != "":
		end(r, run.Signaled, exit.Signal, "the guest crashed with "+exit.Signal)
	case exit.Code == 0:
		r.Outcome, r.ExitCode = run.Succeeded, &exit.Code
	default:
		end(r, run.Exited, "", fmt.Sprintf("the guest left with exit code %d", exit.Code))
		r.ExitCode = &exit.Code
	}
	return true
}

// reported reads the guest's own report.
func (e evidence) reported(r *run.Result) error {
	ending, err := e.Report.Get("end").Text()
	if err != nil {
		return err
	}
	code, err := e.Report.Get("code").Int()
	if err != nil {
		return err
	}
	exitCode := int(uint8(code))
	r.ExitCode = &exitCode
	if raw := e.Report.Get("variables"); raw != nil {
		if r.Variables, err = variablesOf(raw); err != nil {
			return err
		}
	}
	switch ending {
	case "checked", "opened":
		r.Outcome = run.Succeeded
	case "refused":
		return refused(r, e.Report)
	case "ok":
		r.Outcome = run.Succeeded
		value, err := e.Report.Get("result").AppendJSON(nil, "result", run.MaxPayload)
		switch {
		case errors.Is(err, wire.ErrValue), errors.Is(err, wire.ErrTooDeep), errors.Is(err, wire.ErrTooLarge):
			end(r, run.InvalidOutput, "", err.Error())
		case err != nil:
			return err
		default:
			r.Value = value
		}
	case "invalid":
		message, err := e.Report.Get("message").Text()
		if err != nil {
			return err
		}
		end(r, run.InvalidOutput, "", message)
	case "exit":
		end(r, run.Exited, "", fmt.Sprintf("the script left with exit code %d", exitCode))
	case "syntax", "raised":
		return e.raised(r, ending)
	default:
		return fmt.Errorf("%q is not an ending", ending)
	}
	return nil
}

// refused: the language rules have seen the script, and nothing of it ran.
func refused(r *run.Result, report wire.Dict) error {
	findings, err := findingsOf(report)
	if err != nil {
		return err
	}
	for _, f := range findings {
		r.Violations = append(r.Violations, f.Violation())
	}
	end(r, run.Refused, "", run.DescribeFindings(findings))
	return nil
}

// findingsOf reads the findings of a report.
func findingsOf(report wire.Dict) ([]run.Finding, error) {
	list, err := report.Get("findings").List()
	if err != nil {
		return nil, err
	}
	findings := make([]run.Finding, len(list))
	for i, item := range list {
		fields, err := item.List()
		if err != nil {
			return nil, err
		}
		if len(fields) != 6 {
			return nil, fmt.Errorf("a finding has %d fields", len(fields))
		}
		f := &findings[i]
		for i, text := range map[int]*string{0: &f.Rule, 3: &f.Reason, 4: &f.Hint} {
			if *text, err = fields[i].Text(); err != nil {
				return nil, err
			}
		}
		for i, number := range map[int]*int{1: &f.Line, 2: &f.Column} {
			n, err := fields[i].Int()
			if err != nil {
				return nil, err
			}
			*number = int(n)
		}
		if f.Allowed, err = fields[5].TextList(); err != nil {
			return nil, err
		}
	}
	return findings, nil
}

func variablesOf(raw wire.Raw) (map[string]json.RawMessage, error) {
	fields, err := raw.Dict()
	if err != nil {
		return nil, err
	}
	variables := make(map[string]json.RawMessage, len(fields))
	for _, field := range fields {
		value, err := field.Value.AppendJSON(nil, field.Name, run.MaxPayload)
		if err != nil {
			return nil, err
		}
		variables[field.Name] = value
	}
	return variables, nil
}

// ruleViolation is what the guards of the language rules raise.
const ruleViolation = "RuleViolation"

func (e evidence) raised(r *run.Result, ending string) error {
	fields, err := e.Report.Get("exception").Dict()
	if err != nil {
		return err
	}
	x := &run.Exception{}
	for name, field := range map[string]*string{"type": &x.Type, "message": &x.Message, "traceback": &x.Traceback} {
		if *field, err = fields.Get(name).Text(); err != nil {
			return err
		}
	}
	line, err := fields.Get("line").Int()
	if err != nil {
		return err
	}
	x.Line = int(line)
	r.Exception = x
	text := strings.TrimSuffix(x.Type+": "+x.Message, ": ")
	if x.Line > 0 && ending != "syntax" { // which names its line already
		text += fmt.Sprintf(" (line %d)", x.Line)
	}
	switch {
	case ending == "syntax":
		end(r, run.Malformed, "", text)
	case x.Type == "MemoryError":
		end(r, run.OutOfMemory, "", strings.TrimSuffix(fmt.Sprintf("memory limit of %v reached (line %d)", e.Limits.Memory, x.Line), " (line 0)"))
	default:
		end(r, run.Raised, "", text)
	}
	if x.Type == ruleViolation {
		rule, detail, _ := strings.Cut(x.Message, ": ")
		r.Violations = append(r.Violations, run.Violation{Wall: policy.WallLanguage, Op: rule, Detail: detail, Line: x.Line, Count: 1})
	}
	errno, _ := fields.Get("errno").Int()        // there for OSError alone
	filename, _ := fields.Get("filename").Text() // likewise
	e.explain(r, int(errno), filename)
	return nil
}

// explain connects an exception with the wall behind it: the filter's denial
// gets its line, and a path that does not exist behind the walls is named.
func (e evidence) explain(r *run.Result, errno int, filename string) {
	const eperm, enoent, eacces, erofs = 1, 2, 13, 30
	if n := len(r.Violations); n > 0 && errno == eperm {
		r.Violations[n-1].Line = r.Exception.Line
		return
	}
	if !path.IsAbs(filename) || e.visible(filename) && errno != erofs {
		return
	}
	wall := policy.WallMount
	if e.Plan.Root == nil {
		wall = policy.WallLandlock
	}
	v := run.Violation{Wall: wall, Op: "open", Detail: filename, Line: r.Exception.Line, Count: 1}
	switch errno {
	case enoent, eacces, eperm:
		v.Hint = "the guest can use only " + e.places() + "; grant the path with `read:` in the policy, or pass the data in context or stdin"
	case erofs:
		v.Hint = "only " + jail.Scratch + " can be written to, and it is gone after the run: return the data in result instead"
	default:
		return
	}
	r.Violations = append(r.Violations, v)
}

// places are the files of a guest, in words.
func (e evidence) places() string {
	if e.Plan.Root == nil {
		return "the interpreter's files, to read, and has no " + jail.Scratch + " on this host"
	}
	return "the interpreter's files, to read, and its own " + jail.Scratch
}

func (e evidence) visible(filename string) bool {
	clean := path.Clean(filename)
	roots := e.Plan.Readable
	if e.Plan.Root != nil {
		roots = append([]string{jail.Scratch, "/dev"}, roots...)
	}
	for _, root := range roots {
		if clean == root || strings.HasPrefix(clean, root+"/") {
			return true
		}
	}
	return false
}
