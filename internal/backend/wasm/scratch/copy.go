package scratch

// Copy gives another FS everything that this one has under a name, instead of what is there. Open
// files stay with this one.
func (f *FS) Copy(to *FS) {
	f.mu.Lock()
	defer f.mu.Unlock()
	to.mu.Lock()
	defer to.mu.Unlock()
	if f.top.names == nil {
		return
	}
	to.budget, to.used, to.inodes = f.budget, 0, f.inodes
	to.made = map[string]bool{}
	for name := range f.made {
		to.made[name] = true
	}
	copies := map[*node]*node{&f.top: &to.top}
	to.top = *f.top.bare()
	to.top.names = &names{parent: &to.top}
	for waiting := []*node{&f.top}; len(waiting) > 0; {
		from := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		into := copies[from]
		for _, e := range from.names.order {
			if e.node == nil {
				continue
			}
			made, there := copies[e.node]
			if !there {
				made = e.node.bare()
				copies[e.node] = made
				to.used += int64(len(made.text))
				for i, p := range e.node.pages.by {
					*to.pageAt(&made.pages, i) = *p
					to.used += pageSize
				}
				if e.node.isDirectory() {
					made.names = &names{parent: into}
					waiting = append(waiting, e.node)
				}
			}
			to.used += cost(made)
			into.names.add(e.name, made)
		}
	}
}

// bare returns a copy of a node without its content and handles.
func (n *node) bare() *node {
	made := *n
	made.opens, made.names, made.pages = 0, nil, pages{}
	return &made
}
