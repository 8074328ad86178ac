// Package hints words the advice of violations and findings, for each kind of reader.
// Tiers and walls give a code with data ([Give]); frontends take the text for their own
// users ([Word], [Findings], [WordFindings]). No frontend edits the sentence of another.
//
// One table has all codes. A code that a program can act on, by granting something, is a
// constant of package run. The others are advice for the author of the code.
package hints

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Data are the values of a hint, by the keys that its words name.
type Data = map[string]string

// Reader is a kind of user, by what they can do about a violation.
type Reader int

// The readers.
const (
	Embedder    Reader = iota // Go, Python, HTTP and JSON lines: has a policy
	CommandLine               // has flags, too
	Agent                     // MCP: has neither, and can ask the operator
)

// words has a sentence for each reader, with the keys of the data in braces: {path}.
type words [3]string

type table map[run.HintCode]words

func parts() []table {
	return []table{grants, files, hosts, scriptCalls, commandCalls, gvisorCalls, languageRules}
}

// wordings has a row for each code.
var wordings = sync.OnceValue(func() table {
	all := table{}
	for _, part := range parts() {
		maps.Copy(all, part)
	}
	return all
})

// everyone has the same sentence for all readers: advice about the code itself.
func everyone(sentence string) words { return words{sentence, sentence, sentence} }

// Codes returns all codes, sorted.
func Codes() []run.HintCode { return slices.Sorted(maps.Keys(wordings())) }

// Give puts a hint into a violation, worded for embedders.
func Give(v run.Violation, code run.HintCode, d Data) run.Violation {
	v.HintCode, v.HintData = code, d
	v.Hint = Word(v, Embedder)
	return v
}

// Word is the hint of a violation for a reader. A code that is not in the table, from a
// newer cordon, keeps its text.
func Word(v run.Violation, reader Reader) string {
	return cmp.Or(word(v.HintCode, v.HintData, reader), v.Hint)
}

// Rule puts a hint of the language rules into a finding, worded for embedders. It
// reports false for a code that they do not have.
func Rule(f *run.Finding, code run.HintCode, d Data) (known bool) {
	if _, known = languageRules[code]; known {
		f.HintCode, f.HintData = code, d
		f.Hint = word(code, d, Embedder)
	}
	return known
}

// Findings are what the language rules refuse in the script of a Result, with the hints
// for a reader.
func Findings(r run.Result, reader Reader) []run.Finding {
	var found []run.Finding
	for _, v := range r.Violations {
		if v.Wall == policy.WallLanguage && v.HintCode != run.HintModuleRule {
			found = append(found, run.Finding{
				Rule: v.Op, Line: v.Line, Column: v.Column, Reason: v.Detail,
				Hint: v.Hint, HintCode: v.HintCode, HintData: v.HintData, Allowed: v.Allowed,
			})
		}
	}
	return WordFindings(found, reader)
}

// WordFindings returns a copy of findings, never nil, with the hints for a reader.
func WordFindings(findings []run.Finding, reader Reader) []run.Finding {
	findings = append([]run.Finding{}, findings...)
	for i := range findings {
		f := &findings[i]
		f.Hint = cmp.Or(word(f.HintCode, f.HintData, reader), f.Hint)
	}
	return findings
}

func word(code run.HintCode, d Data, reader Reader) string {
	row, known := wordings()[code]
	if !known {
		return ""
	}
	var pairs []string
	for key, value := range d {
		pairs = append(pairs, "{"+key+"}", value)
	}
	sentence := strings.NewReplacer(pairs...).Replace(row[reader])
	if code == run.HintGrantPath {
		return insteadOfGrant(d) + sentence
	}
	return sentence
}
