// Package workdir is the host's side of /work, the directory through which files go into a
// script or session and come out of it.
//
//	d := workdir.New(workdir.OnHost(root, owner))
//	info, err := d.Write("data/sales.csv", reader)
//	list, err := d.List()
//	f, info, err := d.Open("plot.png")
//	err = d.Give(script, most)
//	d.Collect(script, most, &result)
//
// The guest can change everything in the directory at any time: a name may have become a link,
// a pipe or a directory since it was listed. So every path is resolved inside the directory
// (os.Root), only regular files are opened, no call waits for the guest, and what is read is
// bounded by more than the size that the file claims.
package workdir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/cordon-sandbox/cordon/internal/filenames"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// MaxListed is the most names that are looked at: a guest can make as many as fit.
const MaxListed = 10_000

var _ run.Files = (*Dir)(nil)

// Tree holds the files. Its names are relative paths without dots, which filenames.Check accepts.
// No name leads out of it. The guest may change it at any time.
type Tree interface {
	// Lstat describes what has a name. A link at its end is not followed.
	Lstat(name string) (fs.FileInfo, error)
	// Open opens what has a name, and never waits.
	Open(name string) (File, error)
	// Entries describes at most so many names in a directory.
	Entries(name string, most int) ([]fs.FileInfo, error)
	// Create begins a file that will have a name, in a directory that is made if it is missing.
	Create(name string) (NewFile, error)
	// Remove removes what has a name, with everything in it.
	Remove(name string) error
	// Close ends the use of the tree. Files that are open stay readable.
	Close() error
}

// File is an open file.
type File interface {
	io.ReadSeekCloser
	Stat() (fs.FileInfo, error)
}

// NewFile is a file that has no name before Commit.
type NewFile interface {
	io.Writer
	Stat() (fs.FileInfo, error)
	// Commit gives it its name. Otherwise Discard frees it.
	Commit() error
	Discard()
}

// Dir is one /work.
type Dir struct {
	tree  Tree
	given map[string]string // the hashes of what the last script got, by name
}

// New returns the directory that a tree is. The Dir closes the tree.
func New(tree Tree) *Dir { return &Dir{tree: tree} }

// Close releases the directory. Files that are open stay readable. A nil Dir has nothing to
// release.
func (d *Dir) Close() error {
	if d == nil {
		return nil
	}
	return d.tree.Close()
}

// Write stores a file. It appears under its name when it is complete.
func (d *Dir) Write(name string, from io.Reader) (info run.FileInfo, err error) {
	if err := filenames.Check(name); err != nil {
		return info, run.Wrap(run.Invalid, err)
	}
	f, err := d.tree.Create(name)
	if err != nil {
		return info, explain(name, err)
	}
	_, err = io.Copy(f, from)
	if err == nil {
		var stat fs.FileInfo
		if stat, err = f.Stat(); err == nil {
			info = describe(name, stat)
			err = f.Commit()
		}
	}
	if err != nil {
		f.Discard()
		return run.FileInfo{}, explain(name, err)
	}
	return info, nil
}

// Open opens a file for reading.
func (d *Dir) Open(name string) (io.ReadSeekCloser, run.FileInfo, error) {
	if err := filenames.Check(name); err != nil {
		return nil, run.FileInfo{}, run.Wrap(run.Invalid, err)
	}
	f, info, err := d.open(name)
	if err != nil {
		return nil, info, explain(name, err)
	}
	return f, info, nil
}

func (d *Dir) open(name string) (File, run.FileInfo, error) {
	if err := d.refuseOthers(name); err != nil {
		return nil, run.FileInfo{}, err
	}
	return d.openRegular(name)
}

// openRegular opens what has the name by now, if it is a file.
func (d *Dir) openRegular(name string) (File, run.FileInfo, error) {
	f, err := d.tree.Open(name)
	if err != nil {
		return nil, run.FileInfo{}, err
	}
	stat, err := f.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = errNoFile // it was replaced meanwhile
	}
	if err != nil {
		f.Close()
		return nil, run.FileInfo{}, err
	}
	return f, describe(name, stat), nil
}

var (
	errNoFile    = errors.New("it is not a file")
	errDirectory = errors.New("it is a directory: name a file in it")
	errLink      = errors.New("it is a symbolic link: name the file itself")
	errSpecial   = errors.New("it is a pipe, a socket or a device, and not a file")
)

// refuseOthers returns an error for a name that is not a file.
func (d *Dir) refuseOthers(name string) error {
	stat, err := d.tree.Lstat(name)
	switch {
	case err != nil:
		return err
	case stat.IsDir():
		return errDirectory
	case stat.Mode()&fs.ModeSymlink != 0:
		return errLink
	case !stat.Mode().IsRegular():
		return errSpecial
	}
	return nil
}

// Remove removes a file, or a directory with all that is in it.
func (d *Dir) Remove(name string) error {
	if err := filenames.Check(name); err != nil {
		return run.Wrap(run.Invalid, err)
	}
	if _, err := d.tree.Lstat(name); err != nil {
		return explain(name, err)
	}
	return explain(name, d.tree.Remove(name))
}

// List lists everything that is not a directory, by name. It leaves out names that nobody could
// ask for, such as those with control characters. With more than MaxListed names, the list is
// incomplete, and there is an error of class run.Invalid.
func (d *Dir) List() ([]run.FileInfo, error) {
	list, _, err := d.list()
	return list, err
}

// list also counts the names that nobody could ask for.
func (d *Dir) list() (list []run.FileInfo, unfit int, err error) {
	seen := 0
	waiting := []string{"."}
	for len(waiting) > 0 {
		directory := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		entries, err := d.tree.Entries(directory, MaxListed-seen+1)
		if err != nil && directory == "." {
			return nil, 0, explain("/work", err)
		}
		// The guest may have removed any other directory, or taken away the right to read it.
		for _, entry := range entries {
			if seen++; seen > MaxListed {
				sortByName(list)
				return list, unfit, run.Errorf(run.Invalid, "/work has more than %d files and directories: the rest cannot be listed", MaxListed)
			}
			name := path.Join(directory, entry.Name())
			switch {
			case filenames.Check(name) != nil:
				unfit++
			case entry.IsDir():
				waiting = append(waiting, name)
			default:
				list = append(list, describe(name, entry))
			}
		}
	}
	sortByName(list)
	return list, unfit, nil
}

func sortByName(list []run.FileInfo) {
	slices.SortFunc(list, func(a, b run.FileInfo) int { return strings.Compare(a.Name, b.Name) })
}

func describe(name string, stat fs.FileInfo) run.FileInfo {
	info := run.FileInfo{Name: name, Size: policy.Bytes(stat.Size()), Type: typeOf(name), Modified: stat.ModTime().UTC()}
	if year := info.Modified.Year(); year < 1 || year > 9999 {
		info.Modified = time.Time{} // the guest can set any time, and JSON has no others
	}
	switch {
	case stat.Mode()&fs.ModeSymlink != 0:
		info.Kind = run.FileLink
	case !stat.Mode().IsRegular():
		info.Kind = run.FileSpecial
	}
	return info
}

// explain words an error of the host's file system for the caller, who knows /work only.
func explain(name string, err error) error {
	if err == nil {
		return nil
	}
	class, why := cause(err)
	if class == "" {
		return fmt.Errorf("%s: %w", name, why)
	}
	return run.Errorf(class, "%s: %w", name, why)
}

var (
	errMissing = errors.New("there is no such file in /work")
	errFull    = errors.New("there is no room left in /work: remove files, or ask for a larger limits.scratch")
	errClosed  = errors.New("the session is closed")
)

// cause returns the class of an error and its words without the name, which the caller knows. It
// has no class if it is not about the file.
func cause(err error) (run.Class, error) {
	var inner *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return run.Unknown, errMissing
	case errors.Is(err, syscall.ENOSPC):
		return run.Invalid, errFull
	case errors.Is(err, os.ErrClosed):
		return run.Gone, errClosed
	case slices.Contains([]error{errNoFile, errDirectory, errLink, errSpecial}, err):
		return run.Invalid, err
	// What the guest has at this name does not allow it: a directory instead of a file, a link
	// that leads out, a right that is missing. The path can be that of a temporary file.
	case errors.As(err, &inner):
		return run.Invalid, inner.Err
	case errors.As(err, &link):
		return run.Invalid, link.Err
	}
	return "", err
}
