//go:build !windows

package mcpclient

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestInstallFollowsNothingPlanted checks that Install in a project does not read, copy or
// change other files of the user, whatever links somebody created in the project.
func TestInstallFollowsNothingPlanted(t *testing.T) {
	for _, c := range clients {
		if c.project == "" {
			continue
		}
		theirs, secret := `{"theirs": 1}`, `{"token": "the user's"}`
		if filepath.Ext(c.project) == ".toml" {
			theirs, secret = "theirs = 1\n", "token = \"the user's\"\n"
		}
		for name, plant := range map[string]func(config, victim string) error{
			"backup is a link": func(config, victim string) error {
				return os.Symlink(victim, config+".cordon-backup")
			},
			"backup is a link to nothing": func(config, victim string) error {
				return os.Symlink(victim+"-new", config+".cordon-backup")
			},
			"backup is a hard link": func(config, victim string) error {
				return os.Link(victim, config+".cordon-backup")
			},
			"configuration is a link": func(config, victim string) error {
				return replaceBy(config, func() error { return os.Symlink(victim, config) })
			},
			"configuration is a link to nothing": func(config, victim string) error {
				return replaceBy(config, func() error { return os.Symlink(victim+"-new", config) })
			},
			"configuration is a hard link": func(config, victim string) error {
				return replaceBy(config, func() error { return os.Link(victim, config) })
			},
			"directory is a link": func(config, victim string) error {
				if filepath.Dir(filepath.FromSlash(c.project)) == "." {
					return os.Symlink(victim, config+".cordon-backup") // the file is not in a subdirectory
				}
				dir := filepath.Dir(config)
				return replaceBy(dir, func() error { return os.Symlink(filepath.Dir(victim), dir) })
			},
		} {
			t.Run(c.name+"/"+name, func(t *testing.T) {
				how := byCommand
				outside := t.TempDir()
				how.Home, how.Project = filepath.Join(outside, "home"), t.TempDir()
				config := c.path(how)
				victim := filepath.Join(outside, "settings", filepath.Base(config))
				write(t, victim, []byte(secret))
				write(t, config, []byte(theirs))
				if err := plant(config, victim); err != nil {
					t.Fatal(err)
				}
				_, err := Install(c.name, how)
				if got, readErr := os.ReadFile(victim); readErr != nil || string(got) != secret {
					t.Errorf("the user's file was changed to %q (%v)", got, readErr)
				}
				if entries, _ := os.ReadDir(filepath.Dir(victim)); len(entries) != 1 {
					t.Errorf("there are new files next to it: %v", entries)
				}
				// With a hard link, the project had the user's file before.
				kept, readErr := os.ReadFile(config + ".cordon-backup")
				if readErr == nil && !isSame(victim, config+".cordon-backup") && bytes.Contains(kept, []byte("token")) && name != "configuration is a hard link" {
					t.Errorf("the user's file was copied into the project (%v)", err)
				}
			})
		}
	}
}

// isSame reports whether two paths are the same file: then the planted link is still there,
// and nothing was written.
func isSame(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

func replaceBy(path string, f func() error) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return f()
}
