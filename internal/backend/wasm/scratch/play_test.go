package scratch

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
	wazerosys "github.com/tetratelabs/wazero/sys"
)

// play performs operations, chosen by bytes, on several file systems.
type play struct {
	data    []byte
	fs      []sys.FS
	handles [4]openHandle
	log     []string
}

// openHandle is one open file, with its handle in each file system.
type openHandle struct {
	files     []sys.File
	flag      sys.Oflag
	directory bool
}

func (p *play) pick(n int) int {
	if len(p.data) == 0 {
		return 0
	}
	b := p.data[0]
	p.data = p.data[1:]
	return int(b) % n
}

// path returns a path that stays inside, because no link begins with dots or a slash.
func (p *play) path(dots bool) string {
	var path strings.Builder
	for i := range 1 + p.pick(3) {
		if i > 0 {
			path.WriteByte('/')
		}
		path.WriteString([]string{"a", "b", "c", "d"}[p.pick(4)])
	}
	switch p.pick(16) {
	case 0:
		path.WriteByte('/')
	case 1:
		return "./" + path.String()
	case 2:
		if dots {
			path.WriteString("/../e")
		}
	}
	return path.String()
}

var playFlags = []sys.Oflag{
	sys.O_RDONLY, sys.O_RDWR, sys.O_WRONLY, sys.O_RDWR | sys.O_CREAT, sys.O_WRONLY | sys.O_CREAT | sys.O_EXCL, sys.O_RDWR | sys.O_CREAT | sys.O_TRUNC,
	sys.O_RDWR | sys.O_TRUNC, sys.O_RDONLY | sys.O_DIRECTORY, sys.O_RDONLY | sys.O_NOFOLLOW, sys.O_RDWR | sys.O_CREAT | sys.O_NOFOLLOW,
	sys.O_RDONLY | sys.O_DIRECTORY | sys.O_NOFOLLOW, sys.O_WRONLY | sys.O_CREAT | sys.O_APPEND, sys.O_RDWR | sys.O_APPEND, sys.O_RDONLY | sys.O_CREAT,
}

// each performs one operation on all file systems and compares the results.
func (p *play) each(t testing.TB, name string, do func(i int, f sys.FS) string) {
	t.Helper()
	p.log = append(p.log, name)
	first := do(0, p.fs[0])
	p.log[len(p.log)-1] += ": " + first
	for i, f := range p.fs[1:] {
		if other := do(i+1, f); other != first {
			t.Fatalf("%s\nand the other says %s", strings.Join(p.log[max(0, len(p.log)-30):], "\n"), other)
		}
	}
}

func (p *play) step(t testing.TB) {
	t.Helper()
	errno := func(name string, do func(sys.FS) sys.Errno) {
		t.Helper()
		p.each(t, name, func(_ int, f sys.FS) string { return fmt.Sprint(do(f)) })
	}
	switch p.pick(16) {
	case 0, 1:
		path := p.path(true)
		errno("mkdir "+path, func(f sys.FS) sys.Errno { return f.Mkdir(path, 0o700) })
	case 2:
		path := p.path(false)
		errno("rmdir "+path, func(f sys.FS) sys.Errno { return f.Rmdir(path) })
	case 3:
		path := p.path(true)
		errno("unlink "+path, func(f sys.FS) sys.Errno { return f.Unlink(path) })
	case 4, 5:
		from, to := p.path(true), p.path(true)
		errno("rename "+from+" "+to, func(f sys.FS) sys.Errno { return f.Rename(from, to) })
	case 6:
		from, to := p.path(true), p.path(true)
		errno("link "+from+" "+to, func(f sys.FS) sys.Errno { return f.Link(from, to) })
	case 7:
		text, path := p.path(false), p.path(true)
		errno("symlink "+text+" "+path, func(f sys.FS) sys.Errno { return f.Symlink(text, path) })
	case 8:
		path, follow := p.path(true), p.pick(2) == 0
		p.each(t, fmt.Sprint("stat ", path, follow), func(_ int, f sys.FS) string { return statWords(f, path, follow) })
	case 9:
		path := p.path(true)
		p.each(t, "readlink "+path, func(_ int, f sys.FS) string { return fmt.Sprint(f.Readlink(path)) })
	case 10:
		path, at := p.path(true), int64(p.pick(256))*1e9
		p.each(t, "utimens "+path, func(_ int, f sys.FS) string {
			errno := f.Utimens(path, at, at+1e9)
			st, _ := f.Stat(path)
			if errno != 0 {
				st = wazerosys.Stat_t{}
			}
			return fmt.Sprint(errno, st.Atim, st.Mtim)
		})
	case 11:
		p.open(t)
	default:
		p.use(t)
	}
}

func statWords(f sys.FS, path string, follow bool) string {
	st, errno := f.Lstat(path)
	if follow {
		st, errno = f.Stat(path)
	}
	if errno != 0 {
		return errno.Error()
	}
	return modeWords(st)
}

// modeWords returns the part of the mode that all file systems have in common.
func modeWords(st wazerosys.Stat_t) string {
	if st.Mode.IsDir() {
		return "a directory"
	}
	return fmt.Sprint(st.Mode.Type(), st.Size, st.Nlink)
}

func (p *play) open(t testing.TB) {
	t.Helper()
	h := &p.handles[p.pick(len(p.handles))]
	path, flag := p.path(true), playFlags[p.pick(len(playFlags))]
	p.close(t, h)
	h.files, h.flag, h.directory = make([]sys.File, len(p.fs)), flag, false
	p.each(t, fmt.Sprintf("open %s %#x", path, flag), func(i int, f sys.FS) string {
		file, errno := f.OpenFile(path, flag, 0o600)
		if errno != 0 {
			h.files = nil
			return errno.Error()
		}
		if h.files == nil {
			t.Fatalf("%s\nand the other opened it", strings.Join(p.log, "\n"))
		}
		h.files[i] = file
		h.directory, _ = file.IsDir()
		return fmt.Sprint("opened ", h.directory)
	})
}

func (p *play) close(t testing.TB, h *openHandle) {
	t.Helper()
	if h.files != nil {
		p.each(t, "close", func(i int, _ sys.FS) string { return h.files[i].Close().Error() })
		h.files = nil
	}
}

// use performs an operation on an open file.
func (p *play) use(t testing.TB) {
	t.Helper()
	h := &p.handles[p.pick(len(p.handles))]
	if h.files == nil {
		return
	}
	writable, appends := h.flag&(sys.O_RDWR|sys.O_WRONLY) != 0, h.flag&sys.O_APPEND != 0
	size := []int64{0, 1, 5, 4095, 4096, 4097, 20000, 1 << 33}[p.pick(8)]
	length := int(max(1, min(size, 20000))) // wazero ignores smaller requests
	each := func(name string, do func(f sys.File) string) {
		t.Helper()
		p.each(t, fmt.Sprint(name, " ", size), func(i int, _ sys.FS) string { return do(h.files[i]) })
	}
	kind := p.pick(8)
	if h.directory {
		kind = 6 // compare lists directories; wazero's own listing reopens the path, which may be gone
	}
	switch kind {
	case 0:
		buf := make([]byte, length)
		each("read", func(f sys.File) string { return readWords(f.Read(buf))(buf) })
	case 1:
		buf := make([]byte, 100)
		each("pread", func(f sys.File) string { return readWords(f.Pread(buf, size))(buf) })
	case 2, 3:
		buf := []byte(strings.Repeat(string(rune('a'+p.pick(26))), length))
		each("write", func(f sys.File) string { return fmt.Sprint(f.Write(buf)) })
	case 4:
		if !appends { // package os refuses it otherwise
			each("pwrite", func(f sys.File) string { return fmt.Sprint(f.Pwrite([]byte("words"), size)) })
		}
	case 5:
		if writable { // Linux returns another error otherwise
			each("truncate", func(f sys.File) string { return f.Truncate(size).Error() })
		}
	case 6:
		each("stat", func(f sys.File) string {
			st, errno := f.Stat()
			return fmt.Sprint(modeWords(st), errno)
		})
	case 7:
		whence, sign := p.pick(3), int64(1-2*p.pick(2))
		each(fmt.Sprint("seek ", whence, sign), func(f sys.File) string { return fmt.Sprint(f.Seek(sign*size, whence)) })
	}
}

func readWords(n int, errno sys.Errno) func(buf []byte) string {
	return func(buf []byte) string {
		return fmt.Sprintf("%d %v %.300q", n, errno, strings.Trim(string(buf[:n]), "\x00"))
	}
}

// tree writes a description of a whole file system.
func tree(f sys.FS, path string, to *strings.Builder) {
	st, errno := f.Lstat(path)
	fmt.Fprintln(to, path, modeWords(st), errno)
	switch {
	case errno != 0:
	case st.Mode&fs.ModeSymlink != 0:
		fmt.Fprintln(to, fmt.Sprint(f.Readlink(path)))
	case st.Mode.IsDir():
		file, errno := f.OpenFile(path, sys.O_RDONLY, 0)
		if errno != 0 {
			fmt.Fprintln(to, errno)
			return
		}
		found, errno := file.Readdir(-1)
		fmt.Fprintln(to, errno, file.Close())
		slices.SortFunc(found, func(a, b sys.Dirent) int { return strings.Compare(a.Name, b.Name) })
		for _, d := range found {
			tree(f, path+"/"+d.Name, to)
		}
	}
}

func (p *play) compare(t testing.TB) {
	t.Helper()
	p.each(t, "tree", func(_ int, f sys.FS) string {
		var words strings.Builder
		tree(f, ".", &words)
		return words.String()
	})
	p.log = p.log[:len(p.log)-1]
}
