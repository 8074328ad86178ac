package deploy_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// lima has the keys of Lima's file that ours uses. An unknown key, or one with another type,
// is an error.
type lima struct {
	MinimumLimaVersion string `yaml:"minimumLimaVersion"`
	VMType             string `yaml:"vmType"`
	Images             []struct{ Location, Arch, Digest string }
	CPUs               int `yaml:"cpus"`
	Memory, Disk       string
	Mounts             []struct {
		Location string
		Writable bool
	}
	Containerd   struct{ System, User *bool }
	PortForwards []struct {
		GuestPort      int    `yaml:"guestPort"`
		GuestPortRange []int  `yaml:"guestPortRange"`
		HostIP         string `yaml:"hostIP"`
		Ignore         bool
	} `yaml:"portForwards"`
	Provision []struct{ Mode, Script string }
	Probes    []struct{ Mode, Description, Script, Hint string }
	Message   string
}

func TestLimaFileIsValid(t *testing.T) {
	decoder := yaml.NewDecoder(bytes.NewReader(read(t, "lima.yaml")))
	decoder.KnownFields(true)
	var l lima
	if err := decoder.Decode(&l); err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, image := range l.Images {
		if !strings.HasPrefix(image.Location, "https://") {
			t.Errorf("%s is not fetched by https", image.Location)
		}
		found[image.Arch] = true
	}
	if !found["aarch64"] || !found["x86_64"] || len(found) != 2 {
		t.Errorf("the images are for %v", found)
	}
	if l.MinimumLimaVersion == "" || l.VMType != "vz" || l.CPUs < 1 || !strings.HasSuffix(l.Memory, "GiB") || !strings.HasSuffix(l.Disk, "GiB") {
		t.Errorf("%+v", l)
	}
	if len(l.Provision) == 0 || len(l.Probes) == 0 {
		t.Fatal("nothing is installed, or no probe checks it")
	}
	for _, p := range l.Provision {
		if p.Mode != "system" && p.Mode != "user" {
			t.Errorf("mode %q", p.Mode)
		}
		checkScript(t, p.Script)
	}
	for _, p := range l.Probes {
		checkScript(t, p.Script)
	}
	if !strings.Contains(l.Message, "cordon doctor") {
		t.Errorf("the message does not say what to do next: %s", l.Message)
	}
}

func checkScript(t *testing.T, script string) {
	t.Helper()
	if !strings.HasPrefix(script, "#!/bin/bash\n") {
		t.Errorf("%.40q has no #! line", script)
	}
	hosttest.Needs(t, "bash")
	cmd := exec.CommandContext(t.Context(), hosttest.FindProgram("bash"), "-n")
	cmd.Stdin = strings.NewReader(script)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// The machine is a wall only if it has no access to the Mac.
func TestLimaMountsNothingOfTheMac(t *testing.T) {
	var l lima
	if err := yaml.Unmarshal(read(t, "lima.yaml"), &l); err != nil {
		t.Fatal(err)
	}
	if l.Mounts == nil || len(l.Mounts) != 0 {
		t.Errorf("mounts are %v; without an empty list Lima mounts the home directory", l.Mounts)
	}
	last := l.PortForwards[len(l.PortForwards)-1]
	if !last.Ignore || len(last.GuestPortRange) != 2 || last.GuestPortRange[0] != 1 || last.GuestPortRange[1] != 65535 {
		t.Errorf("ports of guests appear on the Mac: %+v", last)
	}
	for _, forward := range l.PortForwards[:len(l.PortForwards)-1] {
		if forward.HostIP != "127.0.0.1" {
			t.Errorf("%+v is open to other hosts", forward)
		}
	}
}
