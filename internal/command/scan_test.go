package command

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// The fast search finds what the plain one finds, also across parts.
func TestScannerAgainstPlainSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	texts := []string{"abcabcabcab", "bcabcabcabc", "aaaaaaaaaaaaaaa", "abababababab", "cccccccccccccc"}
	s := newScanner(texts)
	for range 300 {
		data := make([]byte, random.IntN(3*scanPart))
		if random.IntN(3) > 0 {
			data = data[:min(len(data), 200)]
		}
		for i := range data {
			data[i] = "abcx"[random.IntN(4)]
		}
		for range random.IntN(4) {
			text := texts[random.IntN(len(texts))]
			// Near the borders of parts, where a text is cut in two.
			at := random.IntN(len(data) + 1)
			if random.IntN(2) == 0 {
				at = scanPart - random.IntN(20)
			}
			if at+len(text) <= len(data) {
				copy(data[at:], text)
			}
		}
		want := make([]bool, len(texts))
		for i, text := range texts {
			want[i] = bytes.Contains(data, []byte(text))
		}
		got, err := s.read(bytes.NewReader(data), readMost)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d bytes: %v, %v; want %v", len(data), got, err, want)
		}
	}
}

func TestScannerStopsAtItsBound(t *testing.T) {
	data := append(make([]byte, 1000), "abcabcabcab"...)
	s := newScanner([]string{"abcabcabcab"})
	for most, want := range map[int64]bool{1: false, 1010: false, 1011: true, 1 << 20: true} {
		if got, err := s.read(bytes.NewReader(data), most); err != nil || got[0] != want {
			t.Errorf("%d: %v, %v", most, got, err)
		}
	}
}
