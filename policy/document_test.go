package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestDocumentSaysNothing(t *testing.T) {
	p, err := Document{}.Policy()
	if err != nil || !reflect.DeepEqual(p.Resolved(), Policy{}.Resolved()) {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestDocumentPolicy(t *testing.T) {
	d := Document{
		Trust: "platform", Python: "/usr/bin/python3", Preload: &[]string{}, OnOutputLimit: "kill",
		Limits: DocumentLimits{
			"wall_time": "2s", "cpu_time": "1s", "memory": "64MiB", "output": "1KiB", "scratch": "2MiB",
			"open_files": "32", "threads": "4",
		},
		Maxima: DocumentLimits{"memory": "2GiB"},
		Walls:  DocumentWalls{Require: []string{"userns"}, Prefer: []string{"cgroup"}},
		Read:   []string{"/data"},
	}
	want := Policy{
		Trust: TrustPlatform, Python: "/usr/bin/python3", Preload: []string{}, OnOutputLimit: OutputKill,
		Limits: Limits{
			WallTime: 2 * time.Second, CPUTime: time.Second, Memory: 64 * MiB,
			Output: KiB, Scratch: 2 * MiB, OpenFiles: 32, Threads: 4,
		},
		Maxima:  Limits{Memory: 2 * GiB},
		Require: []Wall{WallUser}, Prefer: []Wall{WallCgroup},
		Read: []string{"/data"},
	}
	got, err := d.Policy()
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
}

func TestDocumentOverPreset(t *testing.T) {
	d := Document{
		Preset: "data",
		Maxima: DocumentLimits{"memory": "512MiB"}, // the preset's default of 1GiB follows
		Limits: DocumentLimits{"wall_time": "90s"},
	}
	p, err := d.Policy()
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "data" || p.Limits.Memory != 512*MiB || p.Maxima.Memory != 512*MiB || p.Limits.WallTime.String() != "1m30s" {
		t.Errorf("%+v", p)
	}

	p, err = Document{Preset: "strict", Walls: DocumentWalls{Prefer: []string{"userns"}, Require: []string{"cgroup"}}}.Policy()
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range p.Required() {
		if w == WallUser {
			t.Error("a wall that the document only prefers is still required by its preset")
		}
	}

	_, err = Document{Preset: "strict", Limits: DocumentLimits{"wall_time": "10s"}}.Policy()
	if err == nil || !strings.Contains(err.Error(), "limits.wall_time: the default of 10s is above the maximum of 5s") {
		t.Errorf("error %v", err)
	}
}

func TestDocumentRefuses(t *testing.T) {
	for _, tt := range []struct {
		document Document
		words    []string
	}{
		{Document{Preset: "lax"}, []string{`preset: preset "lax" does not exist: the presets are default, strict, data`}},
		{Document{Limits: DocumentLimits{"memory": "256", "wall_time": "2"}, Trust: "root"}, []string{
			`limits.wall_time: "2" has no unit: write 2s`, `limits.memory: "256" has no unit`, "trust: "}},
		{Document{Limits: DocumentLimits{"memory": "0B"}}, []string{"limits.memory: is zero: leave it out"}},
		{Document{Limits: DocumentLimits{"threads": "0"}}, []string{"limits.threads: is zero"}},
		{Document{Maxima: DocumentLimits{"threads": "-4"}}, []string{"maxima.threads: -4 is negative"}},
		// The limit is above the default maximum, but only because its own
		// maximum could not be read: one problem, not two.
		{Document{Limits: DocumentLimits{"memory": "2GiB"}, Maxima: DocumentLimits{"memory": "4"}}, []string{"maxima.memory: "}},
		{Document{Limits: DocumentLimits{"memory": "2GiB"}, Maxima: DocumentLimits{"output": "4"}}, []string{"maxima.output: ", "limits.memory: "}},
	} {
		_, err := tt.document.Policy()
		if err == nil {
			t.Errorf("%+v is accepted", tt.document)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(tt.words) {
			t.Errorf("%d problems instead of %d: %v", len(lines), len(tt.words), err)
			continue
		}
		for i, words := range tt.words {
			if !strings.HasPrefix(lines[i], words) {
				t.Errorf("problem %d is %q; want %q", i, lines[i], words)
			}
		}
	}
}

func TestPresets(t *testing.T) {
	for _, info := range Presets() {
		p, err := Preset(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Validate(); err != nil {
			t.Errorf("%s: %v", info.Name, err)
		}
		if info.Description == "" || p.Name != info.Name || !reflect.DeepEqual(p, p.Resolved()) {
			t.Errorf("%+v gives %+v", info, p)
		}
		again, err := FromPolicy(p).Policy()
		again.Name = p.Name
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%s as a document and back: %v\ngot  %+v\nwant %+v", info.Name, err, again, p)
		}
	}
	if p, _ := Preset("strict"); p.Limits != p.Maxima {
		t.Error("strict lets a request have more than its default")
	}
	if _, err := Preset(""); err == nil {
		t.Error("the empty name is a preset")
	}
}

func TestDocumentJSON(t *testing.T) {
	text, err := json.Marshal(Document{Preload: &[]string{}, Limits: DocumentLimits{"memory": "1GiB"}})
	if want := `{"preload":[],"limits":{"memory":"1GiB"}}`; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
}
