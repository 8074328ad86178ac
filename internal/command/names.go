package command

import (
	"slices"
	"strings"
	"sync"
)

// kind describes an interpreter, as the end of a sentence.
type kind string

// interpreters are the programs that run code from their arguments, by file name without
// version.
//
// Editors with a language of their own are included (vim -c, emacs --script). Not included
// are ed, less, man and nano, which start a shell only when somebody types "!", and
// compilers, m4, bc, dc, jq, sed, make, git and sqlite3, which are what people use commands
// for.
var interpreters = map[kind]string{
	"a shell":                                     "sh bash rbash dash ash zsh rzsh ksh ksh93 rksh rksh93 mksh lksh posh fish csh tcsh bsd-csh yash static-sh rc pdksh oksh loksh sash hush nu nushell elvish xonsh oil osh ysh murex pwsh powershell",
	"a Python interpreter":                        "python pythonw pypy ipython jython micropython circuitpython graalpy bpython ptpython",
	"a JavaScript runtime":                        "node nodejs deno bun bunx qjs quickjs js mujs d8 jsc gjs cjs rhino jjs jrunscript hermes txiki tjs",
	"a Ruby interpreter":                          "ruby irb jruby mruby mirb truffleruby erb",
	"a Perl interpreter":                          "perl raku rakudo moar perl6",
	"a PHP interpreter":                           "php php-cgi php-cli phpdbg hhvm",
	"a Lua interpreter":                           "lua luajit texlua luatex wrk luau fennel",
	"an awk interpreter":                          "awk gawk mawk nawk bwk original-awk igawk goawk frawk bioawk",
	"a Tcl interpreter":                           "tclsh wish tclkit expect expectk jimsh",
	"a Lisp interpreter":                          "guile scheme mit-scheme chibi-scheme racket gracket mzscheme chez petite csi gsi bigloo gosh sbcl clisp ecl ccl abcl clojure clj janet picolisp newlisp",
	"an R interpreter":                            "R Rscript littler",
	"a Julia interpreter":                         "julia",
	"an Octave interpreter":                       "octave octave-cli matlab",
	"an Erlang runtime":                           "erl erlexec beam.smp escript elixir iex",
	"a Java runtime":                              "java javaw jshell jdb groovy groovysh scala kotlin bsh ammonite amm jbang",
	"a .NET runtime":                              "dotnet mono mono-sgen mono-boehm fsi csharp dotnet-script",
	"a Swift interpreter":                         "swift swift-frontend",
	"a Haskell interpreter":                       "ghci runghc runhaskell hugs",
	"an OCaml interpreter":                        "ocaml ocamlrun utop",
	"a Prolog interpreter":                        "swipl prolog gprolog",
	"a Forth interpreter":                         "gforth pforth",
	"an LLVM interpreter":                         "lli",
	"an AppleScript interpreter":                  "osascript",
	"a script host":                               "cscript wscript mshta",
	"a debugger, which runs scripts and programs": "gdb gdbtui gdb-multiarch gdbserver lldb lldb-server cgdb",
	"an editor that runs scripts":                 "vim vi ex rvim view rview vimdiff gvim gview nvim emacs emacsclient xemacs zile jed",
	"a program that starts a shell":               "script scriptlive su sg newgrp login sulogin parallel tmux screen capsh xterm watch",
}

var kindByName = sync.OnceValue(func() map[string]kind {
	all := map[string]kind{}
	for kind, names := range interpreters {
		for name := range strings.FieldsSeq(names) {
			all[name] = kind
		}
	}
	return all
})

// buildSuffixes are suffixes of a name that tell how a program was built.
var buildSuffixes = strings.Fields("dbg debug static real orig original minimal jit basic tiny nox gtk gtk3 x11 gnu musl")

// kindOf looks up the name of a file, first as it is (python3.11-dbg), then without its
// version and build suffixes.
func kindOf(file string) (kind, bool) {
	file = strings.TrimSuffix(strings.TrimRight(file, "\r"), ".exe")
	if k, ok := kindByName()[file]; ok {
		return k, true
	}
	for {
		shorter := trimOneSuffix(file)
		if shorter == file || shorter == "" {
			return "", false
		}
		file = shorter
		// "R", "vi" and "ex" are too short: ex1 is something else.
		if k, ok := kindByName()[file]; ok && len(file) > 2 {
			return k, true
		}
	}
}

// trimOneSuffix removes one version or build suffix from a name.
func trimOneSuffix(file string) string {
	if i := strings.LastIndexAny(file, "-._+"); i > 0 {
		word := file[i+1:]
		if isVersion(word) || slices.Contains(buildSuffixes, word) {
			return file[:i]
		}
	}
	// python3, and python3d, python3m, python3t with the letter of their build.
	if bare := strings.TrimRight(file, "dmut"); bare != strings.TrimRight(bare, "0123456789") {
		file = bare
	}
	return strings.TrimRight(file, "0123456789")
}

// isVersion reports whether a word is a version, such as 11, 11d, v18, 0rc1 or beta3.
func isVersion(word string) bool {
	after := strings.TrimLeft(word, "0123456789")
	for _, stage := range []string{"v", "r", "p", "a", "b", "rc", "pre", "alpha", "beta"} {
		if n, ok := strings.CutPrefix(after, stage); ok && isDigits(n) {
			return true
		}
	}
	return isDigits(strings.TrimRight(word, "dmut"))
}
