package cgroup

import "testing"

func TestOpening(t *testing.T) {
	requireCgroup(t)
	limits := Limits{Memory: 64 * mib}
	o := Begin(true, &limits)
	if !o.Features().Usable() {
		t.Errorf("%+v", o.Features())
	}
	pool, err := o.Pool()
	if err != nil {
		t.Fatal(err)
	}
	g, err := pool.Lease(limits)
	if err != nil {
		t.Fatal(err)
	}
	g.ReturnEmpty()
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

func TestOpeningWithoutPool(t *testing.T) {
	o := Begin(false, nil)
	if pool, err := o.Pool(); pool != nil || err != nil {
		t.Errorf("%v, %v", pool, err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}
