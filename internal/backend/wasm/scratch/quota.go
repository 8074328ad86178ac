package scratch

// EntryCost is the cost of a name. It is more than the memory for the longest name of an empty
// file, as TestCountIsAtLeastTheMemory measures.
const EntryCost = 512

// take charges n bytes, and reports whether the size allows it.
func (f *FS) take(n int64) bool {
	if n > 0 && n > f.budget-f.used {
		return false
	}
	f.used += n
	return true
}

func (f *FS) give(n int64) { f.used -= n }

// newPage returns a page of zeros, whose size was charged.
func (f *FS) newPage() *page {
	last := len(f.spare) - 1
	if last < 0 {
		return new(page)
	}
	p := f.spare[last]
	f.spare[last], f.spare = nil, f.spare[:last]
	*p = page{}
	return p
}

// freePage releases a page.
func (f *FS) freePage(p *page) {
	f.give(pageSize)
	f.spare = append(f.spare, p)
}

// trim drops spare pages that do not fit into the size any more. Writers use spare pages first,
// so the others are not needed.
func (f *FS) trim() {
	room := max(0, f.budget-f.used) / pageSize
	if int64(len(f.spare)) > room {
		clear(f.spare[room:])
		f.spare = f.spare[:room]
	}
}
