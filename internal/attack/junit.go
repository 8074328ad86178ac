package attack

import (
	"encoding/xml"
	"fmt"
	"io"

	"github.com/cordon-sandbox/cordon/internal/text"
)

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Time    string     `xml:"time,attr"`
	Failure *junitNote `xml:"failure"`
	Error   *junitNote `xml:"error"`
	Skipped *junitNote `xml:"skipped"`
	Output  string     `xml:"system-out,omitempty"`
}

type junitNote struct {
	Message string `xml:"message,attr"`
}

// JUnit writes verdicts as the XML that CI servers read: an escape is a failure; a broken
// or slow attempt is an error.
func JUnit(w io.Writer, verdicts []Verdict) error {
	counts := Counts(verdicts)
	suite := junitSuite{
		Name: "cordon containment", Tests: len(verdicts),
		Failures: counts[StateEscaped], Errors: counts[StateBroken] + counts[StateSlow], Skipped: counts[StateSkipped],
	}
	for _, v := range verdicts {
		detail := text.Line(v.Detail)
		c := junitCase{
			Class: "cordon." + v.Attempt.Area, Name: v.Attempt.Name + ": " + v.Attempt.Title,
			Time: fmt.Sprintf("%.3f", v.Result.Usage.WallTime.Seconds()),
		}
		switch note := (&junitNote{Message: detail}); v.State {
		case StateEscaped:
			c.Failure = note
		case StateBroken, StateSlow:
			c.Error = note
		case StateSkipped:
			c.Skipped = note
		default:
			c.Output = detail
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
