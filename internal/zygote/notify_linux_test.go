package zygote

import (
	"testing"
	"time"
)

func TestReservations(t *testing.T) {
	var r reservations
	now := time.Unix(100, 0)
	if n := r.others(1, now); n != 0 {
		t.Errorf("nothing granted, %d reserved", n)
	}
	r.grant(1, now)
	r.grant(2, now)
	if n := r.others(3, now); n != 2 {
		t.Errorf("a third thread sees %d reserved, want 2", n)
	}
	// A thread that asks again has made the one that it was granted.
	if n := r.others(1, now); n != 1 {
		t.Errorf("the first thread sees %d reserved, want 1", n)
	}
	if n := r.others(3, now.Add(2*grantLasts)); n != 0 {
		t.Errorf("%d reserved for ever", n)
	}
}
