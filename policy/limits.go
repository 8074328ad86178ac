package policy

import (
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Duration is a span of time whose text form carries its unit ("2s").
type Duration time.Duration

// ParseDuration reads a span with its unit.
func ParseDuration(text string) (Duration, error) {
	s := strings.TrimSpace(text)
	if positive := strings.TrimPrefix(s, "-"); isDecimal(positive) {
		return 0, fmt.Errorf("%s has no unit: write %ss, %[2]sms or %[2]sm", quote(text), positive)
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, fmt.Errorf("%s is not a duration: write a number and a unit, like 500ms, 2s or 1m30s", quote(text))
	}
	if d < 0 {
		return 0, fmt.Errorf("%s is negative: a duration is zero or more", quote(text))
	}
	return Duration(d), nil
}

// Std is the standard library's view of it.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String is the form that ParseDuration reads, without the zeros that
// time.Duration leaves at the end: "1m", not "1m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText lets a span stand in JSON and YAML with its unit.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText refuses a span without a unit.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = v
	return nil
}

// Limits bound what one run may use. In a request, a zero field means "the
// policy's default"; it never means "no limit".
type Limits struct {
	// WallTime is how long a run may take by the clock on the wall.
	WallTime Duration `json:"wall_time,omitempty" yaml:"wall_time,omitempty"`
	// CPUTime is how much CPU time all threads of a run may use.
	CPUTime Duration `json:"cpu_time,omitempty" yaml:"cpu_time,omitempty"`
	// Memory is what the guest may use above the bare interpreter.
	Memory Bytes `json:"memory,omitempty" yaml:"memory,omitempty"`
	// Output bounds stdout and stderr, each for itself.
	Output Bytes `json:"output,omitempty" yaml:"output,omitempty"`
	// Result bounds the guest's result and variables, together and as JSON.
	Result Bytes `json:"result,omitempty" yaml:"result,omitempty"`
	// Scratch is the size of the private /tmp.
	Scratch Bytes `json:"scratch,omitempty" yaml:"scratch,omitempty"`
	// OpenFiles bounds descriptors, the standard streams included.
	OpenFiles int `json:"open_files,omitempty" yaml:"open_files,omitempty"`
	// Threads bounds the threads of a run, the main one included.
	Threads int `json:"threads,omitempty" yaml:"threads,omitempty"`
	// Processes bounds a command's processes, each of their threads counted.
	Processes int `json:"processes,omitempty" yaml:"processes,omitempty"`
	// Disk bounds what a command adds to the directories that it may change.
	Disk Bytes `json:"disk,omitempty" yaml:"disk,omitempty"`
	// Files bounds how many files, directories and links a command adds there.
	Files int `json:"files,omitempty" yaml:"files,omitempty"`
	// Fuel is how many instructions a module may execute. They are counted exactly: the
	// same module with the same input ends at the same one.
	Fuel Count `json:"fuel,omitempty" yaml:"fuel,omitempty"`
}

// DefaultLimits is what a run gets when nobody says otherwise.
func DefaultLimits() Limits {
	return Limits{
		WallTime:  Duration(30 * time.Second),
		CPUTime:   Duration(10 * time.Second),
		Memory:    256 * MiB,
		Output:    64 * KiB,
		Result:    8 * MiB,
		Scratch:   16 * MiB,
		OpenFiles: 64,
		Threads:   16,
		Processes: 64,
		Disk:      64 * MiB,
		Files:     50_000,
		Fuel:      1e12, // more than fits into the time
	}
}

// DefaultMaxima is how far a request may go when the operator does not say.
func DefaultMaxima() Limits {
	return Limits{
		WallTime:  Duration(60 * time.Second),
		CPUTime:   Duration(60 * time.Second),
		Memory:    1 * GiB,
		Output:    256 * KiB,
		Result:    32 * MiB,
		Scratch:   64 * MiB,
		OpenFiles: 64,
		Threads:   16,
		Processes: 256,
		Disk:      1 * GiB,
		Files:     500_000,
		Fuel:      1e15,
	}
}

// MaxOpenFiles is the highest open_files a policy may grant. Descriptors above
// it belong to the host side of the fork server and must never be a guest's.
const MaxOpenFiles = 1000

// MaxResult is the highest result a policy may grant: the host holds it in memory.
const MaxResult = 64 * MiB

// Or fills the zero fields of l from fallback.
func (l Limits) Or(fallback Limits) Limits {
	merged := reflect.ValueOf(&l).Elem()
	other := reflect.ValueOf(fallback)
	for i := range merged.NumField() {
		if merged.Field(i).IsZero() {
			merged.Field(i).Set(other.Field(i))
		}
	}
	return l
}

// Fill gives the limits of a run: what its request asks for, and the defaults for the
// rest. A wall time that is asked for is CPU time as well, up to the maximum, unless the
// request says otherwise: code that may take a minute may compute for a minute.
func (l Limits) Fill(defaults, maxima Limits) Limits {
	if l.CPUTime == 0 {
		l.CPUTime = max(defaults.CPUTime, min(l.WallTime, maxima.CPUTime))
	}
	return l.Or(defaults)
}

// Above names the first field of l that exceeds max, in its text form.
func (l Limits) Above(max Limits) (field string, got, limit any, above bool) {
	mine, theirs := reflect.ValueOf(l), reflect.ValueOf(max)
	for i := range mine.NumField() {
		if mine.Field(i).Int() > theirs.Field(i).Int() {
			return jsonName(mine.Type().Field(i)), mine.Field(i).Interface(), theirs.Field(i).Interface(), true
		}
	}
	return "", nil, nil, false
}

// Negative names the first field below zero.
func (l Limits) Negative() (field string, negative bool) {
	v := reflect.ValueOf(l)
	for i := range v.NumField() {
		if v.Field(i).Int() < 0 {
			return jsonName(v.Type().Field(i)), true
		}
	}
	return "", false
}

// Capped lowers each field of l to max, so that an operator who sets a low
// maximum need not repeat it as the default.
func (l Limits) Capped(max Limits) Limits {
	mine, theirs := reflect.ValueOf(&l).Elem(), reflect.ValueOf(max)
	for i := range mine.NumField() {
		if mine.Field(i).Int() > theirs.Field(i).Int() {
			mine.Field(i).Set(theirs.Field(i))
		}
	}
	return l
}

// The least that an interpreter can start with. Below it a run would die with
// words that blame the script.
const (
	minOpenFiles = 8
	minMemory    = 1 * MiB
)

// belowFloor names the first field of l that no interpreter could live with.
func (l Limits) belowFloor() (field string, err error) {
	switch {
	case l.OpenFiles < minOpenFiles:
		return "open_files", fmt.Errorf("%d is too few for an interpreter: give at least %d", l.OpenFiles, minOpenFiles)
	case l.Memory < minMemory:
		return "memory", fmt.Errorf("%v is too little for any script: give at least %v", l.Memory, minMemory)
	}
	return "", nil
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
