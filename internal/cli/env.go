package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/run"
)

const envPrefix = "CORDON_"

// EnvName is the environment variable of a flag.
func EnvName(flag string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// ReadEnvironment sets each flag that is not on the command line from its environment
// variable. Empty variables are ignored.
func ReadEnvironment(cmd *cobra.Command, environ []string) error {
	var err error
	given := map[string]string{}
	for _, entry := range environ {
		if name, value, _ := strings.Cut(entry, "="); strings.HasPrefix(name, envPrefix) && value != "" {
			given[name] = value
		}
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name, value, said := "", "", false
		for _, variable := range VariablesOf(f) {
			if set, is := given[variable]; is && !said {
				name, value, said = variable, set, true
			}
		}
		if !said || f.Changed || f.Name == "help" || err != nil {
			return
		}
		values := []string{value}
		if _, list := f.Value.(pflag.SliceValue); list {
			values = strings.Split(value, ",")
		}
		for _, v := range values {
			if problem := f.Value.Set(v); problem != nil {
				err = run.Errorf(run.Invalid, "%s: %w", name, explainFlagValue(f, v, problem))
			}
		}
	})
	if err != nil {
		return err
	}
	// A misspelled variable must not silently leave out a limit. Names that resemble
	// no variable of any command are left to others.
	if len(given) == 0 {
		return nil
	}
	all := Variables()
	for name := range given {
		if likely := Nearest(name, all); likely != "" && likely != name {
			return run.Errorf(run.Invalid, "unknown environment variable %s: did you mean %s?", name, likely)
		}
	}
	return nil
}

// ExplainFlagError adds the nearest flag, or where to find help.
func ExplainFlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var value *pflag.InvalidValueError
	switch {
	case errors.As(err, &value):
		flag := value.GetFlag()
		return run.Errorf(run.Invalid, "--%s: %w", flag.Name, explainFlagValue(flag, value.GetValue(), value.Unwrap()))
	case errors.As(err, &missing):
		kind, _ := pflag.UnquoteUsage(missing.GetFlag())
		name := dashed(missing.GetSpecifiedName(), missing.GetSpecifiedShortnames() != "")
		return run.Errorf(run.Invalid, "%s needs a value: write %[1]s %s", name, kind)
	case errors.As(err, &unknown):
		isLetter := unknown.GetSpecifiedShortnames() != ""
		name := dashed(unknown.GetSpecifiedName(), isLetter)
		if likely := likelyFlag(cmd, unknown.GetSpecifiedName(), isLetter); likely != "" {
			return run.Errorf(run.Invalid, "unknown flag: %s: did you mean --%s?", name, likely)
		}
		return run.Errorf(run.Invalid, "unknown flag: %s (see %s --help)", name, cmd.CommandPath())
	}
	return run.Errorf(run.Invalid, "%w (see %s --help)", err, cmd.CommandPath())
}

func dashed(name string, isLetter bool) string {
	if isLetter {
		return "-" + name
	}
	return "--" + name
}

// explainFlagValue replaces the errors of package strconv, which name its functions.
func explainFlagValue(f *pflag.Flag, value string, err error) error {
	switch f.Value.Type() {
	case "bool":
		return fmt.Errorf("%s is neither true nor false", text.Quote(value))
	case "int":
		return fmt.Errorf("%s is not a whole number", text.Quote(value))
	}
	return err
}

// likelyFlag gives the flag of cmd that the author of an unknown one may have meant. For a
// letter, that is a switch that begins with it.
func likelyFlag(cmd *cobra.Command, written string, isLetter bool) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch {
		case !isLetter:
			names = append(names, NamesOf(f)...)
		case strings.HasPrefix(f.Name, written) && f.Value.Type() == "bool":
			names = append(names, f.Name)
		}
	})
	if !isLetter {
		return Nearest(written, names)
	}
	if len(names) != 1 {
		return ""
	}
	return names[0]
}

// Nearest returns the name that is most similar to what was written, if at most a third
// of the letters differ.
func Nearest(written string, names []string) string {
	best, least := "", min(3, 1+len(strings.TrimPrefix(written, envPrefix))/3)
	for _, name := range slices.Sorted(slices.Values(names)) {
		if d := distance(written, name); d < least || d == least && best == "" {
			best, least = name, d
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and swaps of adjacent letters that
// turn a into b.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		older := before
		before, row = row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(before[j+1]+1, row[j]+1, before[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
