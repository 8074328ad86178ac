package containtest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/run"
)

func itoa(n int) string { return strconv.Itoa(n) }

// processAttempts attack processes of the host.
func processAttempts() []attempt {
	all := []attempt{
		{name: "see", act: "find process", plant: plantProcess, proof: naked},
		{name: "signal", act: "signal", plant: plantProcess, touched: processTouched, proof: naked},
		{name: "signal by pidfd", act: "pidfd", plant: plantProcess, touched: processTouched, proof: naked},
		{name: "signal all processes", act: "signal all", plant: plantProcess, touched: processTouched, proof: naked},
		{name: "signal the group", act: "signal group", plant: plantProcess, proof: naked},
		{name: "signal through F_SETOWN", act: "set owner", plant: plantProcess, proof: naked},
		{name: "trace", act: "trace", plant: plantProcess, proof: naked},
		{name: "read memory", act: "read memory", plant: plantProcess, proof: naked},
		{name: "take a descriptor", act: "take descriptor", plant: plantProcess, proof: naked},
		{name: "read limits", act: "read limits", plant: plantProcess, proof: naked},
		{name: "files through /proc/PID", act: "directories of processes", params: map[string]any{"key": "private_file"}, plant: plantProcess, proof: naked},
		{name: "priority of all processes of a user", act: "priority of user", root: true, plant: plantOfUser, touched: priorityTouched, proof: proof{naked: true, uid: confine.Nobody}},
		{name: "priority of a process", act: "priority", plant: plantProcess, touched: priorityTouched, proof: naked},
		{name: "daemon", act: "daemon", plant: plantMarker, touched: survivors, proof: naked},
		{name: "daemon that holds the output", act: "daemon", params: map[string]any{"hold": true}, plant: plantMarker, touched: survivors,
			proof: proof{none: "without a jail the test would wait for it"}},
		{name: "stopped daemon", act: "daemon", params: map[string]any{"stop": true}, plant: plantMarker, touched: survivors, proof: naked},
		{name: "daemon of a shell", sh: `(setsid setsid sh -c 'trap "" HUP TERM INT; while :; do sleep 60; done' "$marker" >/dev/null 2>&1 </dev/null &); sleep 0.2; held`,
			plant: plantMarker, touched: survivors, proof: naked},
		{name: "forged exit report", act: "forge", want: run.Exited, touched: exitCode(7),
			proof: proof{none: "there is nothing to forge without a jail"}},
		{name: "exit code with a daemon", sh: `(sh -c 'exit 0' &) ; sh -c 'kill -9 $$'; exit 7`, want: run.Exited, touched: exitCode(7),
			proof: proof{none: "there is nothing to forge without a jail"}},
		{name: "kills itself", sh: `kill -KILL $$`, want: run.Signaled, touched: endedBySignal("SIGKILL"), bwrap: bwrapSignaled(unix.SIGKILL),
			proof: proof{none: "it is about what is said of it"}},
		{name: "killed by a real-time signal", sh: `kill -35 $$`, want: run.Signaled, touched: endedBySignal("SIGRTMIN+1"), bwrap: bwrapSignaled(35),
			proof: proof{none: "it is about what is said of it"}},
		{name: "killed by SIGXCPU", sh: `kill -XCPU $$`, want: run.Signaled, touched: endedBySignal("SIGXCPU"), bwrap: bwrapSignaled(unix.SIGXCPU),
			proof: proof{none: "it is about what is said of it"}},
		{name: "killed by SIGSYS", sh: `kill -SYS $$`, want: run.Signaled, touched: endedBySignal("SIGSYS"), bwrap: bwrapSignaled(unix.SIGSYS),
			proof: proof{none: "it is about what is said of it"}},
		{name: "clone with CLONE_PARENT", act: "clone parent", proof: naked},
		{name: "orphans are waited for", sh: `
i=0; while [ $i -lt 300 ]; do (sh -c : &); i=$((i+1)); done
i=0; while n=$(cat /proc/[0-9]*/stat 2>&- | grep -c ") Z $PPID "); ! [ "$n" -le 5 ] && [ $i -lt 100 ]; do sleep 0.1; i=$((i+1)); done
[ "$n" -le 5 ] && held $n; escaped $n`,
			plant: func(_ *testing.T, s *scene) {
				s.request.Limits.Processes = 512 // so that the zombies leave room to count them
			},
			proof: proof{none: "every host's init does it"}},
	}
	return inWall("processes", all)
}

const bwrapInit = "the first process is bubblewrap's own: it does not hide its files, and they hold no secrets"

// bwrapSignaled returns how bubblewrap reports a signal: as an exit code, like a shell.
func bwrapSignaled(by syscall.Signal) ending { return ending{run.Exited, 128 + int(by)} }

// initAttempts attack the first process of the sandbox, which is cordon's.
func initAttempts() []attempt {
	all := []attempt{
		{name: "all signals", act: "send all signals", plant: plantInit, touched: processTouched, proof: naked},
		{name: "trace", act: "trace", plant: plantInit, proof: naked},
		{name: "read memory", act: "read memory", plant: plantInit, proof: naked},
		{name: "take a descriptor", act: "take descriptor", plant: plantInit, proof: naked},
		{name: "change limits", act: "change limits", plant: plantInit, proof: naked},
		{name: "secrets in its /proc files", sh: `cat /proc/$pid/cmdline /proc/$pid/status /proc/$pid/comm /proc/$pid/mountinfo | grep -a -q "$mark" && escaped; held`,
			plant: plantInit, proof: proof{none: "no process contains the mark"}},
		{name: "raise its oom_score_adj", sh: `echo 1000 > /proc/$pid/oom_score_adj && escaped; held`, plant: plantInit, open: bwrapInit, proof: naked},
	}
	for _, name := range []string{"environ", "maps", "mem", "exe", "root/", "cwd/", "fd/", "auxv", "io", "ns/mnt"} {
		all = append(all, attempt{name: "read /proc/PID/" + name, act: "read proc file", params: map[string]any{"file": name}, plant: plantInit, open: bwrapInit, proof: naked})
	}
	return inWall("init", all)
}

// canaryProcess is a process of the host that must not be reached.
type canaryProcess struct {
	cmd *exec.Cmd
	end chan error
}

// startProcess starts a process that waits for the end of its input.
func startProcess(t *testing.T, s *scene, uid int) *canaryProcess {
	t.Helper()
	cmd := exec.Command(s.suite.program, s.params["marker"].(string)+"-canary")
	cmd.Env = []string{actVariable + "=wait", paramsVariable + "={}", "CORDON_SECRET=" + s.secret}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if uid != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p := &canaryProcess{cmd: cmd, end: make(chan error, 1)}
	go func() { p.end <- cmd.Wait() }()
	t.Cleanup(func() {
		input.Close()
		_ = cmd.Process.Signal(unix.SIGCONT)
		<-p.end
	})
	return p
}

func plantProcess(t *testing.T, s *scene) {
	p := startProcess(t, s, 0)
	s.process = p
	s.setPid(itoa(p.cmd.Process.Pid))
}

// setPid passes the pid to the attempt, including shell scripts. It may be parentProcess.
func (s *scene) setPid(pid string) {
	s.request.Command.Env = map[string]string{"pid": pid}
	s.params["pid"] = pid
}

// parentProcess stands for the number of the parent process, which only the attempt knows.
const parentProcess = "parent"

// plantInit sets the init as the target, or a process of the same user if there is no init. It
// is the first process of its namespace, and in any case the parent of the command.
func plantInit(t *testing.T, s *scene) {
	plantProcess(t, s)
	switch {
	case s.naked:
	case s.shared():
		s.setPid(parentProcess)
	default:
		s.setPid("1")
	}
}

func plantMarker(_ *testing.T, s *scene) {
	s.params["marker"] = "cdn-" + filepath.Base(s.suite.directory) + "-" + filepath.Base(s.directory)
}

// processTouched reports whether the canary was killed, stopped or signaled.
func processTouched(_ *testing.T, s *scene, _ run.Result) string {
	p := s.process
	patience := time.NewTimer(time.Millisecond)
	if s.naked {
		patience.Reset(time.Second) // it may take a moment to die
	}
	defer patience.Stop()
	select {
	case err := <-p.end:
		p.end <- err
		return fmt.Sprintf("a process of the host is gone: %v", err)
	case <-patience.C:
		return ""
	}
}

// plantOfUser starts a process of the guest's own user.
func plantOfUser(t *testing.T, s *scene) {
	p := startProcess(t, s, confine.Nobody)
	s.process = p
	s.setPid(itoa(p.cmd.Process.Pid))
}

func priorityTouched(t *testing.T, s *scene, _ run.Result) string {
	// The system call returns 20 minus the nice value.
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, s.process.cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if priority != 20 {
		return fmt.Sprintf("a process of the host has nice value %d", 20-priority)
	}
	return ""
}

// survivors returns the processes with the scene's marker on their command line.
func survivors(t *testing.T, s *scene, _ run.Result) string {
	found := processesWithArg(s.params["marker"].(string))
	for _, pid := range found {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	if len(found) > 0 {
		return fmt.Sprintf("processes %v have outlived the command", found)
	}
	return ""
}

// processesWithArg returns the processes of the host that have a word on their command line.
func processesWithArg(word string) (pids []int) {
	names, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil
	}
	for _, name := range names {
		line, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(line), word) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

func exitCode(want int) func(*testing.T, *scene, run.Result) string {
	return func(_ *testing.T, _ *scene, r run.Result) string {
		if r.ExitCode == nil || *r.ExitCode != want {
			return "the exit code is not that of the command"
		}
		return ""
	}
}

func endedBySignal(want string) func(*testing.T, *scene, run.Result) string {
	return func(_ *testing.T, s *scene, r run.Result) string {
		if s.byBubblewrap() {
			return "" // see bwrapSignaled
		}
		if r.Signal != want || r.ExitCode != nil {
			return "the signal is " + r.Signal
		}
		if len(r.Violations) > 0 {
			return "there is a violation"
		}
		return ""
	}
}

var processActs = map[string]act{
	"wait": func(params) error {
		fmt.Println("READY")
		_, err := bufio.NewReader(os.Stdin).ReadString('\n')
		return err
	},
	"find process": func(p params) error {
		if len(processesWithArg(p.text("marker")+"-canary")) == 0 {
			return errors.New("the process is not visible")
		}
		return nil
	},
	"signal group": func(p params) error { return unix.Kill(-p.pid(), 0) },
	"signal":       func(p params) error { return unix.Kill(p.pid(), unix.SIGTERM) },
	"pidfd": func(p params) error {
		fd, err := unix.PidfdOpen(p.pid(), 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, unix.SIGTERM, nil, 0)
	},
	"signal all": signalAll,
	"set owner": func(p params) error {
		var pipe [2]int
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			return broken("%v", err)
		}
		_, err := unix.FcntlInt(uintptr(pipe[0]), unix.F_SETOWN, p.pid())
		return err
	},
	"trace": func(p params) error {
		return anyOf(map[string]error{"attach": unix.PtraceAttach(p.pid()), "seize": unix.PtraceSeize(p.pid())})
	},
	"read memory":     readMemory,
	"take descriptor": takeDescriptor,
	"read limits": func(p params) error {
		var limit unix.Rlimit
		return unix.Prlimit(p.pid(), unix.RLIMIT_NOFILE, nil, &limit)
	},
	"change limits": func(p params) error {
		var limit unix.Rlimit
		return anyOf(map[string]error{
			"get": unix.Prlimit(p.pid(), unix.RLIMIT_CORE, nil, &limit),
			"set": unix.Prlimit(p.pid(), unix.RLIMIT_CORE, &unix.Rlimit{}, nil),
		})
	},
	"directories of processes": directoriesOfProcesses,
	"priority of user": func(params) error {
		return errors.Join(unix.Setpriority(unix.PRIO_USER, 0, 7), errors.New("changed; the host checks whose priority it was"))
	},
	"priority": func(p params) error {
		cpus := &unix.CPUSet{}
		cpus.Set(0)
		return anyOf(map[string]error{
			"setpriority": unix.Setpriority(unix.PRIO_PROCESS, p.pid(), 7), "affinity": unix.SchedSetaffinity(p.pid(), cpus),
		})
	},
	"daemon":        daemon,
	"daemon middle": func(p params) error { return startSelf(p, "linger") },
	"linger":        linger,
	"forge":         forge,
	"clone parent": func(params) error {
		_, err := rawClone(unix.CLONE_PARENT | uintptr(unix.SIGCHLD))
		return err
	},
	"send all signals": sendAllSignals,
	"read proc file":   readProcFile,
}

// signalAll tries signal 0 first. It sends a real signal only if that reaches no process: the
// test must not kill its host.
func signalAll(params) error {
	if err := unix.Kill(-1, 0); err == nil {
		return nil
	}
	return errors.Join(unix.Kill(-1, unix.SIGKILL), errors.New("nobody is there"))
}

// readMemory reads at the address where programs start.
func readMemory(p params) error {
	data := make([]byte, 4)
	local := []unix.Iovec{{Base: &data[0], Len: 4}}
	remote := []unix.RemoteIovec{{Base: 0x400000, Len: 4}}
	n, err := unix.ProcessVMReadv(p.pid(), local, remote, 0)
	if err == nil && (n != 4 || data[1] != 'E') {
		return broken("read %d: %q", n, data)
	}
	return err
}

func takeDescriptor(p params) error {
	fd, err := unix.PidfdOpen(p.pid(), 0)
	if err != nil {
		return err
	}
	for i := range 4 {
		var taken int
		if taken, err = unix.PidfdGetfd(fd, i, 0); err == nil {
			return unix.Close(taken)
		}
	}
	return err
}

// directoriesOfProcesses looks for a file of the host through /proc/PID of every process.
func directoriesOfProcesses(p params) error {
	links, err := filepath.Glob("/proc/[0-9]*/*")
	if err != nil {
		return broken("%v", err)
	}
	for _, link := range links {
		switch filepath.Base(link) {
		case "root", "cwd":
			for _, up := range []string{"", strings.Repeat("/..", 20)} {
				if readSecret(link+up+p.path()) == nil {
					fmt.Println("through", link)
					return nil
				}
			}
		}
	}
	return fmt.Errorf("none of %d", len(links))
}

// startSelf starts this program with another act, marked and in a new session, and does not
// wait for it.
func startSelf(p params, name string) error {
	cmd := exec.Command("/proc/self/exe", p.text("marker"))
	cmd.Args[0] = "attempt"
	cmd.Env = append(os.Environ(), actVariable+"="+name)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if p["hold"] == true {
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	}
	if err := cmd.Start(); err != nil {
		return broken("%v", err)
	}
	if name == "daemon middle" {
		if err := cmd.Wait(); err != nil {
			return broken("%v", err)
		}
	}
	return errors.New("it is started; whether it lives is seen from outside")
}

func daemon(p params) error { return startSelf(p, "daemon middle") }

// linger runs longer than any test, but not forever.
func linger(p params) error {
	signal.Ignore(unix.SIGTERM, unix.SIGHUP, unix.SIGINT)
	_ = unix.Setpgid(0, 0) // it may lead a session, and then cannot
	if p["stop"] == true {
		_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
	}
	for range 60 {
		_, _ = unix.Poll(nil, 1000)
	}
	return errQuiet
}

// forge reports success on every descriptor, as the init process does, and then fails.
func forge(params) error {
	for fd := 3; fd < 1100; fd++ {
		_, _ = unix.Write(fd, make([]byte, 4))
		_ = unix.Sendmsg(fd, make([]byte, 4), nil, nil, unix.MSG_NOSIGNAL)
	}
	for _, init := range []int{1, os.Getppid()} {
		if file, err := os.OpenFile("/proc/"+itoa(init)+"/fd/3", os.O_WRONLY, 0); err == nil {
			_, _ = file.Write(make([]byte, 4)) // what the Runner reports shows whether it worked
		}
	}
	os.Exit(7)
	return nil
}

func sendAllSignals(p params) error {
	const last = 64
	for n := 1; n <= last; n++ {
		_ = unix.Kill(p.pid(), syscall.Signal(n)) // whether the process survives is what counts
	}
	return errors.New("the process survived all signals")
}

func readProcFile(p params) error {
	name := "/proc/" + itoa(p.pid()) + "/" + p.text("file")
	switch {
	case p.text("file") == "mem":
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		_, err = file.ReadAt(make([]byte, 4), 0x400000)
		return err
	case strings.HasSuffix(name, "/"):
		entries, err := os.ReadDir(name)
		if err == nil && len(entries) == 0 {
			return errors.New("it is empty")
		}
		return err
	}
	data := make([]byte, 16<<10)
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	if strings.HasPrefix(p.text("file"), "ns/") {
		return nil
	}
	n, err := file.Read(data)
	if n == 0 {
		return fmt.Errorf("it is empty: %w", err)
	}
	fmt.Printf("%q\n", data[:n])
	return nil
}
