package scratch

// EntryCost is what a name counts, whatever is behind it. It is more than the memory for
// the longest name of an empty file; TestTheCountIsTrue measures that.
const EntryCost = 512

// take says whether there is room for n more bytes, and uses it.
func (f *FS) take(n int64) bool {
	if n > 0 && n > f.budget-f.used {
		return false
	}
	f.used += n
	return true
}

func (f *FS) give(n int64) { f.used -= n }

// newPage gives a page of zeros that was taken before.
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

// freePage takes one back.
func (f *FS) freePage(p *page) {
	f.give(pageSize)
	f.spare = append(f.spare, p)
}

// trim forgets the spare pages for which there is no room any more. Whoever writes uses
// them first, and needs no other.
func (f *FS) trim() {
	room := max(0, f.budget-f.used) / pageSize
	if int64(len(f.spare)) > room {
		clear(f.spare[room:])
		f.spare = f.spare[:room]
	}
}
