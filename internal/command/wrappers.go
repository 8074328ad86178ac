package command

import (
	"strings"
	"sync"
)

// wrappers are programs whose business is to start another one. Those with an
// empty short and long take no options. env, find and the loader have their
// own functions (through.go).
var wrappers = sync.OnceValue(func() map[string]grammar {
	all := map[string]grammar{
		"nice":   {short: "n:", long: "adjustment= help version"},
		"ionice": {short: "c:n:p:P:u:thV", long: "class= classdata= pid= pgid= uid= ignore help version"},
		"nohup":  {long: "help version"},
		"timeout": {short: "k:s:fpv", operands: 1,
			long: "kill-after= signal= foreground preserve-status verbose help version"},
		"setsid": {short: "cfwhV", long: "ctty fork wait help version"},
		"stdbuf": {short: "i:o:e:", long: "input= output= error= help version"},
		"time":   {short: "f:o:apvqV", long: "format= output= append portability verbose quiet help version"},
		"chrt": {short: "abdefiorpmvhVT:P:D:", operands: 1,
			long: "all-tasks batch deadline ext fifo idle other rr reset-on-fork sched-runtime= sched-period= sched-deadline= pid max verbose help version"},
		"taskset": {short: "apchV", operands: 1, long: "all-tasks pid cpu-list help version"},
		"setpriv": {short: "dhV", long: "dump no-new-privs ambient-caps= inh-caps= bounding-set= ruid= euid= rgid= egid= reuid= regid= " +
			"clear-groups keep-groups init-groups groups= list-caps securebits= pdeathsig= ptracer= selinux-label= apparmor-profile= " +
			"landlock-access= landlock-rule= seccomp-filter= reset-env nnp help version"},
		"choom":   {short: "n:p:hV", long: "adjust= pid= help version"},
		"logsave": {short: "asv", operands: 1},
		"runcon":  {short: "ct:u:r:l:", long: "compute type= user= role= range= help version", operands: 0, anywhere: true},
		"xargs": {short: "0a:d:E:e::i::I:J:L:l::n:oP:prR:S:s:tx", open: true,
			long: "null arg-file= delimiter= eof replace max-lines max-args= open-tty max-procs= interactive process-slot-var= no-run-if-empty max-chars= show-limits verbose exit help version"},
		"chroot": {operands: 1, bare: true, rooted: true, long: "groups= userspec= skip-chdir help version"},
		"unshare": {short: "muinpUCTfrchVR:w:S:G:l:", bare: true, dirs: "w wd", roots: "R root",
			long: "mount uts ipc net pid user cgroup time mount-proc mount-binfmt map-user= map-group= map-users= map-groups= map-root-user map-current-user map-auto map-subids " +
				"propagation= setgroups= keep-caps root= wd= setuid= setgid= load-interp= monotonic= boottime= fork kill-child help version"},
		"nsenter": {short: "amuinpCUTFeZhVt:S:G:r::w::W:", bare: true, roams: true, roots: "r root",
			long: "all mount uts ipc net pid cgroup user time no-fork env follow-context target= setuid= setgid= root wd wdns= preserve-credentials keep-caps user-parent join-cgroup net-socket= help version"},
		"flock": {short: "sxeunoFhVE:w:c:", operands: 1, shells: "c command",
			long: "shared exclusive unlock nonblock nb close no-fork wait= timeout= conflict-exit-code= command= verbose help version fcntl"},
		"sudo": {short: "AbBEHknNPSvVeKilsC:D:g:h:p:R:r:t:T:U:u:", assigns: true, shells: "s i e shell login edit", dirs: "D chdir", roots: "R chroot",
			long: "askpass background bell preserve-env set-home reset-timestamp no-update non-interactive preserve-groups stdin validate version edit remove-timestamp login list shell " +
				"close-from= chdir= group= host= prompt= chroot= role= type= command-timeout= other-user= user= help"},
		"doas":    {short: "Lnsa:C:u:", shells: "s", bare: true},
		"pkexec":  {long: "version help disable-internal-agent keep-cwd user=", bare: true},
		"runuser": {short: "u:g:G:w:mpT", direct: "u user", shells: "c l f s P command session-command login shell fast pty", long: "user= group= supp-group= whitelist-environment= preserve-environment command= session-command= login shell= fast pty help version"},
		"watch": {short: "bcCdegtpqrwxhvn:q:s:", direct: "x exec",
			long: "beep color no-color differences errexit chgexit equexit= interval= precise no-rerun no-title no-wrap exec shotsdir= follow help version"},
		"strace": {short: "cCdDfFhiknNqrtTvVwxyYzZa:b:e:E:I:o:O:p:P:s:S:u:U:X:",
			long: "columns= detach-on= env= trace= signal= output= attach= trace-path= string-limit= user= const-print-style= daemonize follow-forks summary summary-only help version " +
				"instruction-pointer stack-traces quiet relative-timestamps timestamps syscall-times no-abbrev decode-fds successful-only failed-only output-separately argv0= seccomp-bpf tips kill-on-exit"},
		"ltrace": {short: "bcCfhiLrStTVa:A:D:e:F:l:n:o:p:s:u:w:x:X:", anywhere: true},
		"script": {always: true}, "scriptlive": {always: true}, "su": {always: true}, "sg": {always: true}, "newgrp": {always: true},
		"login": {always: true}, "sulogin": {always: true}, "parallel": {always: true}, "tmux": {always: true}, "screen": {always: true}, "capsh": {always: true},
		"xterm": {always: true}, "x-terminal-emulator": {always: true}, "hyperfine": {always: true}, "machinectl": {always: true},
		"entr": {short: "acdnprsxz", shells: "s"},
	}
	// Of these the options are too many or too different from one version to
	// the next: any later word that is an interpreter is taken for the command.
	for name := range strings.FieldsSeq("numactl prlimit uclampset setarch linux32 linux64 i386 x86_64 uname26 coresched " +
		"valgrind perf uftrace ccache sccache distcc cpulimit rlwrap tini dumb-init catatonit gosu su-exec chpst setlock softlimit envdir setuidgid " +
		"bwrap firejail proot nsjail systemd-run systemd-nspawn systemd-inhibit dbus-run-session dbus-launch ssh-agent start-stop-daemon daemonize " +
		"fakeroot fakechroot faketime eatmydata torsocks proxychains proxychains4 unbuffer xvfb-run stress-ng run-parts dtach abduco nq setuid " +
		"rr heaptrack ltrace-ng memusage catchsegv pidstat openvt busctl gamemoderun mangohud prime-run optirun primusrun apptainer singularity toolbox distrobox ip systemd-cat msgexec msgfilter valgrind.bin") {
		all[name] = grammar{anywhere: true}
	}
	for _, name := range []string{"env", "find", "fd", "fdfind"} {
		all[name] = grammar{} // their functions know them
	}
	return all
})
