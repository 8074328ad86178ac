package interpreter

import (
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// windowsLayout finds the CPython in a directory of Windows. The version is in the name of
// its library, python312.dll. Tests run it on every system. Paths are relative to dir.
func windowsLayout(dir fs.FS) (version [2]int, sysPath, packages []string, err error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return version, nil, nil, err
	}
	zip := ""
	for _, e := range entries {
		// python3.dll is the stable ABI of any version, python3_d.dll a debug build.
		digits, isDLL := strings.CutSuffix(strings.ToLower(e.Name()), ".dll")
		digits, isPython := strings.CutPrefix(digits, "python3")
		digits = strings.TrimSuffix(digits, "t") // free-threaded
		if minor, err := strconv.ParseUint(digits, 10, 8); isDLL && isPython && err == nil {
			version, zip = [2]int{3, int(minor)}, "python3"+digits+".zip"
		}
	}
	if version[0] == 0 {
		return version, nil, nil, run.Errorf(run.NotExecutable, "it has no python3N.dll beside it")
	}
	for _, name := range []string{zip, "DLLs", "Lib"} {
		if _, err := fs.Stat(dir, name); err == nil {
			sysPath = append(sysPath, name)
		}
	}
	// An embeddable Python has its extension modules in the directory itself.
	sysPath = append(sysPath, ".")
	if site := path.Join("Lib", "site-packages"); isDirectory(dir, site) {
		sysPath, packages = append(sysPath, site), []string{site}
	}
	return version, sysPath, packages, nil
}

func isDirectory(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}
