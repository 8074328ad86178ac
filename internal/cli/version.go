package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Version describes this build.
type Version struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// String is the form for people.
func (v Version) String() string {
	s := fmt.Sprintf("cordon %s (%s, %s)", v.Version, v.Go, v.Platform)
	if v.Commit != "" {
		s += "\ncommit " + v.Commit + " of " + v.Time
		if v.Modified {
			s += ", modified"
		}
	}
	return s
}

// ReadVersion reads the build information that the Go tool put into the binary.
func ReadVersion() Version {
	v := Version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
