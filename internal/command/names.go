package command

import (
	"slices"
	"strings"
	"sync"
)

// kind says what an interpreter is, as the end of a sentence.
type kind string

// The kinds that more than one table names.
const (
	shell      kind = "a shell"
	python     kind = "a Python interpreter"
	javascript kind = "a JavaScript runtime"
	perl       kind = "a Perl interpreter"
	ruby       kind = "a Ruby interpreter"
	php        kind = "a PHP interpreter"
	lua        kind = "a Lua interpreter"
	awk        kind = "an awk interpreter"
	tcl        kind = "a Tcl interpreter"
	lisp       kind = "a Lisp interpreter"
	statistics kind = "an R interpreter"
	editor     kind = "an editor that runs scripts"
)

// named is the denylist. Where told is true, the file itself tells what it is
// (markers.go), and a name is believed only in the system's directories: a project
// may well build a program called "node".
//
// Editors with a language of their own are in it (vim -c, emacs --script); ed,
// less, man and nano are not: they have none, and start a shell only for
// somebody who types "!". Compilers, m4, bc, dc, jq, sed, make, git and sqlite3
// are tools that people come for.
var named = []struct {
	kind  kind
	told  bool
	names string
}{
	{shell, true, "sh bash rbash dash ash zsh rzsh ksh ksh93 rksh rksh93 mksh lksh posh fish csh tcsh bsd-csh yash static-sh"},
	{shell, false, "rc pdksh oksh loksh sash hush nu nushell elvish xonsh oil osh ysh murex pwsh powershell"},
	{python, true, "python pythonw pypy"},
	{python, false, "ipython jython micropython circuitpython graalpy bpython ptpython"},
	{javascript, true, "node nodejs"},
	{javascript, false, "deno bun bunx qjs quickjs js mujs d8 jsc gjs cjs rhino jjs jrunscript hermes txiki tjs"},
	{ruby, true, "ruby"},
	{ruby, false, "irb jruby mruby mirb truffleruby erb"},
	{perl, true, "perl"},
	{perl, false, "raku rakudo moar perl6"},
	{php, true, "php php-cgi php-cli phpdbg hhvm"},
	{lua, true, "lua luajit texlua luatex wrk"},
	{lua, false, "luau fennel"},
	{awk, true, "awk gawk mawk nawk bwk original-awk igawk"},
	{awk, false, "goawk frawk bioawk"},
	{tcl, true, "tclsh wish tclkit"},
	{tcl, false, "expect expectk jimsh"},
	{lisp, true, "guile"},
	{lisp, false, "scheme mit-scheme chibi-scheme racket gracket mzscheme chez petite csi gsi bigloo gosh sbcl clisp ecl ccl abcl clojure clj janet picolisp newlisp"},
	{statistics, true, "R"},
	{statistics, false, "Rscript littler"},
	{"a Julia interpreter", false, "julia"},
	{"an Octave interpreter", false, "octave octave-cli matlab"},
	{"an Erlang runtime", false, "erl erlexec beam.smp escript elixir iex"},
	{"a Java runtime", false, "java javaw jshell jdb groovy groovysh scala kotlin bsh ammonite amm jbang"},
	{"a .NET runtime", false, "dotnet mono mono-sgen mono-boehm fsi csharp dotnet-script"},
	{"a Swift interpreter", false, "swift swift-frontend"},
	{"a Haskell interpreter", false, "ghci runghc runhaskell hugs"},
	{"an OCaml interpreter", false, "ocaml ocamlrun utop"},
	{"a Prolog interpreter", false, "swipl prolog gprolog"},
	{"a Forth interpreter", false, "gforth pforth"},
	{"an LLVM interpreter", false, "lli"},
	{"an AppleScript interpreter", false, "osascript"},
	{"a script host", false, "cscript wscript mshta"},
	{"a debugger, which runs scripts and programs", false, "gdb gdbtui gdb-multiarch gdbserver lldb lldb-server cgdb"},
	{editor, true, "vim vi ex rvim view rview vimdiff gvim gview nvim emacs"},
	{editor, false, "emacsclient xemacs zile jed"},
}

// A name is an entry of named.
type name struct {
	kind kind
	told bool
}

var names = sync.OnceValue(func() map[string]name {
	all := map[string]name{}
	for _, n := range named {
		for word := range strings.FieldsSeq(n.names) {
			all[word] = name{n.kind, n.told}
		}
	}
	return all
})

// builds are words at the end of a name that say how or for what it was built.
var builds = strings.Fields("dbg debug static bin real orig original min minimal dist c jit " +
	"basic tiny nox nox11 gtk gtk2 gtk3 pgtk x x11 lucid athena motif huge small gnome mawk gawk byron " +
	"gnu musl linux x86 i386 i686 amd64 arm64 aarch64 win32")

// nameOf looks a file's name up: as it is, and without the triplet in front of
// it, without version and build words: x86_64-linux-gnu-python3.11-dbg.
func nameOf(file string) (name, bool) {
	file = strings.TrimSuffix(strings.TrimRight(file, "\r"), ".exe")
	if n, ok := names()[file]; ok {
		return n, true
	}
	file = withoutTriplet(file)
	for {
		// "R", "vi" and "ex" are short enough for ex1 to be something else.
		if n, ok := names()[file]; ok && len(file) > 2 {
			return n, true
		}
		shorter := shorten(file)
		if shorter == file || shorter == "" {
			return name{}, false
		}
		file = shorter
	}
}

// shorten takes one version or build word from the end of a name.
func shorten(file string) string {
	if i := strings.LastIndexAny(file, "-._+"); i > 0 {
		word := file[i+1:]
		if isVersion(word) || slices.Contains(builds, word) {
			return file[:i]
		}
	}
	// python3, and python3d, python3m, python3t with their build's letter.
	if bare := strings.TrimRight(file, "dmut"); bare != strings.TrimRight(bare, "0123456789") {
		file = bare
	}
	return strings.TrimRight(file, "0123456789")
}

// isVersion knows 11, 11d, v18, 0rc1 and beta3.
func isVersion(word string) bool {
	after := strings.TrimLeft(word, "0123456789")
	for _, stage := range []string{"v", "r", "p", "a", "b", "rc", "pre", "alpha", "beta"} {
		if n, ok := strings.CutPrefix(after, stage); ok && digits(n) {
			return true
		}
	}
	return digits(strings.TrimRight(word, "dmut"))
}

// withoutTriplet takes the machine from the front: arm-none-eabi-gdb.
func withoutTriplet(file string) string {
	words := strings.Split(file, "-")
	at := slices.IndexFunc(words, func(w string) bool { return slices.Contains(systems, w) })
	if at < 1 || !slices.ContainsFunc(machines, func(m string) bool { return strings.HasPrefix(words[0], m) }) {
		return file
	}
	rest := words[at+1:]
	for len(rest) > 0 && slices.ContainsFunc(abis, func(a string) bool { return strings.HasPrefix(rest[0], a) }) {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		return file // perl5.36-x86_64-linux-gnu
	}
	return strings.Join(rest, "-")
}

var (
	machines = strings.Fields("x86_64 i386 i486 i586 i686 amd64 arm aarch64 riscv powerpc ppc s390x mips sparc loongarch m68k")
	systems  = strings.Fields("linux none darwin apple w64 freebsd netbsd openbsd unknown pc")
	abis     = strings.Fields("gnu musl eabi elf android mingw32 darwin linux uclibc")
)
