package attack

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cordon-sandbox/cordon/run"
)

// Canaries are objects of the host that a guest must not reach: some hold a secret that
// must not be read, others must not be changed. Context gives the guest their locations,
// never their secrets.
type Canaries struct {
	dir     string
	context map[string]any
	// mark starts every secret: a guest that sees it knows that it has escaped.
	mark    string
	secrets map[string]string
	files   map[string]fileState
	// checks inspect canaries that have no listener.
	checks []func() []string
	closes []func()
	// lastSignal has a value when all earlier signals have arrived (Linux).
	lastSignal chan struct{}

	mu      sync.Mutex
	touched []string
}

// fileState is what chmod, chown, utime, truncate and write would change.
type fileState struct {
	text  string
	mode  os.FileMode
	mtime int64
}

// Plant puts canaries into dir, which it creates, and into this process: files,
// an environment variable, and on Linux listeners, signals, shared memory,
// queues and a leaked descriptor. It leaves out what this host does not support.
func Plant(dir string) (*Canaries, error) {
	c := &Canaries{
		dir: dir, mark: "cordon-canary-" + random(4),
		secrets: map[string]string{}, files: map[string]fileState{},
	}
	c.context = map[string]any{
		"mark": c.mark,
		// Short enough for the name of a process, by which a process that outlives
		// its run is found.
		"marker": "cdn" + random(6),
		// A program that replaces the script prints this.
		"shout":    "cordon-escape-" + random(8),
		"host_pid": os.Getpid(),
	}
	if err := c.plantFiles(); err != nil {
		c.Close()
		return nil, err
	}
	c.plantEnvironment()
	if err := c.plantHost(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// secret makes a text that names the canary it was read from.
func (c *Canaries) secret(name string) string {
	s := c.mark + "-" + name + "-" + random(8)
	c.secrets[name] = s
	return s
}

func (c *Canaries) plantFiles() error {
	open := filepath.Join(c.dir, "open")
	if err := os.MkdirAll(open, 0o755); err != nil {
		return err
	}
	c.closes = append(c.closes, func() { os.RemoveAll(c.dir) })
	for _, f := range []struct {
		key, name string
		mode      os.FileMode
	}{
		{"canary_file", "canary.txt", 0o644},
		{"private_file", "private.txt", 0o600},
		{"writable_file", "writable.txt", 0o666},
	} {
		path := filepath.Join(c.dir, f.name)
		if err := c.plantFile(path, c.secret(f.key), f.mode); err != nil {
			return err
		}
		c.context[f.key] = path
	}
	for dir, mode := range map[string]os.FileMode{c.dir: 0o755, open: 0o777} {
		if err := os.Chmod(dir, mode); err != nil {
			return err
		}
	}
	c.context["writable_dir"] = open
	c.checks = append(c.checks, c.checkFiles)
	return nil
}

// plantFile creates a file and records its state.
func (c *Canaries) plantFile(path, text string, mode os.FileMode) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return err
	}
	// The umask must not act as a wall: set the exact mode.
	if err := os.Chmod(path, mode); err != nil {
		return err
	}
	state, err := readState(path)
	c.files[path] = state
	return err
}

func readState(path string) (fileState, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return fileState{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return fileState{}, err
	}
	return fileState{string(text), info.Mode(), info.ModTime().UnixNano()}, nil
}

func (c *Canaries) checkFiles() []string {
	var touched []string
	for path, was := range c.files {
		if is, err := readState(path); err != nil || is != was {
			touched = append(touched, "the host's file "+path+" was changed")
			// Restore it, or the next attempts would be blamed.
			if err := c.plantFile(path, was.text, was.mode); err != nil {
				touched = append(touched, "and cannot be restored: "+err.Error())
			}
		}
	}
	entries, err := os.ReadDir(filepath.Join(c.dir, "open"))
	if err != nil {
		return append(touched, "the host's directory was changed: "+err.Error())
	}
	for _, e := range entries {
		touched = append(touched, "a file appeared in a directory of the host: "+e.Name())
		os.RemoveAll(filepath.Join(c.dir, "open", e.Name()))
	}
	return touched
}

// plantEnvironment sets a variable in this process, and gives the guest the names, not the
// values, of all others: the guest must not have any of them.
func (c *Canaries) plantEnvironment() {
	var names []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	name := "CORDON_CANARY_" + strings.ToUpper(random(4))
	_ = os.Setenv(name, c.secret("environment")) // the name is ours and valid
	c.closes = append(c.closes, func() { _ = os.Unsetenv(name) })
	c.context["env_name"], c.context["env_names"] = name, names
}

// Context returns the context of a guest. It is a copy: runs may add to it.
func (c *Canaries) Context() map[string]any { return maps.Clone(c.context) }

// Check returns what was touched since the last call; any entry means that a guest
// escaped.
func (c *Canaries) Check() []string {
	c.awaitEffects()
	c.mu.Lock()
	touched := c.touched
	c.touched = nil
	c.mu.Unlock()
	for _, check := range c.checks {
		touched = append(touched, check()...)
	}
	slices.Sort(touched)
	return slices.Compact(touched)
}

// touch records an event that a listener saw.
func (c *Canaries) touch(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.touched = append(c.touched, fmt.Sprintf(format, args...))
}

// Spot looks for secrets, and for the shout of an executed program, in a Result.
func (c *Canaries) Spot(res run.Result) []string {
	all, err := json.Marshal(res)
	if err != nil {
		return []string{"the result cannot be encoded as JSON: " + err.Error()}
	}
	return c.spot(string(all))
}

func (c *Canaries) spot(text string) []string {
	var spotted []string
	for name, secret := range c.secrets {
		if strings.Contains(text, secret) {
			spotted = append(spotted, "the secret of "+name+" leaked")
		}
	}
	if strings.Contains(text, c.context["shout"].(string)) {
		spotted = append(spotted, "a program of the guest's choice was executed")
	}
	slices.Sort(spotted)
	return spotted
}

// Close removes everything, in reverse order.
func (c *Canaries) Close() {
	for _, undo := range slices.Backward(c.closes) {
		undo()
	}
	c.closes = nil
}

// random returns 2n hex digits.
func random(n int) string {
	b := make([]byte, n)
	rand.Read(b) // never fails: see crypto/rand
	return hex.EncodeToString(b)
}
