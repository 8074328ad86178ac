package process

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/confine"
)

func TestUnreachable(t *testing.T) {
	host := map[string]owner{
		"/": {mode: os.ModeDir | 0o755}, "/usr": {mode: os.ModeDir | 0o755}, "/usr/bin": {mode: os.ModeDir | 0o755}, "/usr/bin/python3": {mode: 0o755},
		"/root": {mode: os.ModeDir | 0o700}, "/root/python": {mode: 0o755},
		"/srv": {mode: os.ModeDir | 0o755}, "/srv/private": {mode: os.ModeDir | 0o700}, "/srv/private/data": {mode: os.ModeDir | 0o755}, "/srv/private/data/file": {mode: 0o644},
		"/srv/ours": {uid: confine.Nobody, mode: os.ModeDir | 0o700}, "/srv/ours/data": {mode: os.ModeDir | 0o755},
		"/srv/group": {gid: confine.Nobody, mode: os.ModeDir | 0o750}, "/srv/group/data": {mode: os.ModeDir | 0o755},
		"/srv/closed": {mode: os.ModeDir | 0o744},
	}
	stat := func(path string) (owner, error) {
		if o, ok := host[path]; ok {
			return o, nil
		}
		return owner{}, fs.ErrNotExist
	}
	plan := confine.Plan{UID: confine.Nobody, GID: confine.Nobody}
	for _, test := range []struct {
		python  string
		granted []string
		want    []string
	}{
		{"/usr/bin/python3", nil, nil},
		{"/usr/bin/python3", []string{"/srv/ours/data", "/srv/group/data", "/usr", "/gone"}, nil},
		{"/root/python", []string{"/srv/private/data"}, []string{"the interpreter", "may not enter /root:", "--python"}},
		{"/usr/bin/python3", []string{"/usr", "/srv/private/data"}, []string{"may not enter /srv/private on the way to /srv/private/data", "chmod o+x /srv/private,"}},
		{"/usr/bin/python3", []string{"/srv/private/data/file"}, []string{"may not enter /srv/private on the way"}},
		{"/usr/bin/python3", []string{"/srv/closed"}, []string{"chmod o+x /srv/closed,"}},
	} {
		got := unreachable(test.python, test.granted, plan, stat)
		if (got == "") != (test.want == nil) {
			t.Errorf("%s with %v: %q", test.python, test.granted, got)
		}
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s with %v: %q does not say %q", test.python, test.granted, got, want)
			}
		}
	}
}
