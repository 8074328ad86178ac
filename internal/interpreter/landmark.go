package interpreter

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// layout has the paths of a CPython's library.
type layout struct {
	version   [2]int
	prefix    string
	lib       string // "lib" or "lib64", Python's sys.platlibdir
	directory string // "python3.11", "python3.13t"
	stdlib    string
}

// Errors that do not tell which Python a binary is.
var (
	errNoLandmark = errors.New("no standard library beside it")
	errAmbiguous  = errors.New("several standard libraries beside it")
)

// binaryName is the information in a binary's name. Minor is -1 if the name has no full
// version ("python3").
type binaryName struct {
	major, minor int
	threads      string // "t" for a free-threaded build, which has separate directories
}

// parseName parses "python", "python3", "python3.11", "python3.13t" and
// "python3.11d"; ok is false for every other name.
func parseName(base string) (n binaryName, ok bool) {
	rest, ok := strings.CutPrefix(base, "python")
	if !ok {
		return n, false
	}
	if rest == "" {
		return binaryName{3, -1, ""}, true
	}
	majorText, minorText, dotted := strings.Cut(rest, ".")
	major, err := strconv.ParseUint(majorText, 10, 8)
	if err != nil {
		return n, false
	}
	if !dotted {
		return binaryName{int(major), -1, ""}, true
	}
	digits := strings.TrimRight(minorText, "tdmu")
	minor, err := strconv.ParseUint(digits, 10, 8)
	if err != nil {
		return n, false
	}
	if strings.HasPrefix(minorText[len(digits):], "t") {
		n.threads = "t"
	}
	n.major, n.minor = int(major), int(minor)
	return n, true
}

// libDirectories are the values of sys.platlibdir in use.
var libDirectories = []string{"lib", "lib64"}

// findLayout applies CPython's landmark rule to a real binary: from its directory upward,
// the first lib/python3.N/os.py. N is compiled into the binary; we take it from the name.
// For a name without N, only the directory beside the binary's counts, and only if it has
// a single version.
func findLayout(fsys fs.FS, bin string) (layout, error) {
	name, ok := parseName(path.Base(bin))
	if !ok || name.major != 3 {
		return layout{}, errNoLandmark
	}
	if name.minor < 0 {
		return onlyLayout(fsys, path.Dir(path.Dir(bin)))
	}
	directory := "python3." + strconv.Itoa(name.minor) + name.threads
	for prefix := path.Dir(bin); ; prefix = path.Dir(prefix) {
		var found []layout
		for _, lib := range libDirectories {
			if l, ok := layoutAt(fsys, prefix, lib, directory); ok {
				found = append(found, l)
			}
		}
		if l, err := single(fsys, found); !errors.Is(err, errNoLandmark) {
			return l, err
		}
		if prefix == "/" {
			return layout{}, errNoLandmark
		}
	}
}

// onlyLayout finds the only version whose library is under prefix.
func onlyLayout(fsys fs.FS, prefix string) (layout, error) {
	var found []layout
	for _, lib := range libDirectories {
		dir, _, err := resolve(fsys, path.Join(prefix, lib))
		if err != nil {
			continue
		}
		entries, _ := fs.ReadDir(fsys, inFS(dir))
		for _, e := range entries {
			if l, ok := layoutAt(fsys, prefix, lib, e.Name()); ok {
				found = append(found, l)
			}
		}
	}
	return single(fsys, found)
}

// single requires exactly one library, where lib64 may be a link to lib.
func single(fsys fs.FS, found []layout) (layout, error) {
	switch len(found) {
	case 0:
		return layout{}, errNoLandmark
	case 1:
		return found[0], nil
	}
	first, _, _ := resolve(fsys, found[0].stdlib)
	for _, l := range found[1:] {
		if other, _, _ := resolve(fsys, l.stdlib); other != first {
			return layout{}, errAmbiguous
		}
	}
	return found[0], nil
}

// layoutAt checks for the landmark. It must be a file, not a link: the real prefix of a
// tree of links (Nix) is elsewhere, and only Python can find it.
func layoutAt(fsys fs.FS, prefix, lib, directory string) (layout, bool) {
	name, ok := parseName(directory)
	if !ok || name.major != 3 || name.minor < 0 {
		return layout{}, false
	}
	stdlib := path.Join(prefix, lib, directory)
	real, _, err := resolve(fsys, stdlib)
	if err != nil {
		return layout{}, false
	}
	info, err := fs.Lstat(fsys, inFS(path.Join(real, "os.py")))
	if err != nil || !info.Mode().IsRegular() {
		return layout{}, false
	}
	return layout{[2]int{3, name.minor}, prefix, lib, directory, stdlib}, true
}

// basePackages lists the existing directories that this interpreter's site module would
// add.
func (l layout) basePackages(fsys fs.FS) []string {
	var dirs []string
	debian := path.Join(l.prefix, "lib/python3/dist-packages")
	if l.lib == "lib" && isDir(fsys, debian) {
		// Debian uses other names, so that a Python in /usr/local does not share packages
		// with Debian's.
		return existing(fsys, []string{
			path.Join(l.prefix, "local/lib", l.directory, "dist-packages"),
			debian,
			path.Join(l.stdlib, "dist-packages"),
		})
	}
	if l.lib != "lib" {
		if path.Base(l.prefix) == "usr" { // Fedora: packages of pip come first
			dirs = append(dirs, l.sitePackages(path.Join(l.prefix, "local"))...)
		}
	}
	return existing(fsys, append(dirs, l.sitePackages(l.prefix)...))
}

// sitePackages returns the directories below root, as site.getsitepackages does.
func (l layout) sitePackages(root string) []string {
	dirs := []string{path.Join(root, l.lib, l.directory, "site-packages")}
	if l.lib != "lib" {
		dirs = append(dirs, path.Join(root, "lib", l.directory, "site-packages"))
	}
	return dirs
}

// sysPath returns the guest's sys.path.
func (l layout) sysPath(fsys fs.FS, packages []string) []string {
	var all []string
	zip := path.Join(l.prefix, l.lib, strings.Replace(l.directory, ".", "", 1)+".zip")
	if isFile(fsys, zip) {
		all = append(all, zip)
	}
	all = append(all, l.stdlib)
	if dynload := path.Join(l.stdlib, "lib-dynload"); isDir(fsys, dynload) {
		all = append(all, dynload)
	}
	return append(all, packages...)
}

// existing returns the directories that exist, each once (lib64 may be a link).
func existing(fsys fs.FS, dirs []string) []string {
	var kept, reals []string
	for _, dir := range dirs {
		real, _, err := resolve(fsys, dir)
		if err != nil || slices.Contains(reals, real) || !isDir(fsys, real) {
			continue
		}
		kept, reals = append(kept, dir), append(reals, real)
	}
	return kept
}

// layoutByLibrary finds the layout of a binary without a version in its name and with
// several standard libraries beside it, by the libpython that it needs.
func layoutByLibrary(fsys fs.FS, bin string, needed []string) (layout, error) {
	prefix := path.Dir(path.Dir(bin))
	for _, name := range needed {
		// "libpython3.11.so.1.0"
		rest, isPython := strings.CutPrefix(name, "libpython3.")
		if !isPython {
			continue
		}
		minor, _, _ := strings.Cut(rest, ".so")
		var found []layout
		for _, lib := range libDirectories {
			if l, ok := layoutAt(fsys, prefix, lib, "python3."+minor); ok {
				found = append(found, l)
			}
		}
		return single(fsys, found)
	}
	return layout{}, errAmbiguous
}
