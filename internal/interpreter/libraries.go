package interpreter

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// object is what a loader reads of an ELF file.
type object struct {
	loader  string   // PT_INTERP
	needed  []string // DT_NEEDED
	runpath []string // DT_RUNPATH, else DT_RPATH; $ORIGIN replaced
	triplet string   // Debian's name for the architecture, "x86_64-linux-gnu"
}

// outward are the standard library's modules that use libraries beyond libc
// and that guests use: those of terminals and windows are not among them.
// Reading all of lib-dynload would take milliseconds and find the same.
var outward = []string{
	"_bz2", "_ctypes", "_dbm", "_decimal", "_gdbm", "_lzma", "_sqlite3", "_ssl", "_uuid", "_zstd", "pyexpat", "zlib",
}

// alternatives are libraries that Debian leads through /etc/alternatives, out
// of the directories that we mount; numpy needs them.
var alternatives = []string{"libblas.so.3", "liblapack.so.3"}

// libraries adds the loader and the directories in which it finds libraries. Whole
// directories, where they are the system's or the interpreter's own: packages
// bring needs that cannot be known here. Elsewhere single files, so that a
// stray library does not open a directory of the host's.
func (p *planner) libraries(i Interpreter) error {
	bin, err := p.readELF(i.Path)
	if err != nil {
		return run.Errorf(run.NotExecutable, "%s is not an ELF program: %w", i.Path, err)
	}
	if bin.loader == "" {
		return nil // static: it loads nothing
	}
	if !p.need(bin.loader) {
		return run.Errorf(run.NotExecutable, "%s needs the loader %s, which is not there: it was built for another system", i.Path, bin.loader)
	}
	s := &librarySearch{planner: p, prefix: i.Prefix, whole: map[string]bool{}, seen: map[string]bool{}}
	s.addSystem(bin)
	for _, dir := range bin.runpath {
		if s.own(dir) && isDir(p.fsys, dir) {
			s.addWhole(dir)
		}
	}
	if missing := s.follow(bin.needed, bin.runpath); missing != "" {
		return run.Errorf(run.NotExecutable,
			"%s needs the library %s, which is in none of the directories that the loader searches (LD_LIBRARY_PATH is not passed to guests)", i.Path, missing)
	}
	if i.Prefix != "/usr" { // a distribution's modules use its own directories
		s.followModules(path.Join(i.Stdlib, "lib-dynload"))
	}
	for _, name := range alternatives {
		p.need(path.Join("/usr/lib", bin.triplet, name))
	}
	return nil
}

// librarySearch looks for libraries as the loader inside will.
type librarySearch struct {
	*planner
	prefix string
	dirs   []string          // real directories of the system, in order
	whole  map[string]bool   // real directories that are mounted whole
	seen   map[string]bool   // libraries that were followed
	cache  map[string]string // from /etc/ld.so.cache, read when first wanted
}

// addSystem lists the loader's default directories and mounts those that hold
// nothing but libraries. /lib and /usr/lib hold half of the host on Debian:
// they are mounted only where libc itself lies in them (Arch, Alpine).
func (s *librarySearch) addSystem(bin object) {
	musl := strings.HasPrefix(path.Base(bin.loader), "ld-musl-")
	always := []string{"/lib64", "/usr/lib64"}
	if bin.triplet != "" {
		always = append([]string{path.Join("/lib", bin.triplet), path.Join("/usr/lib", bin.triplet)}, always...)
	}
	maybe := []string{"/lib", "/usr/lib"}
	if musl {
		always, maybe = nil, s.muslDirectories(bin.loader)
	}
	for _, dir := range always {
		if isDir(s.fsys, dir) {
			s.addWhole(dir)
			s.addDir(dir)
		}
	}
	for _, dir := range maybe {
		s.addDir(dir)
	}
	for _, name := range bin.needed {
		isLibc := strings.HasPrefix(name, "libc.")
		if lib := s.locate(name, nil); isLibc && lib != "" {
			s.addWhole(path.Dir(lib))
		}
	}
	if musl { // libc lies in /lib, all others in /usr/lib
		s.addWhole("/lib")
		s.addWhole("/usr/lib")
	}
}

// muslDirectories is musl's search path: its own file, or the built-in list.
func (s *librarySearch) muslDirectories(loader string) []string {
	name := "/etc/" + strings.TrimSuffix(path.Base(loader), ".so.1") + ".path"
	text, err := readHead(s.fsys, name, 64<<10)
	if err != nil {
		return []string{"/lib", "/usr/local/lib", "/usr/lib"}
	}
	s.need(name)
	return slices.DeleteFunc(strings.FieldsFunc(string(text), func(r rune) bool { return r == ':' || r == '\n' }),
		func(dir string) bool { return !path.IsAbs(dir) })
}

func (s *librarySearch) addDir(dir string) {
	if real, _, err := resolve(s.fsys, dir); err == nil && !slices.Contains(s.dirs, real) {
		s.dirs = append(s.dirs, real)
	}
}

func (s *librarySearch) addWhole(dir string) {
	if s.need(dir) {
		real, _, _ := resolve(s.fsys, dir)
		s.whole[real] = true
	}
}

// own reports whether a directory is the interpreter's lib, or lies in it. The
// prefix itself never is: it may be somebody's home.
func (s *librarySearch) own(dir string) bool {
	for _, lib := range libDirectories {
		mine := path.Join(s.prefix, lib)
		if system := mine == "/lib" || mine == "/usr/lib"; !system && hostpath.Under(path.Clean(dir), mine) {
			return true
		}
	}
	return false
}

// locate finds the path by which the loader reaches a library, or nothing.
func (s *librarySearch) locate(name string, runpath []string) string {
	if path.IsAbs(name) {
		return name
	}
	for _, dir := range slices.Concat(runpath, s.dirs) {
		if lib := path.Join(dir, name); isFile(s.fsys, lib) {
			return lib
		}
	}
	if s.cache == nil {
		data, _ := readHead(s.fsys, "/etc/ld.so.cache", 16<<20)
		s.cache = parseCache(data)
	}
	if lib := s.cache[name]; lib != "" && isFile(s.fsys, lib) {
		return lib
	}
	return ""
}

// follow adds libraries and what they need in turn; it returns the first that
// is missing. What lies in a directory that is mounted whole needs no following:
// its own needs are the distribution's care.
func (s *librarySearch) follow(needed, runpath []string) (missing string) {
	for _, name := range needed {
		if s.seen[name] {
			continue
		}
		s.seen[name] = true
		lib := s.locate(name, runpath)
		if lib == "" {
			if missing == "" {
				missing = name
			}
			continue
		}
		real, _, err := resolve(s.fsys, path.Dir(lib))
		if err != nil {
			continue
		}
		if slices.Contains(s.dirs, real) && s.whole[real] {
			s.need(lib) // its links may lead out of the directory
			continue
		}
		if s.own(path.Dir(lib)) || s.own(real) {
			s.addWhole(path.Dir(lib))
		}
		s.need(lib)
		if o, err := s.readELF(lib); err == nil {
			if m := s.follow(o.needed, slices.Concat(o.runpath, runpath)); missing == "" {
				missing = m
			}
		}
	}
	return missing
}

// followModules does the same for the standard library's modules. What they
// miss is no error: that module does not work on the host either.
func (s *librarySearch) followModules(dynload string) {
	real, _, err := resolve(s.fsys, dynload)
	if err != nil {
		return
	}
	entries, _ := fs.ReadDir(s.fsys, inFS(real))
	for _, e := range entries {
		module, _, _ := strings.Cut(e.Name(), ".")
		if !slices.Contains(outward, module) {
			continue
		}
		if o, err := s.readELF(path.Join(real, e.Name())); err == nil {
			s.follow(o.needed, o.runpath)
		}
	}
}
