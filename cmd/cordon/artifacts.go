package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cordon-sandbox/cordon/internal/filenames"
	"github.com/cordon-sandbox/cordon/internal/hostpath"
	"github.com/cordon-sandbox/cordon/internal/newfile"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// artifactDir is the directory of --artifacts. The guest chooses the names of the files in it,
// so no link there is followed out of it. A nil artifactDir saves nothing.
type artifactDir struct {
	name string
	root *os.Root
}

// openArtifacts opens the directory, and makes it if it is missing. If files cannot be saved
// there, it fails before anything runs.
func openArtifacts(name string) (*artifactDir, error) {
	root, err := openWritable(name)
	if err != nil {
		return nil, run.Errorf(run.Invalid, "--artifacts: nothing can be saved in %s: %w", name, systemError(err))
	}
	return &artifactDir{name, root}, nil
}

func openWritable(name string) (*os.Root, error) {
	if isHome(name) {
		return nil, errors.New("it is a home directory, and the script would choose names such as .profile: name a directory in it")
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	probe, err := newfile.CreateIn(root, "probe", 0o600)
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	probe.Discard()
	return root, nil
}

func isHome(directory string) bool {
	real, err := filepath.EvalSymlinks(directory)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	return err == nil && hostpath.IsHome(filepath.ToSlash(real), hostpath.Homes())
}

// systemError returns the reason of an error without its paths, which can be those of temporary
// files.
func systemError(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	for errors.As(err, &path) {
		err = path.Err
	}
	if errors.As(err, &link) {
		err = link.Err
	}
	return err
}

// savedArtifacts says which artifacts were saved.
type savedArtifacts struct {
	directory   string
	saved, lost []notice
	size        policy.Bytes // of all that were saved
	err         error        // if the host could not save some
}

// save saves the artifacts of a Result.
func (d *artifactDir) save(res run.Result) (s savedArtifacts) {
	if d == nil {
		return s
	}
	s.directory = d.name
	if res.ArtifactsError != "" {
		s.lost = append(s.lost, warningf("not saved", "%s", res.ArtifactsError))
	}
	failed := 0
	for _, a := range res.Artifacts {
		why := a.Error
		if why == "" {
			if err := d.write(a); err != nil {
				failed++
				why = systemError(err).Error()
			}
		}
		if why != "" {
			s.lost = append(s.lost, warningf("not saved", "%s: %s", a.Name, why))
			continue
		}
		s.saved = append(s.saved, infof("saved", "%s (%s)", filepath.Join(d.name, a.Name), a.Size.Rounded()))
		s.size += a.Size
	}
	if n := res.ArtifactsOmitted; n > 0 {
		s.lost = append(s.lost, warningf("not saved", "%s above the maximum of %d: choose with --artifact", countOf(n, "file"), filenames.MaxFiles))
	}
	if failed > 0 {
		s.err = run.Errorf(run.Internal, "%s could not be saved in %s", countOf(failed, "file"), d.name)
	}
	return s
}

func (d *artifactDir) write(a run.Artifact) error {
	name, err := filepath.Localize(a.Name)
	if err != nil {
		return errors.New("this system allows no such name")
	}
	if err := d.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return newfile.WriteIn(d.root, name, a.Data, 0o644)
}

// show shows what was saved, unless nobody wants to read that, and always what was lost.
func (s savedArtifacts) show(stderr *tap, how presentation) error {
	const most = 10 // lines: a guest can make any number of files
	var shown []notice
	switch {
	case how.json || how.quiet:
	case len(s.saved) > most:
		shown = append(shown, infof("saved", "%s in %s (%s)", countOf(len(s.saved), "file"), s.directory, s.size.Rounded()))
	default:
		shown = s.saved
	}
	if more := len(s.lost) - most; more > 0 {
		s.lost = append(s.lost[:most:most], warningf("not saved", "and %d more", more))
	}
	return showNotices(stderr, append(shown, s.lost...), how)
}
