package token

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/internal/policyfile"
	"github.com/cordon-sandbox/cordon/policy"
)

// Bounds of the values in a file.
const (
	maxName   = 64
	maxNumber = 1_000_000
)

// least is the advice for an empty file.
const least = `write "tokens: []" to refuse all callers`

// form is the form of a token file.
var form = policyfile.Form{
	What: "token", Least: least,
	Examples: map[string]string{
		"": "tokens: [{name: ci, sha256: …}]", "tokens": "tokens: [{name: ci, sha256: …}]",
		"name": "name: ci", "sha256": "sha256: 64 digits", "maxima": "maxima: {memory: 128MiB}",
		"tiers": "tiers: [process, wasm]", "restricted": "restricted: true", "scripts_only": "scripts_only: true",
		"rate": "rate: 20/s", "burst": "burst: 40", "concurrent": "concurrent: 4", "expires": "expires: 2027-01-01T00:00:00Z",
	},
}

// document is a token file. An empty list locks out all callers; a missing list is an
// error.
type document struct {
	Tokens *[]entry `yaml:"tokens"`
}

// entry is one token in the file; pointers distinguish missing from empty.
type entry struct {
	Name        string                `yaml:"name"`
	SHA256      policyfile.Texts      `yaml:"sha256"`
	Maxima      policy.DocumentLimits `yaml:"maxima"`
	Tiers       *[]string             `yaml:"tiers"`
	Restricted  bool                  `yaml:"restricted"`
	ScriptsOnly bool                  `yaml:"scripts_only"`
	Rate        string                `yaml:"rate"`
	Burst       *int                  `yaml:"burst"`
	Concurrent  *int                  `yaml:"concurrent"`
	Expires     string                `yaml:"expires"`
}

// set is the parsed content of a file. It is immutable.
type set struct {
	callers []known
	digests []owned
}

type known struct {
	Caller
	expires time.Time // zero: never
}

// owned is one hash, and the index of its caller.
type owned struct {
	digest
	caller int
}

// Check checks the text of a token file that is not written yet, and returns how many
// tokens it has. name is the file's, for messages.
func Check(name string, data []byte) (tokens int, err error) {
	found, err := parse(name, data)
	if err != nil {
		return 0, err
	}
	return len(found.callers), nil
}

// parse reads a token file. It reports all problems at once, each with its line.
func parse(name string, data []byte) (*set, error) {
	var doc document
	var tokens *set
	err := form.Read(name, data, &doc, func() error {
		var c checker
		tokens = c.set(doc)
		return errors.Join(c.found...)
	})
	return tokens, err
}

// checker turns entries into callers and collects problems.
type checker struct {
	found []error
	field string // the current entry
}

func (c *checker) add(key, format string, args ...any) { c.addItem(key, "", format, args...) }

func (c *checker) addItem(key, item, format string, args ...any) {
	c.found = append(c.found, &policy.FieldError{Field: c.field + "." + key, Item: item, Err: fmt.Errorf(format, args...)})
}

func (c *checker) set(doc document) *set {
	s := &set{}
	if doc.Tokens == nil {
		c.found = append(c.found, &policy.FieldError{Field: "tokens", Err: fmt.Errorf("is missing: %s", least)})
		return s
	}
	names, owners := map[string]int{}, map[digest]string{}
	for i, e := range *doc.Tokens {
		c.field = fmt.Sprintf("tokens[%d]", i)
		if first, taken := names[e.Name]; taken && e.Name != "" {
			c.add("name", "%q is already the name of token %d: to give one token several secrets, list their hashes", e.Name, first+1)
		} else {
			names[e.Name] = i
		}
		c.name(e.Name)
		s.callers = append(s.callers, c.known(e))
		if len(e.SHA256) == 0 {
			c.add("sha256", "is missing: write the SHA-256 of the token's secret")
		}
		for _, text := range e.SHA256 {
			d, err := parseDigest(text)
			if err != nil {
				c.addItem("sha256", text, "%w", err)
				continue
			}
			if owner, taken := owners[d]; taken {
				c.addItem("sha256", text, "is already a hash of %q: each secret belongs to one token", owner)
				continue
			}
			owners[d] = e.Name
			s.digests = append(s.digests, owned{d, i})
		}
	}
	return s
}

func (c *checker) name(name string) {
	switch {
	case name == "":
		c.add("name", "is missing: the audit log needs one")
	case name == Local.Name:
		c.add("name", "%q is reserved for callers without a token: choose another name", name)
	case utf8.RuneCountInString(name) > maxName:
		c.add("name", "%q is too long: use at most %d characters", shorten(name), maxName)
	case strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		c.add("name", "%q has invisible characters: use letters, digits and punctuation", name)
	}
}

// known returns the caller of an entry.
func (c *checker) known(e entry) known {
	k := known{Caller: Caller{Name: e.Name}}
	k.Ceiling = Ceiling{Maxima: c.maxima(e.Maxima), Restricted: e.Restricted, ScriptsOnly: e.ScriptsOnly}
	if e.Tiers != nil {
		k.Ceiling.Tiers = c.tiers(*e.Tiers)
	}
	if e.Rate != "" {
		rate, err := parseRate(e.Rate)
		if err != nil {
			c.add("rate", "%w", err)
		}
		k.Quota.Rate = rate
	}
	if e.Burst != nil && e.Rate == "" {
		c.add("burst", "needs a rate: it is how many requests may start at once within the rate")
	}
	k.Quota.Burst = c.number("burst", e.Burst)
	k.Quota.Concurrent = c.number("concurrent", e.Concurrent)
	if e.Expires != "" {
		at, err := time.Parse(time.RFC3339, e.Expires)
		if err != nil {
			c.add("expires", "%q is not a time: write it like 2027-01-01T00:00:00Z", shorten(e.Expires))
		}
		k.expires = at
	}
	return k
}

// maxima lets the policy package check the maxima, as those of a policy that sets nothing
// else.
func (c *checker) maxima(given policy.DocumentLimits) policy.Limits {
	p, err := policy.Document{Maxima: given}.Policy()
	var all interface{ Unwrap() []error }
	if errors.As(err, &all) {
		for _, each := range all.Unwrap() {
			var field *policy.FieldError
			if errors.As(each, &field) {
				// The limit itself is wrong, not the default that was derived from it.
				_, limit, _ := strings.Cut(field.Field, ".")
				c.add("maxima."+limit, "%w", field.Err)
			}
		}
	} else if err != nil {
		c.add("maxima", "%w", err)
	}
	return p.Maxima
}

func (c *checker) tiers(given []string) (tiers []policy.Tier) {
	switch {
	case len(given) == 0:
		c.add("tiers", "is empty: name the allowed tiers, or leave it out for all")
	case len(given) > len(policy.Tiers()):
		c.add("tiers", "names %d tiers, but only %d exist", len(given), len(policy.Tiers()))
		return nil
	}
	for _, name := range given {
		tier, err := policy.ParseTier(name)
		if err != nil {
			c.addItem("tiers", name, "%w", err)
		}
		if slices.Contains(tiers, tier) {
			c.addItem("tiers", name, "duplicate tier %q", name)
		}
		tiers = append(tiers, tier)
	}
	return tiers
}

func (c *checker) number(key string, given *int) int {
	if given == nil {
		return 0
	}
	if *given < 1 || *given > maxNumber {
		c.add(key, "%d is out of range: write 1 to %d, or leave it out for no limit", *given, maxNumber)
	}
	return *given
}

// units of a rate.
var units = map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}

// parseRate parses "20/s" into runs per second.
func parseRate(text string) (float64, error) {
	number, unit, found := strings.Cut(strings.TrimSpace(text), "/")
	n, err := strconv.ParseFloat(number, 64)
	per, known := units[unit]
	switch {
	case !found && err == nil:
		return 0, fmt.Errorf("%q has no unit: write %s/s, %[2]s/min or %[2]s/h", text, number)
	case err != nil || !known || math.IsNaN(n):
		return 0, fmt.Errorf("%q is not a rate: write a number and a unit, like 20/s, 100/min or 500/h", shorten(text))
	case n <= 0 || n > maxNumber:
		return 0, fmt.Errorf("%q is out of range: write a rate above zero and at most %d", text, maxNumber)
	}
	return n / per.Seconds(), nil
}
