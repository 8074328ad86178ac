package command

import (
	"slices"
	"strings"
)

// grammar is the option syntax of a program that starts another. Short options
// are written as for getopt(3): "n:" takes a value, "e::" only one that is
// glued on. Long ones with "=" take a value.
type grammar struct {
	short, long string
	operands    int    // before the command: timeout's seconds
	assigns     bool   // VAR=value may stand before the command
	bare        bool   // without a command it starts a shell
	shells      string // options that start a shell, or give one a command
	direct      string // without one of these a shell gets the command
	always      bool   // a shell is started in any case
	open        bool   // its input adds words to the command
	anywhere    bool   // its options are too many to know: any later word may be the command
	dirs        string // options whose value is the command's working directory
	roots       string // options whose value is the command's root
	rooted      bool   // the first operand is the command's root
	roams       bool   // in which directory the command begins is not in the arguments
}

// inner is what a wrapper runs.
type inner struct {
	argv        []string // the command; empty for none
	skipped     []string // what stood before it
	refused     string   // why it must not start, whatever the command is, or ""
	unsure      bool     // an option was not known, so any word may be the command
	directories []string // its PATH, if that was changed
	dir         string   // its working directory, if that was changed
	roams       bool     // its working directory cannot be known
}

// split finds the command in a wrapper's arguments.
func (g grammar) split(args []string) inner {
	in := inner{unsure: g.anywhere, roams: g.roams}
	short, long := g.short, strings.Fields(g.long)
	shells, direct := strings.Fields(g.shells), strings.Fields(g.direct)
	dirs, roots := strings.Fields(g.dirs), strings.Fields(g.roots)
	isDirect := false
	option := func(spelled, name, value string) {
		switch {
		case slices.Contains(shells, name):
			in.refused = "starts a shell because of " + spelled
		case slices.Contains(roots, name) && value != "/":
			in.refused = "runs its command in another root because of " + spelled
		case slices.Contains(dirs, name):
			in.dir = value
		}
		isDirect = isDirect || slices.Contains(direct, name)
	}
	next := func(i int) string { // a value in an argument of its own
		if i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	i := 0
options:
	for i < len(args) {
		arg := args[i]
		switch {
		case arg == "--":
			i++
			break options
		case strings.HasPrefix(arg, "--"):
			typed, value, hasValue := strings.Cut(arg[2:], "=")
			name, takes, ok := longOption(long, typed)
			in.unsure = in.unsure || !ok
			if takes && !hasValue {
				value = next(i)
				i++
			}
			option("--"+typed, name, value)
		case len(arg) > 1 && arg[0] == '-' && digits(arg[1:]) && strings.IndexByte(short, arg[1]) < 0:
			// nice -5
		case len(arg) > 1 && arg[0] == '-':
			for j := 1; j < len(arg); j++ {
				at := strings.IndexByte(short, arg[j])
				takes := at >= 0 && strings.HasPrefix(short[at+1:], ":")
				value := ""
				if takes {
					value = arg[j+1:]
				}
				if takes && value == "" && !strings.HasPrefix(short[at+1:], "::") {
					value = next(i)
					i++
				}
				option("-"+arg[j:j+1], arg[j:j+1], value)
				if at < 0 || arg[j] == ':' {
					in.unsure = true
					break
				}
				if takes {
					break
				}
			}
		case g.assigns && strings.Contains(arg, "="):
			if value, ok := strings.CutPrefix(arg, "PATH="); ok {
				in.directories = strings.Split(value, ":")
			}
		default:
			break options
		}
		i++
	}
	if g.rooted && i < len(args) && args[i] != "/" && in.refused == "" {
		in.refused = "runs its command in another root"
	}
	i = min(i+g.operands, len(args))
	in.skipped, in.argv = args[:i], args[i:]
	switch {
	case in.refused != "":
	case g.always, len(direct) > 0 && !isDirect:
		in.refused = "starts a shell"
	case g.bare && len(in.argv) == 0:
		in.refused = "starts a shell when it gets no command"
	case len(in.argv) > 0 && strings.HasPrefix(in.argv[0], "-") && slices.Contains(shells, strings.TrimLeft(in.argv[0], "-")):
		in.refused = "starts a shell because of " + in.argv[0] // flock file -c command
	}
	return in
}

// longOption looks an option up as getopt_long does, which takes any beginning
// of a name. Where two with the same beginning differ it is not known.
func longOption(long []string, typed string) (name string, takes, ok bool) {
	for _, l := range long {
		full, value := strings.CutSuffix(l, "=")
		if full == typed {
			return full, value, true
		}
		if typed == "" || !strings.HasPrefix(full, typed) {
			continue
		}
		if ok && takes != value {
			return "", false, false
		}
		name, takes, ok = full, value, true
	}
	return name, takes, ok
}
