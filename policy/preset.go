package policy

import (
	"fmt"
	"time"
)

// PresetInfo is the name of a preset and a line about its purpose.
type PresetInfo struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// There is no preset for containers: the default prefers namespaces and already
// works without them where a container forbids them. With a second name for the same
// policy, users would have to ask which of the two is safe.
var presets = []struct {
	PresetInfo
	policy func() Policy
}{
	{
		PresetInfo{"default", "used if no other is named: 30s, 256MiB, the required walls, no grants"},
		func() Policy { return Policy{} },
	},
	{
		PresetInfo{"strict", "also requires namespaces and Landlock; 5s, 128MiB, and no request may have more"},
		strict,
	},
	{
		PresetInfo{"data", "for numpy and pandas: 1GiB (up to 4GiB), 60s (up to 2m), 64MiB of scratch space"},
		data,
	},
	{
		PresetInfo{"command", "for commands, used by cordon exec: 10m (up to 2h), 2GiB, 512 processes, 2GiB of disk"},
		command,
	},
}

func strict() Policy {
	limits := DefaultLimits()
	limits.WallTime = 5 * time.Second
	limits.CPUTime = 5 * time.Second
	limits.Memory = 128 * MiB
	return Policy{
		Limits:  limits,
		Maxima:  limits,
		Require: []Wall{WallUser, WallMount, WallPID, WallNet, WallLandlock},
	}
}

func data() Policy {
	return Policy{
		// As much CPU time as wall time, because numeric work is busy all the time.
		Limits: Limits{
			WallTime: time.Minute, CPUTime: time.Minute, Memory: 1 * GiB, Scratch: 64 * MiB,
		},
		Maxima: Limits{
			WallTime: 2 * time.Minute, CPUTime: 2 * time.Minute, Memory: 4 * GiB,
		},
	}
}

// command has room for a build or a test run. Its output limit is large because a
// user at a terminal expects to see all of the output.
func command() Policy {
	limits := Limits{
		WallTime: 10 * time.Minute, CPUTime: 30 * time.Minute, Memory: 2 * GiB,
		Output: 16 * MiB, Scratch: 512 * MiB, OpenFiles: MaxOpenFiles, Processes: 512, Disk: 2 * GiB,
		Files: 500_000, // a large project's node_modules has 200,000
	}
	maxima := Limits{
		WallTime: 2 * time.Hour, CPUTime: 8 * time.Hour, Memory: 16 * GiB,
		Output: 256 * MiB, Scratch: 4 * GiB, OpenFiles: MaxOpenFiles, Processes: 4096, Disk: 64 * GiB,
		Files: 10_000_000,
	}
	return Policy{Limits: limits, Maxima: maxima}
}

// Presets lists the presets, the default first.
func Presets() []PresetInfo {
	infos := make([]PresetInfo, len(presets))
	for i, p := range presets {
		infos[i] = p.PresetInfo
	}
	return infos
}

// Preset returns the policy of that name, with every default filled in.
func Preset(name string) (Policy, error) {
	var names []string
	for _, preset := range presets {
		if preset.Name == name {
			p := preset.policy()
			p.Name = name
			return p.Resolved(), nil
		}
		names = append(names, preset.Name)
	}
	return Policy{}, fmt.Errorf("preset %s does not exist: the presets are %s", quote(name), join(names))
}
