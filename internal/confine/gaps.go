package confine

import (
	"fmt"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/hostfeature"
	"github.com/cordon-sandbox/cordon/internal/landlock"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/policy"
)

// Exposure says what the second filter of a script must deny: actions on files and
// processes that no namespace hides and that this Landlock does not cover.
func (p Plan) Exposure() seccomp.Exposure {
	shared := p.Root == nil
	return seccomp.Exposure{
		Owners:     shared,
		Truncation: shared && p.Landlock < 3,
		Signals:    p.Namespaces&CloneNewPID == 0 && p.Landlock < 6,
	}
}

// closes names the wall that covers a gap of an older Landlock, or "".
func (p Plan) closes(gap landlock.Gap, in Inputs) policy.Wall {
	first := func(walls ...policy.Wall) policy.Wall {
		for _, w := range walls {
			if _, known := p.Walls[w]; !known {
				continue
			}
			if _, gone := p.Missing[w]; !gone {
				return w
			}
		}
		return ""
	}
	switch gap {
	case landlock.GapTruncate:
		return first(policy.WallMount, policy.WallSeccomp)
	case landlock.GapDevices:
		return first(policy.WallSeccomp)
	case landlock.GapSignals:
		return first(policy.WallPID, policy.WallSeccomp)
	}
	// A command may use sockets, so its filter does not replace a network namespace.
	if in.Command && !in.Shared {
		return first(policy.WallNet)
	}
	return first(policy.WallNet, policy.WallSeccomp)
}

// weighLandlock reports what this Landlock lacks. It removes the wall from the report if
// files could still be truncated.
func (p *Plan) weighLandlock(in Inputs) {
	if p.Landlock == 0 {
		return
	}
	var gaps []string
	for _, gap := range landlock.Gaps(p.Landlock) {
		closer := p.closes(gap, in)
		switch {
		case closer != "":
			gaps = append(gaps, fmt.Sprintf("%s (%s does)", gap, closer))
		case gap == landlock.GapTruncate:
			s := hostfeature.No(fmt.Sprintf("ABI %d does not protect files from truncation, and no other wall does", p.Landlock),
				"use Linux 6.2 or newer, or allow namespaces or seccomp filters")
			p.Landlock, p.Missing[policy.WallLandlock], p.Walls[policy.WallLandlock] = 0, s, policy.MissingWall(s.Reason)
			return
		default:
			gaps = append(gaps, fmt.Sprintf("%s (nothing does)", gap))
		}
	}
	if len(gaps) > 0 {
		p.LandlockGaps = "does not cover " + strings.Join(gaps, ", ")
		p.Walls[policy.WallLandlock] = policy.EnforcedWall(fmt.Sprintf("ABI %d: %s", p.Landlock, p.LandlockGaps))
	}
}
