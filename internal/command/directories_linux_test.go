package command

import (
	"strings"
	"testing"
)

// Each of them runs sub/tool or sub/deep/tool, a shell, by a name that means
// something else, or nothing, in the directory where the command begins.
func TestWrappersThatGoElsewhere(t *testing.T) {
	g := newGround(t)
	g.standIns("nsenter", "fd", "sudo", "chroot", "unshare")
	for _, name := range []string{"ws/sub/tool", "ws/sub/deep/tool", "ws/sub/usr/bin/ls"} {
		g.copyOf(need(t, "bash"), name)
	}
	g.copyOf(need(t, "ls"), "ws/ok", 1)
	g.copyOf(need(t, "ls"), "ws/sub/ok", 1)
	g.write("ws/relative", "#!./tool\n", 0o755)
	lines := []string{
		"env --chd=sub ./tool", "env --chd sub ./tool", "env -iCsub ./tool", "env -iC sub ./tool", "env -vi -C sub ./tool", "env -S-C\\_sub ./tool", "env -C sub env -C deep ./tool",
		"unshare -r --wd=sub ./tool", "unshare -wsub ./tool", "unshare -rwsub ./tool", "unshare --wd sub ./tool", "unshare -r nice env ionice -c 3 env --chdi=sub ./tool",
		"nsenter --wd=sub ./tool", "nsenter -wsub ./tool", "nsenter --wdns=sub ./tool", "nsenter -t 1 -m ./tool", "sudo -D sub ./tool", "sudo --chdir=sub ./tool",
		"find sub -name deep -execdir ./tool {} ;", "find sub -okdir ./tool ;", "find . -execdir env ./tool ;", "find . -execdir " + g.ws + "/relative ;", "fd -C sub x -x ./tool", "fd --base-directory=sub x -x ./tool",
		"chroot sub /usr/bin/ls", "chroot sub ls", "unshare -rR sub /usr/bin/ls", "unshare --root=sub ls", "nsenter -rsub ls", "sudo -R sub ls",
		"env ./no-such-file", "env /no-such-directory/x", "env " + g.outside + "/x", "env /scratch/x", "env /proc/self/exe sh", "timeout 5 ./no-such-file", "timeout 5 env ./no-such-file",
		"env -C sub ../relative", "prlimit --nofile=5 env -C sub ../relative",
	}
	// Here the same name is harmless.
	g.copyOf(need(t, "ls"), "ws/deep/ok", 1)
	g.copyOf(need(t, "bash"), "ws/sub/deep/ok")
	lines = append(lines, "find sub -execdir ./ok ;", "find sub -execdir ./deep/ok ;", "unshare -r --wd=sub deep/ok", "env --chd=sub deep/ok", "fd -C sub x -x deep/ok")
	for _, line := range lines {
		t.Run(line, func(t *testing.T) {
			g.t = t
			g.refused(ruleInterpreter, strings.Fields(line))
		})
	}
	g.t = t
	g.refused(ruleInterpreter, []string{"env", "./no-such-file"}, "env runs ./no-such-file, which cannot be looked at")
	for _, line := range []string{
		"env -C sub ./ok", "env --chd=sub ./ok", "env -iCsub ./ok", "env -C sub ../ok", "unshare -r --wd=sub ./ok", "unshare -r ./ok", "sudo -D sub ./ok", "find sub -exec ./ok {} ;", "find . -execdir ls {} ;", "find . -execdir " + g.ws + "/ok {} ;", "fd x -x ./ok",
		"chroot / ls", "chroot / /usr/bin/ls", "chroot --skip-chdir / ./ok", "nsenter -t 1 ls", "find . -execdir env -C " + g.ws + " ./ok ;",
		"nice --unknown ./no-such-file", "setarch --unknown ./no-such-file", "env no-such-command", "timeout 5 no-such-command",
	} {
		t.Run(line, func(t *testing.T) {
			g.t = t
			g.allowed(strings.Fields(line)...)
		})
	}
}
