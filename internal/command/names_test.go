package command

import "testing"

func TestNames(t *testing.T) {
	for _, test := range []struct {
		file string
		kind kind
	}{
		{"sh", shell}, {"bash", shell}, {"bash-static", shell}, {"bash5.2", shell}, {"rbash", shell}, {"zsh-5.9", shell}, {"ksh93", shell}, {"pwsh", shell}, {"dash\r", shell},
		{"python", python}, {"python3", python}, {"python3.11", python}, {"python3.11-dbg", python}, {"python2.7", python}, {"python3.13t", python}, {"python3.8m", python}, {"python3d", python},
		{"x86_64-linux-gnu-python3", python}, {"aarch64-linux-gnu-python3.11-dbg", python}, {"python.exe", python}, {"pypy3", python}, {"pypy3.9-c", python}, {"python3.14.0rc1", python},
		{"perl5.36.0", perl}, {"perl5.36-x86_64-linux-gnu", perl}, {"node", javascript}, {"node18", javascript}, {"node-v20.1", javascript}, {"nodejs", javascript}, {"bun", javascript},
		{"ruby3.1", ruby}, {"php8.2", php}, {"php-cgi8.2", php}, {"lua5.4", lua}, {"luajit-2.1.0-beta3", lua}, {"gawk-5.2.1", awk}, {"original-awk", awk}, {"tclsh8.6", tcl}, {"guile-3.0", lisp},
		{"vim.basic", editor}, {"vim.nox", editor}, {"vi", editor}, {"emacs-28.2", editor}, {"emacs-nox", editor}, {"R", statistics}, {"Rscript", statistics},
		{"arm-none-eabi-gdb", "a debugger, which runs scripts and programs"}, {"java", "a Java runtime"}, {"lli-14", "an LLVM interpreter"},

		{"ls", ""}, {"sed", ""}, {"make", ""}, {"git", ""}, {"sqlite3", ""}, {"bc", ""}, {"m4", ""}, {"javac", ""}, {"luac5.4", ""}, {"gcc-12", ""}, {"x86_64-linux-gnu-gcc-12", ""}, {"clang-14", ""},
		{"bashful", ""}, {"sha256sum", ""}, {"show", ""}, {"ex1", ""}, {"r2", ""}, {"R2", ""}, {"node-exporter2", ""}, {"python-config", ""}, {"perlbug", ""}, {"nodemon", ""}, {"awkward", ""}, {"tclx", ""},
		{"ssh", ""}, {"ed", ""}, {"less", ""}, {"nano", ""}, {"7z", ""}, {"x86_64", ""}, {"linux64", ""}, {"-", ""}, {"", ""}, {"3", ""}, {"...", ""}, {"x86_64-linux-gnu-", ""},
	} {
		if got, _ := nameOf(test.file); got.kind != test.kind {
			t.Errorf("%q is %q; want %q", test.file, got.kind, test.kind)
		}
	}
}
