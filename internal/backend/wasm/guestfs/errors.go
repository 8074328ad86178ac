package guestfs

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/sys"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
	wazerosys "github.com/tetratelabs/wazero/sys"
)

// wasiIO is the number that wazero returns to a guest for each error that it does not know.
const wasiIO = 29

// Errors records, for one guest, the error of the current call if wazero does not have it. The
// zero value is ready to use.
type Errors struct{ last sys.Errno }

// note records the error of a file or directory and returns it.
func (e *Errors) note(errno sys.Errno) sys.Errno {
	if errno > beyond {
		e.last = errno
	}
	return errno
}

type errorsKey struct{}

// WithErrors returns a context for calls of a guest.
func WithErrors(ctx context.Context, e *Errors) context.Context {
	return context.WithValue(ctx, errorsKey{}, e)
}

// InstantiateWASI adds wazero's WASI to a runtime. Errors of mounts from Watch keep their own
// numbers.
func InstantiateWASI(ctx context.Context, r wazero.Runtime) error {
	theirs, err := wasi_snapshot_preview1.NewBuilder(r).Compile(ctx)
	if err != nil {
		return err
	}
	ours := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	for name, definition := range theirs.ExportedFunctions() {
		f, known := definition.GoFunction().(api.GoModuleFunction)
		if !known {
			return fmt.Errorf("wazero's %s is not a function that can be called", name)
		}
		if len(definition.ResultTypes()) > 0 {
			f = telling(f)
		}
		ours.NewFunctionBuilder().WithGoModuleFunction(f, definition.ParamTypes(), definition.ResultTypes()).Export(name)
	}
	if _, err := ours.Instantiate(ctx); err != nil {
		return err
	}
	return theirs.Close(ctx)
}

func telling(f api.GoModuleFunction) api.GoModuleFunction {
	return api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
		e, watched := ctx.Value(errorsKey{}).(*Errors)
		if watched {
			e.last = 0
		}
		f.Call(ctx, m, stack)
		if watched && e.last != 0 && stack[0] == wasiIO {
			stack[0] = uint64(e.last - beyond)
		}
	})
}

// Watch returns a mount whose errors are recorded.
func (e *Errors) Watch(mount sys.FS) sys.FS { return &watched{mount, e} }

type watched struct {
	sys.FS
	errors *Errors
}

// OpenFile implements sys.FS.
func (w *watched) OpenFile(path string, flag sys.Oflag, perm fs.FileMode) (sys.File, sys.Errno) {
	f, errno := w.FS.OpenFile(path, flag, perm)
	if errno != 0 {
		return nil, w.errors.note(errno)
	}
	return &watchedFile{f, w.errors}, 0
}

// Lstat implements sys.FS.
func (w *watched) Lstat(path string) (wazerosys.Stat_t, sys.Errno) {
	st, errno := w.FS.Lstat(path)
	return st, w.errors.note(errno)
}

// Stat implements sys.FS.
func (w *watched) Stat(path string) (wazerosys.Stat_t, sys.Errno) {
	st, errno := w.FS.Stat(path)
	return st, w.errors.note(errno)
}

// Mkdir implements sys.FS.
func (w *watched) Mkdir(path string, perm fs.FileMode) sys.Errno {
	return w.errors.note(w.FS.Mkdir(path, perm))
}

// Rename implements sys.FS.
func (w *watched) Rename(from, to string) sys.Errno { return w.errors.note(w.FS.Rename(from, to)) }

// Rmdir implements sys.FS.
func (w *watched) Rmdir(path string) sys.Errno { return w.errors.note(w.FS.Rmdir(path)) }

// Unlink implements sys.FS.
func (w *watched) Unlink(path string) sys.Errno { return w.errors.note(w.FS.Unlink(path)) }

// Link implements sys.FS.
func (w *watched) Link(from, to string) sys.Errno { return w.errors.note(w.FS.Link(from, to)) }

// Symlink implements sys.FS.
func (w *watched) Symlink(text, path string) sys.Errno {
	return w.errors.note(w.FS.Symlink(text, path))
}

// Readlink implements sys.FS.
func (w *watched) Readlink(path string) (string, sys.Errno) {
	text, errno := w.FS.Readlink(path)
	return text, w.errors.note(errno)
}

// Utimens implements sys.FS.
func (w *watched) Utimens(path string, accessed, modified int64) sys.Errno {
	return w.errors.note(w.FS.Utimens(path, accessed, modified))
}

type watchedFile struct {
	sys.File
	errors *Errors
}

// Write implements sys.File.
func (f *watchedFile) Write(buf []byte) (int, sys.Errno) {
	n, errno := f.File.Write(buf)
	return n, f.errors.note(errno)
}

// Pwrite implements sys.File.
func (f *watchedFile) Pwrite(buf []byte, off int64) (int, sys.Errno) {
	n, errno := f.File.Pwrite(buf, off)
	return n, f.errors.note(errno)
}

// Truncate implements sys.File.
func (f *watchedFile) Truncate(size int64) sys.Errno { return f.errors.note(f.File.Truncate(size)) }

// Sync implements sys.File.
func (f *watchedFile) Sync() sys.Errno { return f.errors.note(f.File.Sync()) }

// Datasync implements sys.File.
func (f *watchedFile) Datasync() sys.Errno { return f.errors.note(f.File.Datasync()) }

// Utimens implements sys.File.
func (f *watchedFile) Utimens(accessed, modified int64) sys.Errno {
	return f.errors.note(f.File.Utimens(accessed, modified))
}

// Close implements sys.File.
func (f *watchedFile) Close() sys.Errno { return f.errors.note(f.File.Close()) }
