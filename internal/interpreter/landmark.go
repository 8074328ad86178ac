package interpreter

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// layout is where one CPython keeps its library.
type layout struct {
	version   [2]int
	prefix    string
	lib       string // "lib" or "lib64": what Python calls sys.platlibdir
	directory string // "python3.11", "python3.13t"
	stdlib    string
}

// These leave open which Python a binary is.
var (
	errNoLandmark = errors.New("no standard library beside it")
	errAmbiguous  = errors.New("several standard libraries beside it")
)

// binaryName is what a binary's name tells. Minor is -1 where the name has no
// full version ("python3").
type binaryName struct {
	major, minor int
	threads      string // "t" for a free-threaded build, which has directories of its own
}

// parseName reads "python", "python3", "python3.11", "python3.13t" and
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

// libDirectories are the values of sys.platlibdir that are in use.
var libDirectories = []string{"lib", "lib64"}

// findLayout applies CPython's landmark rule to a real binary: from its directory
// upward, the first lib/python3.N/os.py. The binary knows its N; we know it
// from the name. A name without one is trusted to the directory next to its own
// only, and only if a single version is there.
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

// onlyLayout finds the one version whose library is under prefix.
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

// single wants exactly one library, but forgives lib64 as a link to lib.
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

// layoutAt checks for the landmark. It must be a file, not a link: trees of
// links (Nix) have their real prefix elsewhere, and only Python knows where.
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

// basePackages lists the directories that the site module of this interpreter
// would add, and that exist.
func (l layout) basePackages(fsys fs.FS) []string {
	var dirs []string
	debian := path.Join(l.prefix, "lib/python3/dist-packages")
	if l.lib == "lib" && isDir(fsys, debian) {
		// Debian keeps the names apart so that a Python built by hand under
		// /usr/local does not share packages with its own.
		return existing(fsys, []string{
			path.Join(l.prefix, "local/lib", l.directory, "dist-packages"),
			debian,
			path.Join(l.stdlib, "dist-packages"),
		})
	}
	if l.lib != "lib" {
		if path.Base(l.prefix) == "usr" { // Fedora puts what pip installs first
			dirs = append(dirs, l.sitePackages(path.Join(l.prefix, "local"))...)
		}
	}
	return existing(fsys, append(dirs, l.sitePackages(l.prefix)...))
}

// sitePackages are the places below root, as site.getsitepackages has them.
func (l layout) sitePackages(root string) []string {
	dirs := []string{path.Join(root, l.lib, l.directory, "site-packages")}
	if l.lib != "lib" {
		dirs = append(dirs, path.Join(root, "lib", l.directory, "site-packages"))
	}
	return dirs
}

// sysPath is what a guest's sys.path must be.
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

// existing keeps the directories that are there, each once (lib64 may be a link).
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

// layoutByLibrary is for a binary whose name has no version and which has
// several libraries beside it: the libpython that it needs tells.
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
