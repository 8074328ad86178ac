package policy

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limit is one row of the table of limits: everything that cordon knows about a limit.
type Limit struct {
	// Key is its name in policies, requests and answers, and Name its name in messages.
	Key, Name string
	// Short is the letter of its flag. Alias is another name of the flag, and the name
	// of an agent's argument.
	Short, Alias string
	Kind         LimitKind
	// Help describes the flag, About the key.
	Help, About string
	// Default is the limit of a run, and Maximum the highest that a request may ask for,
	// if the operator sets none.
	Default, Maximum int64
	// Least is the smallest value that works, and Most the highest that a policy may
	// grant. Zero means that there is no such bound. TooLittle is the reason why less than
	// Least fails.
	Least, Most int64
	TooLittle   string
	// For lists the kinds of guests that it bounds.
	For []Guest
	// OfSession says that on TierProcess it bounds a whole session, and not each of its steps.
	OfSession bool
	// Agents lists the kinds of guests for which an agent may set it. The agent's
	// argument (see Argument) is in seconds or in AgentUnit; a zero AgentUnit means
	// bytes.
	Agents    []Guest
	AgentUnit Bytes
	// Outcome and ErrorType are those of a run that the limit ends. They are empty for a
	// limit that only makes calls of the guest fail.
	Outcome, ErrorType string
	// Reached is the message about such a run, with a format verb for the limit. Advice
	// is for the author of the code.
	Reached, Advice string
	// Heading begins the command line's message about such a run, and ExitCode is its
	// exit code; zero means the guest's own.
	Heading  string
	ExitCode int

	index int // of its field in Limits
}

// LimitKind is the type of a limit.
type LimitKind string

// The types that a limit can have.
const (
	KindDuration LimitKind = "duration" // "2s"
	KindBytes    LimitKind = "bytes"    // "64MiB"
	KindNumber   LimitKind = "number"   // 16
	KindCount    LimitKind = "count"    // "50M"
)

// Guest is a kind of code that is run.
type Guest string

// The kinds of guests.
const (
	GuestScript  Guest = "script"
	GuestCall    Guest = "call" // of a hook
	GuestCommand Guest = "command"
	GuestModule  Guest = "module"
)

// inOrder sets the index of each row to that of its field in Limits.
func inOrder(rows []Limit) []Limit {
	for i := range rows {
		rows[i].index = i
	}
	return rows
}

// LimitTable returns every limit, in the order of the fields of Limits.
func LimitTable() []Limit { return slices.Clone(limitTable) }

// LimitsFor returns the limits of a kind of guest.
func LimitsFor(g Guest) []Limit {
	return slices.DeleteFunc(LimitTable(), func(l Limit) bool { return !slices.Contains(l.For, g) })
}

// LimitNamed returns the limit with a key.
func LimitNamed(key string) (Limit, bool) {
	for _, l := range limitTable {
		if l.Key == key {
			return l, true
		}
	}
	return Limit{}, false
}

// Of returns the limit's amount in limits: nanoseconds, bytes or a number.
func (l Limit) Of(limits Limits) int64 { return reflect.ValueOf(limits).Field(l.index).Int() }

// Set sets the limit's amount in limits.
func (l Limit) Set(limits *Limits, amount int64) {
	reflect.ValueOf(limits).Elem().Field(l.index).SetInt(amount)
}

// Parse parses the text form of an amount.
func (l Limit) Parse(text string) (int64, error) {
	switch l.Kind {
	case KindDuration:
		d, err := ParseDuration(text)
		return int64(d), err
	case KindBytes:
		b, err := ParseBytes(text)
		return int64(b), err
	case KindCount:
		c, err := ParseCount(text)
		return int64(c), err
	}
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("%s is not a whole number", quote(text))
	}
	return int64(n), nil
}

// Text returns the form that Parse parses.
func (l Limit) Text(amount int64) string {
	switch l.Kind {
	case KindDuration:
		return FormatDuration(time.Duration(amount))
	case KindBytes:
		return Bytes(amount).String()
	case KindCount:
		return Count(amount).String()
	}
	return strconv.FormatInt(amount, 10)
}

// OnlyFor reports whether no other guests have the limit.
func (l Limit) OnlyFor(g Guest) bool { return slices.Equal(l.For, []Guest{g}) }

// Message returns the message that a run reached the limit.
func (l Limit) Message(limits Limits) string { return fmt.Sprintf(l.Reached, l.Text(l.Of(limits))) }

// Flag returns the name of its flag on the command line, without the leading dashes.
func (l Limit) Flag() string { return strings.ReplaceAll(l.Key, "_", "-") }

// Field returns the name of the limit's field in Limits.
func (l Limit) Field() string { return reflect.TypeFor[Limits]().Field(l.index).Name }

// Argument returns the name of the limit among an agent's arguments.
func (l Limit) Argument() string { return strings.ReplaceAll(cmp.Or(l.Alias, l.Key), "-", "_") }

// DefaultLimits returns the limits of a run if neither the policy nor the request sets them.
func DefaultLimits() (l Limits) {
	for _, row := range limitTable {
		row.Set(&l, row.Default)
	}
	return l
}

// DefaultMaxima returns the highest limits that a request may ask for if the operator sets
// none.
func DefaultMaxima() (l Limits) {
	for _, row := range limitTable {
		row.Set(&l, row.Maximum)
	}
	return l
}

// Or returns l with its zero fields filled from fallback.
func (l Limits) Or(fallback Limits) Limits {
	for _, row := range limitTable {
		if row.Of(l) == 0 {
			row.Set(&l, row.Of(fallback))
		}
	}
	return l
}

// Fill returns the limits of a run: those that its request sets, and the defaults for the
// rest. If the request sets the wall time but not the CPU time, the CPU time is the same, up
// to the maximum: code that may take a minute may compute for a minute.
func (l Limits) Fill(defaults, maxima Limits) Limits {
	if l.CPUTime == 0 {
		l.CPUTime = max(defaults.CPUTime, min(l.WallTime, maxima.CPUTime))
	}
	return l.Or(defaults)
}

// Above returns the first field of l that exceeds max, with both amounts in their text form.
func (l Limits) Above(max Limits) (field, got, limit string, above bool) {
	for _, row := range limitTable {
		if mine, most := row.Of(l), row.Of(max); mine > most {
			return row.Key, row.Text(mine), row.Text(most), true
		}
	}
	return "", "", "", false
}

// Negative returns the first field below zero.
func (l Limits) Negative() (field string, negative bool) {
	for _, row := range limitTable {
		if row.Of(l) < 0 {
			return row.Key, true
		}
	}
	return "", false
}

// Capped returns l with each field lowered to max, so that an operator who sets a low
// maximum need not repeat it as the default.
func (l Limits) Capped(max Limits) Limits {
	for _, row := range limitTable {
		row.Set(&l, min(row.Of(l), row.Of(max)))
	}
	return l
}

// belowFloor returns the first field of l that is too low for any guest.
func (l Limits) belowFloor() (field string, err error) {
	for _, row := range limitTable {
		if amount := row.Of(l); amount < row.Least {
			return row.Key, fmt.Errorf("%s is %s: give at least %s", row.Text(amount), row.TooLittle, row.Text(row.Least))
		}
	}
	return "", nil
}

// aboveCeiling returns the first field of l that is higher than a policy may grant.
func (l Limits) aboveCeiling() (field string, err error) {
	for _, row := range limitTable {
		if amount := row.Of(l); row.Most > 0 && amount > row.Most {
			return row.Key, fmt.Errorf("%s is above %s, the most that can be granted", row.Text(amount), row.Text(row.Most))
		}
	}
	return "", nil
}
