package zygote

import (
	"strconv"
	"strings"
	"testing"
)

func TestCodes(t *testing.T) {
	c := &Codes{}
	expect := func(s source, data string, ask bool) {
		t.Helper()
		if got, gotAsk := c.find(s); string(got) != data || gotAsk != ask {
			t.Errorf("%q, %v, want %q, %v", got, gotAsk, data, ask)
		}
	}
	a, sameTextOtherName := source{"a", "x"}, source{"a", "y"}
	expect(a, "", false)
	expect(a, "", true)
	expect(a, "", true) // its worker was asked, and died before it answered
	c.keep(a, []byte("code"))
	expect(a, "code", false)
	expect(sameTextOtherName, "", false)
	for name, useless := range map[string][]byte{"nothing": nil, "too much": make([]byte, maxCode+1)} {
		s := source{name, ""}
		expect(s, "", false)
		expect(s, "", true)
		c.keep(s, useless)
		expect(s, "", false)
	}
	large := source{strings.Repeat("x", maxSource+1), ""}
	expect(large, "", false)
	expect(large, "", false)

	var none *Codes
	if data, ask := none.find(a); data != nil || ask {
		t.Errorf("without a memory: %q, %v", data, ask)
	}
}

// However many scripts run, two generations are kept; used entries stay.
func TestCodesAreBounded(t *testing.T) {
	c := &Codes{}
	used := source{"used", ""}
	c.keep(used, []byte("code"))
	for i := range 10 * maxCodes {
		c.find(source{strconv.Itoa(i), ""})
		if got, _ := c.find(used); string(got) != "code" {
			t.Fatalf("forgotten after %d others", i)
		}
	}
	if n := len(c.young) + len(c.old); n > 2*maxCodes {
		t.Errorf("%d are kept", n)
	}
	unused := source{"0", ""}
	if _, ask := c.find(unused); ask {
		t.Error("the first of many is still known")
	}
}
