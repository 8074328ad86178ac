package zygote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cordon-sandbox/cordon/internal/confine"
	"github.com/cordon-sandbox/cordon/internal/interpreter"
	"github.com/cordon-sandbox/cordon/internal/landlock"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/internal/seccomp"
	"github.com/cordon-sandbox/cordon/internal/tuning"
	"github.com/cordon-sandbox/cordon/internal/wire"
)

// The filter knows these descriptors by number.
var _ = [1]struct{}{}[confine.ControlFD-seccomp.ControlFD|confine.MountNSFD-seccomp.MountNSFD|confine.PIDNSFD-seccomp.PIDNSFD]

// startTimeout is generous: an interpreter with large preloads may take seconds on a busy
// machine. One that takes longer never starts.
const startTimeout = 60 * time.Second

// Zygote is one fork server.
type Zygote struct {
	config   Config
	process  *confine.Process
	control  descriptor
	listener descriptor // closed if denials are not reported

	// Baseline is the memory of the interpreter itself.
	Baseline Baseline
	expect   [][]byte // lines of /proc/PID/status that each worker must have
	// limitsItself says that a worker sets the limits of its guest itself.
	limitsItself atomic.Bool
	inherited    []uint64 // hard limits that its workers begin with, in the order of rlimits

	mu      sync.Mutex
	workers map[int]*Worker // by number, from the request until it is reaped
	sealed  map[int]*Worker // by pid
	forks   int
	closed  bool
	retired bool // ends with its last worker

	done chan struct{} // closed when the zygote is reaped
	err  error         // why it ended, set before done is closed
	wait sync.WaitGroup
}

// Start returns a zygote that is ready to fork. A *confine.SetupError names the wall that
// could not be set up.
func Start(ctx context.Context, config Config) (*Zygote, error) {
	z, err := Launch(ctx, config)
	if err == nil {
		err = z.handshake(ctx)
	}
	if err != nil {
		return nil, err
	}
	if z.Baseline, err = baselineOf(z.process.Pid); err != nil {
		z.Close()
		return nil, err
	}
	return z, nil
}

// Launch starts a zygote without waiting for it. Errors of the start are returned by
// handshake.
func Launch(ctx context.Context, config Config) (*Zygote, error) {
	if config.CPUs == nil {
		config.CPUs = &CPUs{}
	}
	environment := append(Environment(), config.Env...)
	if !config.Plan.Environment {
		environment = os.Environ()
	}
	if !config.OneShot {
		// Otherwise every worker resolves the same functions again.
		environment = append(environment, "LD_BIND_NOW=1")
	}
	process, err := confine.Start(ctx, confine.Spec{
		Plan:     config.Plan,
		Argv:     []string{config.Interpreter.Path, "-I", "-S", "-B", "-X", "utf8", "-c", loader},
		Env:      environment,
		Messages: config.messages,
	})
	if err != nil {
		return nil, err
	}
	z := &Zygote{
		config: config, process: process, expect: expectations(config.Plan),
		workers: map[int]*Worker{}, sealed: map[int]*Worker{},
		done: make(chan struct{}),
	}
	z.limitsItself.Store(config.Untuned.Has(tuning.Limits))
	z.control.set(process.Control)
	return z, nil
}

// handshake waits for the zygote's greeting and then starts to serve it. It ends a zygote
// that does not greet.
func (z *Zygote) handshake(ctx context.Context) error {
	err := z.greet(ctx)
	if err == nil {
		err = z.inherit()
	}
	if err != nil {
		z.Abandon()
		return err
	}
	z.wait.Go(z.attend)
	go z.reap()
	return nil
}

// Abandon ends a zygote before its handshake.
func (z *Zygote) Abandon() {
	z.process.Kill()
	z.process.Wait()
	z.control.close()
	z.listener.close()
}

// messages returns what the loader and the bootstrap read, in this order.
func (c Config) messages() ([][]byte, error) {
	settings, err := configure(c)
	if err != nil {
		return nil, err
	}
	messages := append(Bootstrap.messages(c), settings)
	if c.Language != nil {
		messages = append(messages, Rules.messages(c)...)
	}
	if c.Modules != nil {
		rules, err := c.Modules.messages()
		if err != nil {
			return nil, err
		}
		messages = append(messages, rules...)
	}
	return messages, nil
}

// configure encodes everything that the Python side needs to know.
func configure(c Config) ([]byte, error) {
	p := c.Plan
	var notify, filter []byte
	var beside seccomp.Filters
	var err error
	if p.Seccomp != confine.SeccompOff {
		if beside, err = seccomp.Exposed(p.Exposure()); err != nil {
			return nil, err
		}
	}
	own := []any{}
	for _, piece := range beside.Own {
		own = append(own, piece)
	}
	switch p.Seccomp {
	case confine.SeccompNotify:
		notify, err = seccomp.Program(seccomp.Script, seccomp.Notify)
	case confine.SeccompErrno:
		filter, err = seccomp.Program(seccomp.Script, seccomp.Errno)
	}
	if err != nil {
		return nil, err
	}
	var warmup []byte
	if !c.OneShot {
		warmup, err = wire.AppendListFrame(nil, wire.KindStart, startFields(Guest{
			Script: "result = context['a'] + 1", Name: "<script>", Context: map[string]any{"a": 41},
		}, nil, false)...)
		if err != nil {
			return nil, err
		}
	}
	namespaces := []any{}
	if p.Namespaces&confine.CloneNewNS != 0 {
		namespaces = append(namespaces, confine.MountNSFD)
	}
	if p.Namespaces&confine.CloneNewPID != 0 {
		namespaces = append(namespaces, confine.PIDNSFD)
	}
	home := confine.Scratch
	if p.Root == nil {
		home = "/"
	}
	return wire.AppendValue(nil, map[string]any{
		"numbers": map[string]any{
			"unshare": unix.SYS_UNSHARE, "setns": unix.SYS_SETNS, "mount": unix.SYS_MOUNT, "prctl": unix.SYS_PRCTL,
			"capset": unix.SYS_CAPSET, "prlimit64": unix.SYS_PRLIMIT64, "seccomp": unix.SYS_SECCOMP,
			"signalfd4": unix.SYS_SIGNALFD4, "sendmsg": unix.SYS_SENDMSG, "recvmsg": unix.SYS_RECVMSG,
			"mmap": unix.SYS_MMAP, "madvise": unix.SYS_MADVISE, "mprotect": unix.SYS_MPROTECT, "mremap": unix.SYS_MREMAP, "munmap": unix.SYS_MUNMAP,
			"landlock_create_ruleset": unix.SYS_LANDLOCK_CREATE_RULESET,
			"landlock_add_rule":       unix.SYS_LANDLOCK_ADD_RULE,
			"landlock_restrict_self":  unix.SYS_LANDLOCK_RESTRICT_SELF,
		},
		"path": c.Interpreter.TrustedPath(), "guest_path": guestPath(c.Interpreter), "preload": c.Preload, "optional": c.Optional, "warmup": warmup, "variables": script.ThreadVariables,
		"notify": notify, "filter": filter, "exposed": beside.Common, "own": own, "landlock": landlockFields(p),
		"namespaces": namespaces, "home": home, "drop": p.Capabilities,
		"mount": p.Root != nil, "private": privateFields(p), "unshare_pid": p.Namespaces&confine.CloneNewPID != 0,
		"oneshot": c.OneShot, "resources": resources(p), "language": languageFields(c.Language), "modules": c.Modules != nil,
	})
}

// privateFields lists what is mounted into the private directories of each worker.
func privateFields(p confine.Plan) any {
	dirs := []any{}
	for _, d := range p.PrivateDirs() {
		entries := []any{}
		for _, m := range d.Entries {
			entries = append(entries, []any{m.Path, string(m.Kind), m.Target})
		}
		dirs = append(dirs, []any{d.Path, entries})
	}
	return dirs
}

// guestPath is sys.path for guests where it differs from the fork server's.
func guestPath(i interpreter.Interpreter) any {
	if len(i.GuestWritable) == 0 {
		return nil
	}
	return i.SysPath
}

func languageFields(l *Language) any {
	if l == nil {
		return nil
	}
	return []any{l.Modules, l.Builtins}
}

// landlockFields are the Landlock rules of the plan. In a private root all files may be
// read; elsewhere each readable path is named.
func landlockFields(p confine.Plan) any {
	if p.Landlock == 0 {
		return nil
	}
	var rules []landlock.Rule
	if p.Root != nil {
		rules = []landlock.Rule{
			{Path: "/", Access: landlock.Read},
			{Path: "/dev", Access: landlock.Read | landlock.Sink},
			{Path: confine.Scratch, Access: landlock.Scratch},
		}
	} else {
		for _, path := range p.Readable {
			info, err := os.Stat(path)
			if err != nil {
				continue // a deleted file needs no rule
			}
			rule := landlock.Rule{Path: path, Access: landlock.Read, File: !info.IsDir()}
			if slices.Contains(confine.Devices, path) {
				rule.Access = landlock.Sink
			}
			rules = append(rules, rule)
		}
	}
	set := landlock.Compile(p.Landlock, rules)
	handled, opened := []any{}, []any{}
	for _, h := range set.Handled {
		handled = append(handled, h)
	}
	for _, r := range set.Rules {
		opened = append(opened, []any{r.Path, uint64(r.Access)})
	}
	return map[string]any{"handled": handled, "rules": opened}
}

// greet waits until the zygote is ready or reports why it cannot be.
func (z *Zygote) greet(ctx context.Context) error {
	if err := unix.SetNonblock(z.process.Control, true); err != nil {
		return err
	}
	control := z.process.Control
	deadline := time.Now().Add(startTimeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	stop := context.AfterFunc(ctx, z.process.Kill)
	defer stop()

	m, err := awaitMessage(control, deadline, 0)
	if err == nil && string(m.data) == "M" {
		if err = z.describeCode(); err == nil {
			m, err = awaitMessage(control, deadline, 0)
		}
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the interpreter did not start within %v", startTimeout)
	case err != nil:
		return fmt.Errorf("the interpreter ended while it started: %w", err)
	}
	if failure, ok := z.process.Failure(m.data); ok {
		return failure
	}
	if m.data[0] == 'E' {
		step, cause, _ := strings.Cut(string(m.data[1:]), "\x00")
		return &confine.SetupError{Step: step, Cause: cause}
	}
	if string(m.data) != "Z" {
		return fmt.Errorf("the fork server sent %q instead of its greeting", m.data)
	}
	if len(m.fds) == 1 {
		z.listener.set(m.fds[0])
	}
	if z.listener.open != (z.config.Plan.Seccomp == confine.SeccompNotify) {
		return errors.New("the fork server's report does not match the plan: seccomp notification")
	}
	return nil
}
