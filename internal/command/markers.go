package command

import (
	"strings"
	"sync"
)

// libraries are what an interpreter's small front is linked with. A front is
// small (frontMost); a large program that has one of them inside (rpm, nmap,
// make with Guile) is an application that can also do that.
var libraries = []struct {
	prefix string
	kind   kind
}{
	{"libpython2", python}, {"libpython3", python}, {"libpypy", python},
	{"libnode.so", javascript}, {"libmozjs", javascript},
	{"libruby", ruby}, {"libperl.so", perl}, {"libphp", php},
	{"liblua5", lua}, {"liblua.so", lua}, {"liblua-5", lua}, {"libluajit", lua},
	{"libtcl8", tcl}, {"libtcl9", tcl}, {"libtcl.so", tcl}, {"libexpect", tcl},
	{"libguile", lisp}, {"libR.so", statistics},
	{"libjulia", "a Julia interpreter"}, {"libswipl", "a Prolog interpreter"}, {"libmonosgen", "a .NET runtime"},
}

// inside is what a program is, by its contents.
type inside struct {
	kind      kind
	multicall bool // busybox: the name by which it is called decides
	loader    bool // ld.so: runs the program that is its argument
}

// signatures are texts that only such a program has: the names of variables
// that it reads at its start, or of parts of its language. All texts of a
// signature must be there. The first that fits is taken, and so the multi-call
// programs, which contain a shell and awk among others, stand first.
//
// The shortest text sets the pace of the search: none has less than 11 bytes.
// No text stands here as it is searched for ("·" is taken out), or cordon
// itself would be called a shell.
var signatures = []struct {
	inside inside
	texts  []string
}{
	{inside{multicall: true}, []string{"BusyBox is a ·multi-call"}},
	{inside{multicall: true}, []string{"Toybox %s ·multicall"}},
	{inside{loader: true}, []string{"--inhibit·-rpath", "_rtld·_global"}},
	{inside{kind: python}, []string{"PYTHON·STARTUP", "PYTHON·HASHSEED"}},
	{inside{kind: javascript}, []string{"NODE_REPL·_EXTERNAL_MODULE"}},
	{inside{kind: perl}, []string{"PERL_HASH·_SEED", "PERL_·SIGNALS"}},
	{inside{kind: ruby}, []string{"RUBY_THREAD·_MACHINE_STACK_SIZE", "ruby_run·_node"}},
	{inside{kind: php}, []string{"PHP_INI·_SCAN_DIR", "zend_·execute"}},
	{inside{kind: lua}, []string{"=(command· line)", "cannot create state: ·not enough memory"}},
	{inside{kind: shell}, []string{"BASH_EXECUTION·_STRING", "BASH_·SUBSHELL"}},
	{inside{kind: shell}, []string{"ZSH_EVAL·_CONTEXT", "ZSH_·SUBSHELL"}},
	{inside{kind: shell}, []string{".sh.·version", "KSH_·VERSION"}},
	{inside{kind: shell}, []string{"KSH_VERSION·=@(#)"}},
	{inside{kind: shell}, []string{"POSH_·VERSION", "too many files ·open in shell"}},
	{inside{kind: shell}, []string{"Illegal option ·-%c", "Bad ·substitution"}}, // dash
	{inside{kind: shell}, []string{"YASH_·LOADPATH"}},
	{inside{kind: shell}, []string{"LC_MESSAGES/·tcsh.cat"}},
	{inside{kind: shell}, []string{"__fish_print_help· fish", "FISH_DEBUG·_OUTPUT"}},
	{inside{kind: awk}, []string{"GAWK_READ·_TIMEOUT"}},
	{inside{kind: awk}, []string{"MAWK_LONG·_OPTIONS"}},
	{inside{kind: awk}, []string{"out of space in ·makefields"}}, // Kernighan's own
	{inside{kind: tcl}, []string{"tcl_rc·FileName", "tcl_inter·active"}},
	{inside{kind: lisp}, []string{"racket_embedded·_load_bytes"}},
	{inside{kind: editor}, []string{"$VIMRUNTIME·/doc/help.txt"}},
	{inside{kind: editor}, []string{"EMACS·LOADPATH"}},
}

// signatureSearch is for the texts of all signatures, and knows which are whose.
type signatureSearch struct {
	*scanner
	of [][]int
}

// search is built when the first file is read for them.
var search = sync.OnceValue(func() (s signatureSearch) {
	var texts []string
	index := map[string]int{}
	for _, sig := range signatures {
		var own []int
		for _, t := range sig.texts {
			t = strings.ReplaceAll(t, "·", "")
			if _, ok := index[t]; !ok {
				index[t] = len(texts)
				texts = append(texts, t)
			}
			own = append(own, index[t])
		}
		s.of = append(s.of, own)
	}
	s.scanner = newScanner(texts)
	return s
})

// signatureOf gives what the found texts mean.
func signatureOf(found []bool) inside {
next:
	for i, own := range search().of {
		for _, t := range own {
			if !found[t] {
				continue next
			}
		}
		return signatures[i].inside
	}
	return inside{}
}
