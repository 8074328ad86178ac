package scratch

import (
	"github.com/tetratelabs/wazero/experimental/sys"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/guestfs"
)

// pageSize is also the unit of the process tier's /tmp.
const pageSize = 4096

type page [pageSize]byte

// pages are the written pages of a file. All others are zeros.
type pages struct {
	by   map[int64]*page
	most int // the largest size of by
}

// count returns how many pages a file of this size can have.
func count(size int64) int64 {
	n := size / pageSize
	if size%pageSize > 0 {
		n++
	}
	return n
}

// read fills buf from an offset inside the file.
func (p *pages) read(buf []byte, off int64) {
	for len(buf) > 0 {
		within := off % pageSize
		piece := buf[:min(int64(len(buf)), pageSize-within)]
		if from := p.by[off/pageSize]; from != nil {
			copy(piece, from[within:])
		} else {
			clear(piece)
		}
		buf, off = buf[len(piece):], off+int64(len(piece))
	}
}

// write writes all of buf or nothing.
func (f *FS) write(n *node, buf []byte, off int64) sys.Errno {
	if len(buf) == 0 {
		return 0
	}
	end := off + int64(len(buf))
	missing := int64(0)
	for i := off / pageSize; i < count(end); i++ {
		if n.pages.by[i] == nil {
			missing++
		}
	}
	if !f.take(missing * pageSize) {
		return guestfs.ENOSPC
	}
	for len(buf) > 0 {
		within := off % pageSize
		done := copy(f.pageAt(&n.pages, off/pageSize)[within:], buf)
		buf, off = buf[done:], off+int64(done)
	}
	n.size = max(n.size, end)
	f.touch(n)
	return 0
}

func (f *FS) pageAt(p *pages, i int64) *page {
	if there := p.by[i]; there != nil {
		return there
	}
	if p.by == nil {
		p.by = map[int64]*page{}
	}
	made := f.newPage()
	p.by[i] = made
	p.most = max(p.most, len(p.by))
	return made
}

// cut sets the size of a file. It extends the file by a hole.
func (f *FS) cut(n *node, size int64) {
	p, first, end := &n.pages, count(size), count(n.size)
	if end-first < int64(len(p.by)) {
		for i := first; i < end; i++ {
			f.drop(p, i)
		}
	} else {
		for i := range p.by {
			if i >= first {
				f.drop(p, i)
			}
		}
	}
	if last := p.by[size/pageSize]; last != nil && size < n.size {
		clear(last[size%pageSize:]) // or the data would reappear when the file grows
	}
	n.size = size
	p.compact()
}

func (f *FS) drop(p *pages, i int64) {
	if there := p.by[i]; there != nil {
		delete(p.by, i)
		f.freePage(there)
	}
}

// compact releases memory, as names.compact does.
func (p *pages) compact() {
	switch {
	case len(p.by) == 0:
		*p = pages{}
	case p.most > 64 && p.most > 4*len(p.by):
		by := make(map[int64]*page, len(p.by))
		for i, there := range p.by {
			by[i] = there
		}
		p.by, p.most = by, len(by)
	}
}
