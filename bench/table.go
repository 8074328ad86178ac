package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cordon-sandbox/cordon/policy"
)

// table is what the bench prints, and what -json writes.
type table struct {
	Machine string   `json:"machine"`
	Python  string   `json:"python"`
	Go      string   `json:"go"`
	Walls   []string `json:"walls"`
	// Judged is false for a smoke test, which has too few rounds.
	Judged bool `json:"judged"`
	// Growth is true if the ratios are to the first point of a quantity.
	Growth bool  `json:"growth,omitempty"`
	Rows   []row `json:"rows"`
}

// row is one measure.
type row struct {
	Measure string `json:"measure"`
	Value   string `json:"value"`
	// Number is the value in seconds, bytes or runs a second.
	Number float64 `json:"number"`
	// Ratio is to the plain measure of the same run; 0 if there is none.
	Ratio float64 `json:"ratio,omitempty"`
	// Must and Aim are the promises; a row without Must is only for comparison.
	Must promise `json:"must,omitzero"`
	Aim  promise `json:"aim,omitzero"`
	Note string  `json:"note,omitempty"`

	position int // in the table, which is not the order of measuring
}

// promise bounds a row, on its ratio or on its value.
type promise struct {
	AtMost  float64 `json:"at_most,omitempty"`
	AtLeast float64 `json:"at_least,omitempty"`
	// Text is the promise as SPECIFICATION.md has it.
	Text string `json:"text"`
	// OnValue compares Number instead of Ratio.
	OnValue bool `json:"on_value,omitempty"`
}

func (p promise) kept(r row) bool {
	x := r.Ratio
	if p.OnValue {
		x = r.Number
	}
	return (p.AtMost == 0 || x <= p.AtMost) && (p.AtLeast == 0 || x >= p.AtLeast)
}

func atMost(x float64, text string) promise  { return promise{AtMost: x, Text: "≤ " + text} }
func atLeast(x float64, text string) promise { return promise{AtLeast: x, Text: "≥ " + text} }

// The positions of the rows: the promises in the order of SPECIFICATION.md, then the rows
// for comparison.
const (
	rowWarm = iota
	rowPaced
	rowThroughput
	rowProcessor
	rowMemory
	rowCold
	rowHook
	rowHookRival
	rowHookSpread
	rowHookRate
	rowHookAlone
	rowSession
	rowLanguage
	rowCommand
	rowColdCommand
	rowColdCommandBrief
	rowCommandRate
	rowSharedCommand
	rowColdSharedCommand
	rowGVisor
	rowProxy
	rowPaths
	rowWasm
	rowHTTP
	rowMCP
	rowFrontends
	rowPython
	rowSteady
	rowBackToBack
	rowHookMore
	rowCommandMore
	rowPythonMore
	rowPlain
	rowSubprocess
	rowBubblewrap
	rowRestrictedPython
	rowPlainThroughput
	rowPeers
	rowZygote
	rowTuning
)

func (t *table) add(r row) { t.Rows = append(t.Rows, r) }

func (t *table) sort() {
	slices.SortStableFunc(t.Rows, func(a, b row) int { return cmp.Compare(a.position, b.position) })
}

// verdict is empty for a row without a promise.
func (t *table) verdict(r row) string {
	switch {
	case r.Must == promise{} || !t.Judged:
		return ""
	case !r.Must.kept(r):
		return "MISSES"
	case r.Aim != promise{} && !r.Aim.kept(r):
		return "ok, misses the aim"
	}
	return "ok"
}

func (t *table) missed() bool {
	return slices.ContainsFunc(t.Rows, func(r row) bool { return t.verdict(r) == "MISSES" })
}

// claim is the number of a sandbox that the bench does not start.
const claim = "The fastest comparable sandbox claims 1.44 ms p50 and 10.5 ms p99 for a warm run, on its own two-core machine."

func (t *table) write(w io.Writer) error {
	fmt.Fprintf(w, "%s\n%s, %s\n%s\n\n", t.Machine, t.Python, t.Go, strings.Join(t.Walls, "; "))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	versus, closing := "vs plain", claim
	if t.Growth {
		versus, closing = "vs first", "The cost for each unit must not grow with the quantity."
	}
	fmt.Fprintln(tw, "measure\tvalue\t"+versus+"\tmust\taim\tverdict")
	for _, r := range t.Rows {
		fmt.Fprintln(tw, strings.Join([]string{
			r.Measure, r.Value, ratioText(r.Ratio), r.Must.Text, r.Aim.Text, strings.TrimSpace(t.verdict(r) + " " + r.Note),
		}, "\t"))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", closing)
	return err
}

// ratioText writes small ratios as fractions, as the promises are written.
func ratioText(x float64) string {
	switch {
	case x == 0:
		return ""
	case x < 0.5:
		return fmt.Sprintf("1/%.0f", 1/x)
	}
	return fmt.Sprintf("%.2f ×", x)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.3f ms", float64(d)/float64(time.Millisecond))
}

func mebibytes(n int64) string { return fmt.Sprintf("%.2f MiB", float64(n)/float64(policy.MiB)) }

// samples are the durations of one repeated measurement.
type samples []time.Duration

// at returns the quantile q by the nearest rank, so that it is a measured value.
func (s samples) at(q float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return sorted[min(len(sorted)-1, max(0, int(q*float64(len(sorted))+0.5)-1))]
}

func (s samples) p50() time.Duration { return s.at(0.50) }
func (s samples) p99() time.Duration { return s.at(0.99) }

// once adds the time of one action.
func (s *samples) once(action func() error) error {
	began := time.Now()
	err := action()
	*s = append(*s, time.Since(began))
	return err
}

// over returns a ratio, or 0 if one side is missing.
func over(a, b time.Duration) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}
