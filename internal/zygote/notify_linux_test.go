package zygote

import (
	"testing"
	"time"
)

// The kernel's count lags behind what was allowed: two threads that ask at the same
// moment must not both get the last slot.
func TestThreadsAreReserved(t *testing.T) {
	const live, limit = 15, 16
	now := time.Unix(100, 0)
	var r reservations
	if !r.allow(1, live, limit, now) {
		t.Fatal("the last slot is refused")
	}
	if r.allow(2, live, limit, now) {
		t.Error("the last slot is given twice")
	}
	if !r.allow(1, live, limit, now) {
		t.Error("a thread that asks again has made the one it was granted, and its count is the kernel's")
	}
	if !r.allow(2, live, limit, now.Add(2*grantLasts)) {
		t.Error("a slot is reserved forever")
	}
	if r.allow(3, limit, limit, now.Add(4*grantLasts)) {
		t.Error("more than the limit")
	}
}
