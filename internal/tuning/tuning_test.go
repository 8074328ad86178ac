package tuning

import "testing"

func TestEachListsAll(t *testing.T) {
	var listed Set
	for _, one := range Each() {
		if one.Name == "" || one.Set&(one.Set-1) != 0 || listed.Has(one.Set) {
			t.Errorf("%q is %b", one.Name, one.Set)
		}
		listed |= one.Set
	}
	if listed != All {
		t.Errorf("listed are %b of %b", listed, All)
	}
}
