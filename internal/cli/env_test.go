package cli

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"timeout", "memory", "trust", "tier", "json", "json-lines", "CORDON_TIMEOUT", "CORDON_PYTHON"}
	for written, want := range map[string]string{
		"timout": "timeout", "memroy": "memory", "jsn": "json", "teir": "tier", "frobnicate": "", "x": "",
		"CORDON_TIMOUT": "CORDON_TIMEOUT", "CORDON_REQUIRE_HOST": "", "CORDON_PTYHON": "CORDON_PYTHON",
	} {
		if got := Nearest(written, names); got != want {
			t.Errorf("nearest(%q) = %q; want %q", written, got, want)
		}
	}
}
