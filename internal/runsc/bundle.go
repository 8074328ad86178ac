package runsc

import (
	"encoding/json"
	"strconv"
)

// Paths in the sandbox that cordon builds around runsc. Nothing else is there, except what
// every program needs.
const (
	Program = "/runsc"
	Config  = "/bundle/config.json"
	Root    = "/guest" // what the guest sees
	State   = "/state" // what runsc keeps
)

// Log is the file below State in which the sentry lists system calls that it does not have.
const Log = "log"

// Spec describes one sandbox.
type Spec struct {
	// ID is the guest's user and group, and that of runsc around it.
	ID int
	// Terminal says that the standard streams are a terminal.
	Terminal bool
	// Dir is the working directory.
	Dir string
	// Mounts are in addition to the root, /proc and /dev.
	Mounts []Mount
	// Limits are those of each process, by their names ("RLIMIT_NOFILE").
	Limits map[string]uint64
	// Program is a descriptor of runsc: what the guest's first process executes. Passed are
	// those that it inherits.
	Program int
	Passed  []Passed
}

// Passed is a descriptor of runsc, and its number in the guest.
type Passed struct{ Host, Guest int }

// Mount is one of the guest's mounts.
type Mount struct {
	Path string
	// Source is a path of the guest's root on the host's side. If it is empty, the mount
	// is a new file system in memory, with a size in bytes.
	Source           string
	Size             int64
	ReadOnly, NoExec bool
}

// Arguments returns the arguments of runsc.
func (s Spec) Arguments() []string {
	arguments := []string{
		Name,
		"--root=" + State,
		"--platform=systrap", // the others need more of the host
		"--network=none",
		"--ignore-cgroups", // ours are around it
		"--overlay2=none",  // what the guest writes reaches the workspace
		"--host-uds=none", "--host-fifo=none",
		"--oci-seccomp=false",
		"run",
		"--user-log=" + State + "/" + Log,
		"--bundle=" + bundle,
		"--exec-fd=" + strconv.Itoa(s.Program),
	}
	for _, p := range s.Passed {
		arguments = append(arguments, "--pass-fd="+strconv.Itoa(p.Host)+":"+strconv.Itoa(p.Guest))
	}
	return append(arguments, "guest")
}

const bundle = "/bundle"

// Configuration returns the bundle's config.json.
func (s Spec) Configuration() (string, error) {
	c := configuration{Version: "1.0.2", Hostname: "cordon", Root: root{Path: Root}}
	c.Process = process{
		Terminal: s.Terminal, User: user{UID: s.ID, GID: s.ID}, Args: []string{"cordon-init"}, Env: []string{}, Dir: s.Dir, NoNewPrivileges: true,
	}
	for _, name := range limitNames {
		if value, set := s.Limits[name]; set {
			c.Process.Limits = append(c.Process.Limits, limit{Name: name, Hard: value, Soft: value})
		}
	}
	c.Mounts = []mount{
		{Path: "/proc", Type: "proc"},
		{Path: "/dev", Type: "dev"},
		{Path: "/dev/pts", Type: "devpts"},
	}
	for _, m := range s.Mounts {
		c.Mounts = append(c.Mounts, m.encode())
	}
	for _, name := range []string{"pid", "mount", "ipc", "uts", "network", "user"} {
		c.Linux.Namespaces = append(c.Linux.Namespaces, namespace{name})
	}
	// The only id of the user namespace around it.
	own := []mapping{{Inside: s.ID, Outside: s.ID, Size: 1}}
	c.Linux.UIDs, c.Linux.GIDs = own, own
	text, err := json.Marshal(c)
	return string(text), err
}

func (m Mount) encode() mount {
	options := []string{"nosuid", "nodev"}
	if m.ReadOnly {
		options = append(options, "ro")
	}
	if m.NoExec {
		options = append(options, "noexec")
	}
	if m.Source == "" {
		return mount{Path: m.Path, Type: "tmpfs", Options: append(options, "mode=1777", "size="+strconv.FormatInt(m.Size, 10))}
	}
	return mount{Path: m.Path, Type: "bind", Source: m.Source, Options: append(options, "rbind")}
}

// limitNames are the limits in the order in which they are written.
var limitNames = []string{"RLIMIT_CORE", "RLIMIT_CPU", "RLIMIT_NOFILE", "RLIMIT_NPROC"}

// The parts of the specification that a bundle needs.
type configuration struct {
	Version  string  `json:"ociVersion"`
	Process  process `json:"process"`
	Root     root    `json:"root"`
	Hostname string  `json:"hostname"`
	Mounts   []mount `json:"mounts"`
	Linux    linux   `json:"linux"`
}

type process struct {
	Terminal        bool     `json:"terminal"`
	User            user     `json:"user"`
	Args            []string `json:"args"`
	Env             []string `json:"env"`
	Dir             string   `json:"cwd"`
	Capabilities    struct{} `json:"capabilities"` // none
	Limits          []limit  `json:"rlimits,omitempty"`
	NoNewPrivileges bool     `json:"noNewPrivileges"`
}

type user struct {
	UID int `json:"uid"`
	GID int `json:"gid"`
}

type limit struct {
	Name string `json:"type"`
	Hard uint64 `json:"hard"`
	Soft uint64 `json:"soft"`
}

type root struct {
	Path     string `json:"path"`
	ReadOnly bool   `json:"readonly"`
}

type mount struct {
	Path    string   `json:"destination"`
	Type    string   `json:"type"`
	Source  string   `json:"source,omitempty"`
	Options []string `json:"options,omitempty"`
}

type linux struct {
	Namespaces []namespace `json:"namespaces"`
	UIDs       []mapping   `json:"uidMappings"`
	GIDs       []mapping   `json:"gidMappings"`
}

type namespace struct {
	Type string `json:"type"`
}

type mapping struct {
	Inside  int `json:"containerID"`
	Outside int `json:"hostID"`
	Size    int `json:"size"`
}
