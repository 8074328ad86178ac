package command

import (
	"slices"
	"strings"
)

// through finds the commands that a wrapper runs.
func through(name string, args []string) []inner {
	switch name {
	case "env":
		return []inner{throughEnv(args)}
	case "find":
		return throughFind(args, "-exec", "-execdir", "-ok", "-okdir")
	case "fd", "fdfind":
		return throughFd(args)
	case "chroot":
		return []inner{throughChroot(args)}
	case loaderName:
		return []inner{loaderGrammar.split(args)}
	}
	return []inner{wrappers()[name].split(args)}
}

// loaderName stands for ld.so, which has a name for each machine.
const loaderName = "ld.so"

var loaderGrammar = grammar{long: "list verify inhibit-cache library-path= inhibit-rpath= audit= preload= argv0= " +
	"glibc-hwcaps-prepend= glibc-hwcaps-mask= list-tunables list-diagnostics help version"}

// isLoader knows ld-linux-x86-64.so.2, ld-musl-x86_64.so.1, ld-2.31.so, ld.so.1.
func isLoader(file string) bool {
	stem, _, ok := strings.Cut(file, ".so")
	return ok && (stem == "ld" || stem == "ld64" || strings.HasPrefix(stem, "ld-"))
}

var envGrammar = grammar{
	short: "i0vu:C:S:a:", assigns: true, dirs: "C chdir",
	long: "ignore-environment null unset= chdir= split-string= argv0= block-signal default-signal ignore-signal list-signal-handling debug help version",
}

// splitsMost is how many -S are read, one in the other; nobody needs two.
const splitsMost = 8

// throughEnv also reads -S, whose value is a command line in itself and is
// taken apart before all that follows.
func throughEnv(args []string) inner {
	for depth := 0; ; depth++ { // one -S in another, and so on
		at, text, found := splitString(args)
		if !found {
			break
		}
		if depth == splitsMost {
			return inner{refused: "hides its command in too many -S"}
		}
		words, ok := splitWords(text)
		args = slices.Concat(args[:at.from], words, args[at.to:])
		if !ok {
			in := envGrammar.split(args)
			in.unsure = true
			in.skipped = append(slices.Clone(in.skipped), strings.Fields(text)...)
			if strings.Contains(text, "$") {
				in.refused = "runs what a variable says, by -S"
			}
			return in
		}
	}
	for len(args) > 0 && args[0] == "-" { // an old way to write -i
		args = args[1:]
	}
	in := envGrammar.split(args)
	if len(in.argv) > 0 && in.argv[0] == "-" {
		in.unsure = true
	}
	return in
}

type span struct{ from, to int }

// splitString finds the first -S among env's options: -S text, -Stext,
// -iStext, --split-string=text.
func splitString(args []string) (at span, text string, found bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		long, isLong := strings.CutPrefix(arg, "--")
		long, value, has := strings.Cut(long, "=")
		if name, _, _ := longOption(strings.Fields(envGrammar.long), long); isLong && name == "split-string" {
			if has {
				return span{i, i + 1}, value, true
			}
			if i+1 < len(args) {
				return span{i, i + 2}, args[i+1], true
			}
			return span{}, "", false
		}
		if arg == "--" || arg == "" || arg[0] != '-' && !strings.Contains(arg, "=") {
			return span{}, "", false
		}
		if strings.HasPrefix(arg, "--") || arg[0] != '-' {
			if takesNext(arg) {
				i++
			}
			continue
		}
		for j := 1; j < len(arg); j++ {
			last := j == len(arg)-1
			switch {
			case arg[j] == 'S' && !last:
				return span{i, i + 1}, arg[j+1:], true
			case arg[j] == 'S' && i+1 < len(args):
				return span{i, i + 2}, args[i+1], true
			case strings.IndexByte("uCa", arg[j]) >= 0:
				if last {
					i++
				}
				j = len(arg)
			}
		}
	}
	return span{}, "", false
}

func takesNext(arg string) bool {
	if strings.Contains(arg, "=") {
		return false
	}
	_, takes, _ := longOption(strings.Fields(envGrammar.long), strings.TrimPrefix(arg, "--"))
	return takes
}

// splitWords takes a text apart as env -S does. It is not ok when that cannot
// be known here: for a variable, or a quote without an end.
func splitWords(text string) (words []string, ok bool) {
	var word strings.Builder
	var quote byte
	open := false // whether a word has begun; quotes can begin an empty one
	end := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && (quote != '\'' || strings.IndexByte(`\'`, text[i+1]) >= 0):
			i++
			switch e := text[i]; {
			case e == 'c' && quote == 0:
				end()
				return words, true
			case e == '_' && quote == 0, strings.IndexByte("fnrtv", e) >= 0 && quote == 0:
				end()
			case e == '_':
				word.WriteByte(' ')
				open = true
			default:
				word.WriteByte(e)
				open = true
			}
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case c == '$' && quote != '\'':
			return words, false
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			end()
		case quote == 0 && c == '#' && !open:
			return words, true
		default:
			word.WriteByte(c)
			open = true
		}
	}
	end()
	return words, quote == 0
}

// throughFind finds all commands among find's expressions. A command ends with
// ";" or with "{} +".
func throughFind(args []string, actions ...string) (all []inner) {
	for i := 0; i < len(args); i++ {
		action, glued, hasValue := strings.Cut(args[i], "=")
		if !slices.Contains(actions, action) {
			continue
		}
		from := i + 1
		for i++; i < len(args) && args[i] != ";" && (args[i] != "+" || args[i-1] != "{}"); i++ {
			continue
		}
		argv := args[from:i]
		if hasValue {
			argv = append([]string{glued}, argv...)
		}
		// -execdir and -okdir run it in the directory of what was found.
		all = append(all, inner{argv: argv, roams: strings.HasSuffix(action, "dir")})
	}
	return all
}

// fdFlags are the short options of fd that take no value.
const fdFlags = "HIuUsigFaLlpq01hV"

// throughFd is throughFind for fd, which can be told to go elsewhere first, and
// takes -xsh and -Hx sh.
func throughFd(args []string) []inner {
	var apart []string
	for _, arg := range args {
		flags := strings.TrimLeft(arg, "-")
		if at := strings.IndexAny(flags, "xX"); len(arg) == len(flags)+1 && at >= 0 && strings.Trim(flags[:at], fdFlags) == "" {
			apart = append(apart, "-"+flags[at:at+1])
			arg = strings.TrimPrefix(flags[at+1:], "=")
		}
		if arg != "" {
			apart = append(apart, arg)
		}
	}
	all := throughFind(apart, "-x", "-X", "--exec", "--exec-batch")
	for _, arg := range args {
		if strings.HasPrefix(arg, "-C") || strings.HasPrefix(arg, "--base-directory") {
			for i := range all {
				all[i].roams = true
			}
		}
	}
	return all
}

// throughChroot knows that chroot goes to the root, unless it is told not to.
func throughChroot(args []string) inner {
	in := wrappers()["chroot"].split(args)
	stays := func(arg string) bool { return strings.HasPrefix(arg, "--sk") }
	if !slices.ContainsFunc(in.skipped, stays) {
		in.dir = "/"
	}
	return in
}

// isPlaceholder reports whether a word is put together by the wrapper itself:
// {} and fd's {.}.
func isPlaceholder(word string) bool { return strings.Contains(word, "{") }
