package interpreter

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/run"
)

// object is the part of an ELF file that a loader reads.
type object struct {
	loader  string   // PT_INTERP
	needed  []string // DT_NEEDED
	runpath []string // DT_RUNPATH, else DT_RPATH; $ORIGIN replaced
	triplet string   // Debian's name for the architecture, "x86_64-linux-gnu"
}

// modulesWithLibraries are the modules of the standard library that use libraries other
// than libc and that guests use, so none for terminals and windows. Reading all of
// lib-dynload would take milliseconds and find the same libraries.
var modulesWithLibraries = []string{
	"_bz2", "_ctypes", "_dbm", "_decimal", "_gdbm", "_lzma", "_sqlite3", "_ssl", "_uuid", "_zstd", "pyexpat", "zlib",
}

// alternatives are libraries that Debian links through /etc/alternatives, which is not
// mounted. numpy needs them.
var alternatives = []string{"libblas.so.3", "liblapack.so.3"}

// libraries adds the loader and the directories in which it finds libraries. It adds whole
// directories of the system and of the interpreter, because packages may need further
// libraries. Elsewhere it adds single files, so that a stray library does not expose a
// directory of the host.
func (p *planner) libraries(i Interpreter) error {
	bin, err := p.readELF(i.Path)
	if err != nil {
		return run.Errorf(run.NotExecutable, "%s is not an ELF program: %w", i.Path, err)
	}
	if bin.loader == "" {
		return nil // statically linked
	}
	if !p.need(bin.loader) {
		return run.Errorf(run.NotExecutable, "%s needs the loader %s, which does not exist: it was built for another system", i.Path, bin.loader)
	}
	s := &librarySearch{planner: p, prefix: i.Prefix, whole: map[string]bool{}, seen: map[string]bool{}}
	s.addSystem(bin)
	for _, dir := range bin.runpath {
		if s.isOwn(dir) && isDir(p.fsys, dir) {
			s.addWhole(dir)
		}
	}
	if missing := s.follow(bin.needed, bin.runpath); missing != "" {
		return run.Errorf(run.NotExecutable,
			"%s needs the library %s, which is in none of the directories that the loader searches (LD_LIBRARY_PATH is not passed to guests)", i.Path, missing)
	}
	if i.Prefix != "/usr" { // modules of a distribution use the system's directories
		s.followModules(path.Join(i.Stdlib, "lib-dynload"))
	}
	for _, name := range alternatives {
		p.need(path.Join("/usr/lib", bin.triplet, name))
	}
	return nil
}

// librarySearch finds libraries as the loader of the guest will.
type librarySearch struct {
	*planner
	prefix string
	musl   bool
	dirs   []string          // real directories of the system, in order
	whole  map[string]bool   // real directories that are mounted whole
	seen   map[string]bool   // libraries that were followed
	cache  map[string]string // from /etc/ld.so.cache, read on first use
}

// addSystem lists the loader's default directories and mounts those that contain only
// libraries. On Debian, /lib and /usr/lib contain half of the host: they are mounted only
// if libc is in them (Arch, Alpine).
func (s *librarySearch) addSystem(bin object) {
	if s.musl = strings.HasPrefix(path.Base(bin.loader), "ld-musl-"); s.musl {
		s.addMusl(bin.loader)
		return
	}
	always := []string{"/lib64", "/usr/lib64"}
	if bin.triplet != "" {
		always = append([]string{path.Join("/lib", bin.triplet), path.Join("/usr/lib", bin.triplet)}, always...)
	}
	for _, dir := range always {
		if isDir(s.fsys, dir) {
			s.addWhole(dir)
			s.addDir(dir)
		}
	}
	s.addDir("/lib")
	s.addDir("/usr/lib")
	for _, name := range bin.needed {
		isLibc := strings.HasPrefix(name, "libc.")
		if lib := s.locate(name, nil); isLibc && lib != "" {
			s.addWhole(path.Dir(lib))
		}
	}
}

// addMusl does the same for musl, whose loader is also its libc.
func (s *librarySearch) addMusl(loader string) {
	for _, dir := range s.muslDirectories(loader) {
		s.addDir(dir)
	}
	libc, _, err := resolve(s.fsys, loader)
	if err != nil {
		return
	}
	lib, _, _ := resolve(s.fsys, "/lib")
	switch dir := path.Dir(libc); {
	case dir == lib: // Alpine: libc is in /lib, all other libraries are in /usr/lib
		s.addWhole("/lib")
		s.addWhole("/usr/lib")
	case hostpath.Under(dir, "/lib"), hostpath.Under(dir, "/usr"): // Debian: a directory for musl only
		s.addWhole(dir)
	}
}

// muslDirectories returns musl's search path, from its file or the built-in list.
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

// isOwn reports whether a directory is the interpreter's lib directory, or inside it. The
// prefix itself does not count: it may be a home directory.
func (s *librarySearch) isOwn(dir string) bool {
	for _, lib := range libDirectories {
		mine := path.Join(s.prefix, lib)
		if system := mine == "/lib" || mine == "/usr/lib"; !system && hostpath.Under(path.Clean(dir), mine) {
			return true
		}
	}
	return false
}

// locate returns the path by which the loader finds a library, or "".
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

// follow adds libraries and those that they need, and returns the first that is missing.
// It does not follow libraries in directories that are mounted whole, because the
// distribution ensures that their dependencies exist.
func (s *librarySearch) follow(needed, runpath []string) (missing string) {
	for _, name := range needed {
		if s.seen[name] || s.musl && strings.HasPrefix(name, "libc.") { // the loader is musl's libc
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
			s.need(lib) // it may be a link out of the directory
			continue
		}
		if s.isOwn(path.Dir(lib)) || s.isOwn(real) {
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

// followModules follows the standard library's modules. A missing library is no error: the
// module does not work on the host either.
func (s *librarySearch) followModules(dynload string) {
	real, _, err := resolve(s.fsys, dynload)
	if err != nil {
		return
	}
	entries, _ := fs.ReadDir(s.fsys, inFS(real))
	for _, e := range entries {
		module, _, _ := strings.Cut(e.Name(), ".")
		if !slices.Contains(modulesWithLibraries, module) {
			continue
		}
		if o, err := s.readELF(path.Join(real, e.Name())); err == nil {
			s.follow(o.needed, o.runpath)
		}
	}
}
