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
}

// inner is what a wrapper runs.
type inner struct {
	argv    []string // the command; empty for none
	skipped []string // what stood before it
	shell   string   // why a shell would be started, or ""
	unsure  bool     // an option was not known, so any word may be the command
	folders []string // its PATH, if that was changed
	dir     string   // its working directory, if that was changed
}

// split finds the command in a wrapper's arguments.
func (g grammar) split(args []string) inner {
	in := inner{unsure: g.anywhere}
	short, long := g.short, strings.Fields(g.long)
	shells, direct := strings.Fields(g.shells), strings.Fields(g.direct)
	isDirect := false
	option := func(spelled, name string) {
		if slices.Contains(shells, name) {
			in.shell = "starts a shell because of " + spelled
		}
		isDirect = isDirect || slices.Contains(direct, name)
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
			typed, _, hasValue := strings.Cut(arg[2:], "=")
			name, takes, ok := longOption(long, typed)
			in.unsure = in.unsure || !ok
			option("--"+typed, name)
			if takes && !hasValue {
				i++
			}
		case len(arg) > 1 && arg[0] == '-' && digits(arg[1:]) && strings.IndexByte(short, arg[1]) < 0:
			// nice -5
		case len(arg) > 1 && arg[0] == '-':
			for j := 1; j < len(arg); j++ {
				at := strings.IndexByte(short, arg[j])
				option("-"+arg[j:j+1], arg[j:j+1])
				if at < 0 || arg[j] == ':' {
					in.unsure = true
					break
				}
				if rest := short[at+1:]; strings.HasPrefix(rest, "::") {
					break
				} else if strings.HasPrefix(rest, ":") {
					if j == len(arg)-1 {
						i++
					}
					break
				}
			}
		case g.assigns && strings.Contains(arg, "="):
			if value, ok := strings.CutPrefix(arg, "PATH="); ok {
				in.folders = strings.Split(value, ":")
			}
		default:
			break options
		}
		i++
	}
	i = min(i+g.operands, len(args))
	in.skipped, in.argv = args[:i], args[i:]
	switch {
	case in.shell != "":
	case g.always, len(direct) > 0 && !isDirect:
		in.shell = "starts a shell"
	case g.bare && len(in.argv) == 0:
		in.shell = "starts a shell when it gets no command"
	case len(in.argv) > 0 && strings.HasPrefix(in.argv[0], "-") && slices.Contains(shells, strings.TrimLeft(in.argv[0], "-")):
		in.shell = "starts a shell because of " + in.argv[0] // flock file -c command
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
