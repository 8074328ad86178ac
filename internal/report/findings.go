package report

import (
	"fmt"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/run"
)

// findingFields is how many a finding has: rule, line, column, reason, hint,
// allowed. See internal/language.
const findingFields = 6

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
	for i, field := range map[int]*string{0: &f.Rule, 3: &f.Reason, 4: &f.Hint} {
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
	f.Allowed, err = fields[5].TextList()
	return f, err
}

// refused: the language rules have seen the script, and nothing of it ran.
func refused(r *run.Result, report wire.Dict) error {
	findings, err := Findings(report)
	if err != nil {
		return err
	}
	for _, f := range findings {
		r.Violations = append(r.Violations, f.Violation())
	}
	end(r, run.Refused, run.DescribeFindings(findings))
	return nil
}
