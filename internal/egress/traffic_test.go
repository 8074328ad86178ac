package egress

import (
	"slices"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

func TestSince(t *testing.T) {
	before := []run.Traffic{{Host: "a", Port: 443, Connections: 1, Sent: 10, Received: 5}, {Host: "a", Port: 80, Connections: 2}}
	now := []run.Traffic{
		{Host: "a", Port: 443, Connections: 1, Sent: 15, Received: 5}, {Host: "a", Port: 80, Connections: 2},
		{Host: "a", Port: 443, Module: "requests", Connections: 1}, {Host: "b", Port: 443, Connections: 1, Received: 7},
	}
	want := []run.Traffic{
		{Host: "a", Port: 443, Sent: 5}, {Host: "a", Port: 443, Module: "requests", Connections: 1}, {Host: "b", Port: 443, Connections: 1, Received: 7},
	}
	if got := Since(before, now); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Since(now, now); len(got) != 0 {
		t.Errorf("nothing was used, and %+v", got)
	}
}
