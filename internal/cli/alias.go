package cli

import "github.com/spf13/pflag"

// Annotations of a flag with other names.
const (
	otherNames   = "cordon_names"     // on the command line
	oldVariables = "cordon_variables" // in the environment
)

// Alias makes a flag work under another name too. The other name is no environment
// variable: that one may belong to a flag of another command.
func Alias(f *pflag.FlagSet, flag, other string) {
	before := f.GetNormalizeFunc()
	f.SetNormalizeFunc(func(f *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == other {
			name = flag
		}
		return before(f, name)
	})
	known := f.Lookup(flag)
	known.Usage += "; also --" + other
	annotate(known, otherNames, other)
}

// Renamed makes the old name of a flag work, and its environment variable.
func Renamed(f *pflag.FlagSet, flag, old string) {
	Alias(f, flag, old)
	annotate(f.Lookup(flag), oldVariables, EnvName(old))
}

func annotate(flag *pflag.Flag, kind, value string) {
	if flag.Annotations == nil {
		flag.Annotations = map[string][]string{}
	}
	flag.Annotations[kind] = append(flag.Annotations[kind], value)
}

// NamesOf gives all names of a flag, its own first.
func NamesOf(flag *pflag.Flag) []string {
	return append([]string{flag.Name}, flag.Annotations[otherNames]...)
}

// VariablesOf gives the environment variables of a flag. The first one that is set wins.
func VariablesOf(flag *pflag.Flag) []string {
	return append([]string{EnvName(flag.Name)}, flag.Annotations[oldVariables]...)
}
