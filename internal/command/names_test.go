package command

import "testing"

func TestKindOf(t *testing.T) {
	for _, test := range []struct {
		file string
		kind kind
	}{
		{"sh", "a shell"}, {"bash", "a shell"}, {"bash-static", "a shell"}, {"bash5.2", "a shell"}, {"rbash", "a shell"}, {"zsh-5.9", "a shell"}, {"ksh93", "a shell"}, {"pwsh", "a shell"}, {"dash\r", "a shell"},
		{"python", "a Python interpreter"}, {"python3", "a Python interpreter"}, {"python3.11", "a Python interpreter"}, {"python3.11-dbg", "a Python interpreter"}, {"python2.7", "a Python interpreter"}, {"python3.13t", "a Python interpreter"}, {"python3.8m", "a Python interpreter"}, {"python3d", "a Python interpreter"},
		{"python.exe", "a Python interpreter"}, {"pypy3", "a Python interpreter"}, {"python3.14.0rc1", "a Python interpreter"},
		{"perl5.36.0", "a Perl interpreter"}, {"node", "a JavaScript runtime"}, {"node18", "a JavaScript runtime"}, {"node-v20.1", "a JavaScript runtime"}, {"nodejs", "a JavaScript runtime"}, {"bun", "a JavaScript runtime"},
		{"ruby3.1", "a Ruby interpreter"}, {"php8.2", "a PHP interpreter"}, {"php-cgi8.2", "a PHP interpreter"}, {"lua5.4", "a Lua interpreter"}, {"luajit-2.1.0-beta3", "a Lua interpreter"}, {"gawk-5.2.1", "an awk interpreter"}, {"original-awk", "an awk interpreter"}, {"tclsh8.6", "a Tcl interpreter"}, {"guile-3.0", "a Lisp interpreter"},
		{"vim.basic", "an editor that runs scripts"}, {"vim.nox", "an editor that runs scripts"}, {"vi", "an editor that runs scripts"}, {"emacs-28.2", "an editor that runs scripts"}, {"emacs-nox", "an editor that runs scripts"}, {"R", "an R interpreter"}, {"Rscript", "an R interpreter"},
		{"java", "a Java runtime"}, {"lli-14", "an LLVM interpreter"},

		{"ls", ""}, {"sed", ""}, {"make", ""}, {"git", ""}, {"sqlite3", ""}, {"bc", ""}, {"m4", ""}, {"javac", ""}, {"luac5.4", ""}, {"gcc-12", ""}, {"x86_64-linux-gnu-gcc-12", ""}, {"clang-14", ""},
		{"bashful", ""}, {"sha256sum", ""}, {"show", ""}, {"ex1", ""}, {"r2", ""}, {"R2", ""}, {"node-exporter2", ""}, {"python-config", ""}, {"perlbug", ""}, {"nodemon", ""}, {"awkward", ""}, {"tclx", ""},
		{"ssh", ""}, {"ed", ""}, {"less", ""}, {"nano", ""}, {"7z", ""}, {"x86_64", ""}, {"linux64", ""}, {"-", ""}, {"", ""}, {"3", ""}, {"...", ""}, {"x86_64-linux-gnu-", ""},
	} {
		if got, _ := kindOf(test.file); got != test.kind {
			t.Errorf("%q is %q; want %q", test.file, got, test.kind)
		}
	}
}
