package audit

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// logFiles is a log in memory, by file name without the directory.
type logFiles map[string][]byte

func load(t testing.TB, path string) logFiles {
	t.Helper()
	all := logFiles{}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if all[e.Name()], err = os.ReadFile(filepath.Join(filepath.Dir(path), e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// put writes a log into a directory, whose previous content it removes.
func (files logFiles) put(t testing.TB, dir string) string {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "audit.jsonl")
}

const active = "audit.jsonl"

// with returns a copy of the log in which one file is replaced, or removed if text is nil.
func (files logFiles) with(name string, text []byte) logFiles {
	other := logFiles{}
	for n, t := range files {
		other[n] = t
	}
	other[name] = text
	if text == nil {
		delete(other, name)
	}
	return other
}

func lines(text []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

func join(lines ...[]byte) []byte {
	var all []byte
	for _, l := range lines {
		all = append(append(all, bytes.TrimSuffix(l, []byte("\n"))...), '\n')
	}
	return all
}

var testKey = bytes.Repeat([]byte("0123456789abcdef"), 2)

// withAndWithoutKey runs a test on a log without a key and on one with a key.
func withAndWithoutKey(t *testing.T, test func(t *testing.T, key []byte)) {
	t.Run("without a key", func(t *testing.T) { test(t, nil) })
	t.Run("with a key", func(t *testing.T) { test(t, testKey) })
}

// Verify finds a flipped bit in any byte.
func TestVerifyFindsFlippedBits(t *testing.T) {
	withAndWithoutKey(t, func(t *testing.T, key []byte) {
		files := load(t, fill(t, Options{Key: key}, 1))
		dir := filepath.Join(t.TempDir(), "log")
		path := files.put(t, dir)
		text := files[active]
		for i := range text {
			bit := byte(1) << (i % 8)
			changed := slices.Clone(text)
			changed[i] ^= bit
			if err := os.WriteFile(path, changed, 0o600); err != nil {
				t.Fatal(err)
			}
			report, err := Verify(path, Check{Key: key})
			if err == nil && report.Intact() {
				t.Fatalf("byte %d (%q) as %q is not found", i, text[i], changed[i])
			}
		}
	})
}

func TestVerifyFindsLines(t *testing.T) {
	withAndWithoutKey(t, func(t *testing.T, key []byte) {
		files := load(t, fill(t, Options{Key: key}, 5)) // begin, r0 … r4, closed
		l := lines(files[active])
		other := lines(load(t, fill(t, Options{Key: key}, 9))[active])
		dir := filepath.Join(t.TempDir(), "log")
		for name, tt := range map[string]struct {
			text  []byte
			fault Fault
			line  int
			count int
		}{
			"as it was":                     {join(l...), "", 0, 0},
			"a line is missing":             {join(l[0], l[1], l[3], l[4], l[5], l[6]), Missing, 3, 1},
			"two are missing":               {join(l[0], l[1], l[4], l[5], l[6]), Missing, 3, 1},
			"the first is missing":          {join(l[1:]...), Missing, 0, 1},
			"a line is there twice":         {join(l[0], l[1], l[1], l[2], l[3], l[4], l[5], l[6]), Moved, 3, 1},
			"two are swapped":               {join(l[0], l[2], l[1], l[3], l[4], l[5], l[6]), Missing, 2, 3},
			"an old line at the end":        {join(append(l[:7:7], l[2])...), Moved, 8, 1},
			"a line of another log":         {join(l[0], l[1], other[2], l[3], l[4], l[5], l[6]), Unlinked, 3, 2},
			"rubbish between two":           {join(l[0], l[1], []byte("hello"), l[2], l[3], l[4], l[5], l[6]), Malformed, 3, 2},
			"an empty line":                 {join(l[0], l[1], nil, l[2], l[3], l[4], l[5], l[6]), Malformed, 3, 2},
			"a line that has no end at all": {join(l[0], bytes.Repeat([]byte("x"), 3*maxLine), l[2], l[3], l[4], l[5], l[6]), Malformed, 2, 1},
			"the last line is missing":      {join(l[:6]...), Cut, 6, 1},
			"the last two are missing":      {join(l[:5]...), Cut, 5, 1},
			"half of the last is missing":   {join(l...)[:len(join(l...))-30], Cut, 7, 2},
			"the last newline is missing":   {bytes.TrimSuffix(join(l...), []byte("\n")), Cut, 7, 2},
			"all is missing":                {[]byte{}, Cut, 0, 1},
		} {
			t.Run(name, func(t *testing.T) {
				report := verify(t, files.with(active, tt.text).put(t, dir), Check{Key: key})
				if report.Found != tt.count {
					t.Errorf("%d findings: %+v", report.Found, report.Findings)
				}
				if tt.count > 0 && report.Found > 0 && (report.Findings[0].Fault != tt.fault || report.Findings[0].Line != tt.line || report.Findings[0].File != active) {
					t.Errorf("%+v", report.Findings)
				}
			})
		}
	})
}

func TestVerifyFindsFiles(t *testing.T) {
	path := fill(t, Options{MaxSize: minSize, Keep: 3}, 1500)
	files := load(t, path)
	old, err := listRotated(path)
	if err != nil || len(old) != 3 {
		t.Fatalf("%v, %v", old, err)
	}
	name := func(i int) string { return filepath.Base(old[i].path) }
	dir := filepath.Join(t.TempDir(), "log")
	first := lines(files[name(0)])
	for what, tt := range map[string]struct {
		files logFiles
		fault Fault
	}{
		"the oldest is gone":              {files.with(name(0), nil), Missing},
		"one between is gone":             {files.with(name(1), nil), Missing},
		"the last but one is gone":        {files.with(name(2), nil), Missing},
		"the newest is gone":              {files.with(active, nil), Cut},
		"the newest is empty":             {files.with(active, []byte{}), Cut},
		"one is empty":                    {files.with(name(1), []byte{}), Missing},
		"two are swapped":                 {files.with(name(0), files[name(1)]).with(name(1), files[name(0)]), Misnamed},
		"one is there twice":              {files.with(active+".000000000001", files[name(0)]), Misnamed},
		"the oldest lacks its first line": {files.with(name(0), join(first[1:]...)), Misnamed},
		"one lacks its end":               {files.with(name(1), files[name(1)][:len(files[name(1)])-50]), Cut},
		"all old ones are gone":           {files.with(name(0), nil).with(name(1), nil).with(name(2), nil), Missing},
	} {
		t.Run(what, func(t *testing.T) {
			report := verify(t, tt.files.put(t, dir), Check{})
			if report.Intact() || report.Findings[0].Fault != tt.fault {
				t.Errorf("%+v", report.Findings)
			}
		})
	}
	intact(t, files.put(t, dir), Check{})

	// A file that was rotated out in order is not a finding. One that was removed early is
	// a finding even after the next rotation.
	path = files.with(name(1), nil).put(t, dir)
	fill(t, Options{Path: path, MaxSize: minSize, Keep: 5}, 400)
	if report := verify(t, path, Check{}); report.Intact() {
		t.Error("a rotation hides a missing file")
	}
}

// Random mutations of a log of several files: cut, copy, move, overwrite.
func TestVerifyFindsMutations(t *testing.T) {
	withAndWithoutKey(t, func(t *testing.T, key []byte) {
		files := load(t, fill(t, Options{Key: key, MaxSize: minSize}, 500))
		var names []string
		for name := range files {
			if !strings.HasSuffix(name, lockSuffix) && !strings.HasSuffix(name, headSuffix) {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		dir := filepath.Join(t.TempDir(), "log")
		for seed := range uint64(150) {
			r := rand.New(rand.NewPCG(seed, 1))
			name := names[r.IntN(len(names))]
			text := files[name]
			a, b := r.IntN(len(text)), r.IntN(len(text))
			a, b = min(a, b), max(a, b)
			var changed []byte
			switch r.IntN(5) {
			case 0:
				changed = slices.Concat(text[:a], text[b:])
			case 1:
				changed = slices.Concat(text[:b], text[a:b], text[b:])
			case 2:
				changed = slices.Concat(text[b:], text[:b])
			case 3:
				changed = slices.Clone(text)
				copy(changed[a:], text[b:])
			case 4:
				changed = slices.Clone(text)
				changed[a] = byte(r.IntN(256))
			}
			if bytes.Equal(changed, text) {
				continue
			}
			report, err := Verify(files.with(name, changed).put(t, dir), Check{Key: key})
			if err == nil && report.Intact() {
				t.Errorf("seed %d, %s, %d to %d: not found", seed, name, a, b)
			}
		}
	})
}

// Without a key an attacker can write a new chain, which only a head that was kept
// elsewhere reveals. With a key the attacker cannot.
func TestVerifyForgery(t *testing.T) {
	forge := func(text []byte, key []byte) ([]byte, Head) {
		seal, head := newSealer(key), Head{0, noPrev}
		var forged []byte
		for _, line := range lines(text) {
			if bytes.Contains(line, []byte(`"id":"r1"`)) {
				continue
			}
			l, _ := parseLink(bytes.TrimSuffix(line, []byte("\n")))
			at := bytes.Index(l.signed, []byte(`"time"`))
			if l.note {
				at = bytes.Index(l.signed, []byte(`"note"`))
			}
			head.Seq++
			forged, head.Hash = seal.appendLine(forged, head.Seq, head.Hash, slices.Concat([]byte("{"), l.signed[at:], []byte("}")))
		}
		return forged, head
	}
	dir := filepath.Join(t.TempDir(), "log")

	files := load(t, fill(t, Options{}, 3))
	before := verify(t, files.put(t, dir), Check{}).Head.Hash
	text, head := forge(files[active], nil)
	path := files.with(active, text).with(active+headSuffix, head.line()).put(t, dir)
	intact(t, path, Check{})
	if report := verify(t, path, Check{Head: before}); report.Found != 1 || report.Findings[0].Fault != Cut {
		t.Errorf("%+v", report.Findings)
	}

	files = load(t, fill(t, Options{Key: testKey}, 3))
	for name, key := range map[string][]byte{"no key": nil, "another key": bytes.Repeat([]byte("z"), minKey)} {
		text, head := forge(files[active], key)
		path := files.with(active, text).with(active+headSuffix, head.line()).put(t, dir)
		if report := verify(t, path, Check{Key: testKey}); report.Intact() {
			t.Errorf("forged with %s, and not found", name)
		}
	}
}

func TestVerifyHead(t *testing.T) {
	path := fill(t, Options{}, 3)
	earlier := verify(t, path, Check{}).Head.Hash
	fill(t, Options{Path: path}, 3)
	if report := intact(t, path, Check{Head: earlier}); !report.HeadGiven {
		t.Errorf("%+v", report)
	}
	// The whole log is restored to an older state, with its head.
	files := load(t, path)
	text := join(lines(files[active])[:3]...)
	l, _ := parseLink(bytes.TrimSuffix(lines(text)[2], []byte("\n")))
	path = files.with(active, text).with(active+headSuffix, Head{l.seq, l.hash}.line()).put(t, filepath.Join(t.TempDir(), "log"))
	intact(t, path, Check{})
	if report := verify(t, path, Check{Head: earlier}); report.Found != 1 || report.Findings[0].Fault != Cut {
		t.Errorf("%+v", report.Findings)
	}
	if err := os.Remove(path + headSuffix); err != nil {
		t.Fatal(err)
	}
	if report := intact(t, path, Check{}); report.HeadFile {
		t.Error("there is no head file")
	}
}

// An invalid head file is a finding, and the next writer replaces it.
func TestVerifyBadHead(t *testing.T) {
	for _, text := range []string{"what", strings.Repeat("what", 100)} {
		path := fill(t, Options{}, 1)
		if err := os.WriteFile(path+headSuffix, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if report := verify(t, path, Check{}); report.Found != 1 || report.Findings[0].Fault != Malformed || report.Findings[0].File != active+headSuffix {
			t.Errorf("%+v", report.Findings)
		}
		reported := &errorRecorder{}
		fill(t, Options{Path: path, OnError: reported.record}, 1)
		if report := intact(t, path, Check{}); !report.HeadFile || reported.count(errHead) != 1 {
			t.Errorf("%+v, reported %v", report, reported.errs)
		}
	}
}

func TestVerifyRefusesBadInput(t *testing.T) {
	keyed := fill(t, Options{Key: testKey}, 1)
	for name, tt := range map[string]struct {
		path  string
		check Check
		words string
	}{
		"nothing there":       {filepath.Join(t.TempDir(), "audit.jsonl"), Check{}, "there is no audit log at"},
		"the key is missing":  {keyed, Check{}, "give it with --audit-key"},
		"a head that is none": {keyed, Check{Key: testKey, Head: "abc"}, "is not a hash"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Verify(tt.path, tt.check)
			if run.ClassOf(err) != run.Invalid || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%v; want %q", err, tt.words)
			}
		})
	}
}
