package cgroup

// Opening is a Pool that is being opened while its owner does something else.
type Opening struct {
	probed, done chan struct{}
	features     Features
	pool         *Pool
	err          error
}

// Begin probes this host, and opens a Pool if one is wanted and possible. With ahead, it
// makes one group with these limits in advance.
func Begin(wanted bool, ahead *Limits) *Opening {
	o := &Opening{probed: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(o.done)
		o.features = Probe()
		close(o.probed)
		if wanted && o.features.Usable() {
			o.open(ahead)
		}
	}()
	return o
}

func (o *Opening) open(ahead *Limits) {
	if o.pool, o.err = Open(o.features); o.err != nil || ahead == nil {
		return
	}
	g, err := o.pool.Lease(*ahead)
	if o.err = err; err == nil {
		g.ReturnEmpty()
	}
}

// Features waits until they are known.
func (o *Opening) Features() Features {
	<-o.probed
	return o.features
}

// Pool waits until the pool is open. It is nil if no groups are used.
func (o *Opening) Pool() (*Pool, error) {
	<-o.done
	return o.pool, o.err
}

// Close closes the Pool, if there is one.
func (o *Opening) Close() error {
	<-o.done
	if o.pool == nil {
		return nil
	}
	return o.pool.Close()
}
