package report

import (
	"fmt"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// findingFields is how many a finding has: rule, line, column, reason, the code of the
// hint, the name that it mentions, allowed. See internal/language.
const findingFields = 7

// Findings reads what the language rules found, of a report that has it: one
// that is checked, or refused.
func Findings(report wire.Dict) ([]run.Finding, error) {
	list, err := report.Get("findings").List()
	if err != nil {
		return nil, err
	}
	findings := make([]run.Finding, len(list))
	for i, item := range list {
		if findings[i], err = finding(item); err != nil {
			return nil, err
		}
	}
	return findings, nil
}

func finding(item wire.Raw) (f run.Finding, err error) {
	fields, err := item.List()
	if err != nil {
		return f, err
	}
	if len(fields) != findingFields {
		return f, fmt.Errorf("a finding has %d fields", len(fields))
	}
	var code, about string
	for i, field := range map[int]*string{0: &f.Rule, 3: &f.Reason, 4: &code, 5: &about} {
		said, err := fields[i].Text()
		if err != nil {
			return f, err
		}
		*field = text.Line(said) // it quotes the script
	}
	for i, number := range map[int]*int{1: &f.Line, 2: &f.Column} {
		n, err := fields[i].Int()
		if err != nil {
			return f, err
		}
		*number = int(n)
	}
	var data hints.Data
	if about != "" {
		data = hints.Data{"name": about}
	}
	if code != "" && !hints.Rule(&f, run.HintCode(code), data) {
		return f, fmt.Errorf("%s is not a hint of the language rules", text.Quote(code))
	}
	f.Allowed, err = fields[6].TextList()
	return f, err
}

// refused: the language rules have seen the script, and nothing of it ran.
func refused(r *run.Result, report wire.Dict) error {
	findings, err := Findings(report)
	if err != nil {
		return err
	}
	for _, f := range findings {
		r.Violations = append(r.Violations, run.Violation{
			Wall: policy.WallLanguage, Op: f.Rule, Detail: f.Reason, Line: f.Line, Column: f.Column, Count: 1,
			Hint: f.Hint, HintCode: f.HintCode, HintData: f.HintData, Allowed: f.Allowed,
		})
	}
	end(r, run.Refused, (&run.Refusal{Findings: findings}).Error())
	return nil
}
