package launch

import (
	"path"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/internal/seatbelt"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The parts of macOS's launcher that do not depend on macOS, so that they can be tested
// elsewhere.

// seatbeltWalls returns the report of the walls on macOS.
func seatbeltWalls(a Access) map[policy.Wall]policy.WallStatus {
	walls := map[policy.Wall]policy.WallStatus{
		policy.WallSeatbelt:    policy.EnforcedWall("files, network, programs, services"),
		policy.WallRlimit:      policy.EnforcedWall("CPU time, open files, sizes of files; memory and processes are watched"),
		policy.WallEnvironment: policy.EnforcedWall(""),
		policy.WallPID:         policy.EnforcedWall("no second process"),
	}
	if a.Programs {
		walls[policy.WallPID] = policy.MissingWall("a process that leaves its group and its parent between two looks outlives the command")
	}
	if a.AnyNetwork {
		walls[policy.WallSeatbelt] = policy.EnforcedWall("files, programs, services; the network is open")
	}
	return walls
}

// seatbeltCommand returns the command line of an order. The profile is an argument, because
// a file would have to be protected from the guest and removed.
func seatbeltCommand(tool string, o Order) ([]string, error) {
	program, err := filepath.EvalSymlinks(o.Program)
	if err != nil {
		return nil, run.Errorf(run.NotFound, "%s cannot be executed: %w", o.Program, err)
	}
	profile, err := seatbelt.Compile(seatbelt.Policy{
		Program: program, Execute: execute(o.Access, program), Read: o.Access.Read, Write: o.Access.Write,
		Programs: o.Access.Programs, Proxy: o.Access.Proxy, AnyNetwork: o.Access.AnyNetwork,
	})
	if err != nil {
		return nil, err
	}
	return append([]string{tool, "-p", profile, o.Program}, o.Args[1:]...), nil
}

// execute lists the programs that an interpreter executes: in a framework, bin/python3 only
// finds the real program and executes it.
func execute(a Access, program string) []string {
	if a.Programs {
		return nil
	}
	return []string{path.Join(path.Dir(path.Dir(program)), "Resources/Python.app/Contents/MacOS/Python")}
}
