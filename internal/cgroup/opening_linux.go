package cgroup

// Opening opens a Pool in the background.
type Opening struct {
	probed, done chan struct{}
	features     Features
	pool         *Pool
	err          error
}

// Begin probes this host, and opens a Pool if one is wanted and possible. If ahead is not
// nil, it also prepares a group with these limits.
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

// Features waits for the result of the probe.
func (o *Opening) Features() Features {
	<-o.probed
	return o.features
}

// Pool waits until the pool is open. It returns nil if no groups are used.
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
