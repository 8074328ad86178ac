package doctor

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cordon-sandbox/cordon/policy"
)

func TestWallsOfMacOS(t *testing.T) {
	words := map[policy.Wall]policy.WallStatus{
		policy.WallSeatbelt: policy.EnforcedWall("files, network"), policy.WallRlimit: policy.EnforcedWall(""), policy.WallPID: policy.MissingWall("so it is"),
	}
	want := []Wall{
		{Name: policy.WallSeatbelt, State: Enforced, Required: true, Detail: "files, network"},
		{Name: policy.WallPID, State: Missing, Reason: "so it is"},
		{Name: policy.WallRlimit, State: Enforced, Required: true},
		{Name: policy.WallEnvironment, Required: true}, // nobody says
	}
	got := otherWalls("darwin", words, policy.Policy{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	r := Report{Walls: got}
	if unmet := strings.Join(r.unmetElsewhere(policy.Policy{}), " "); unmet != "environment" {
		t.Errorf("unmet are %s", unmet)
	}
	if unmet := strings.Join(r.unmetElsewhere(policy.Policy{Require: []policy.Wall{policy.WallPID, policy.WallLandlock}}), " "); unmet != "environment pid landlock" {
		t.Errorf("unmet are %s", unmet)
	}
	if unmet := r.unmetElsewhere(policy.Policy{Prefer: []policy.Wall{policy.WallEnvironment}}); len(unmet) != 0 {
		t.Errorf("unmet are %s", unmet)
	}
}

// On a Mac, the report says that the tool is deprecated, what is missing, and what to use
// instead.
func TestNotes(t *testing.T) {
	for system, words := range map[string][]string{
		"darwin":  {"macOS is experimental", "deprecated", "system calls are not filtered", "third-party", "deploy/lima.yaml", "limactl"},
		"windows": {"Windows is experimental", "system calls are not filtered", "third-party", "WSL 2"},
	} {
		var b bytes.Buffer
		if err := Format(&b, Report{Notes: notes(system)}, false); err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if !strings.Contains(b.String(), word) {
				t.Errorf("%s: nothing about %s in\n%s", system, word, b.String())
			}
		}
	}
	if notes(linux) != nil {
		t.Error("Linux has nothing to excuse")
	}
}

func TestEverySystemsWallsAreKnown(t *testing.T) {
	for _, system := range []string{linux, "darwin", "windows"} {
		for _, wall := range wallNames(system) {
			if !strings.Contains(strings.Join(wallTexts(), " ")+" ", string(wall)+" ") {
				t.Errorf("%s of %s is on no list", wall, system)
			}
		}
	}
}

func wallTexts() (all []string) {
	for _, w := range append(append([]policy.Wall{}, policy.Walls()...), policy.OtherWalls()...) {
		all = append(all, string(w))
	}
	return all
}
