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

// wasiIO is EIO in WASI, which wazero returns to a guest for each error that it does not
// know.
const wasiIO = 29

// Errors records the error of a guest's current call if wazero does not know that error. The
// zero value is ready to use.
type Errors struct{ last sys.Errno }

// record records the error of a file or directory and returns it.
func (e *Errors) record(errno sys.Errno) sys.Errno {
	if errno > wasiOffset {
		e.last = errno
	}
	return errno
}

type errorsKey struct{}

// WithErrors returns a context for the calls of a guest whose errors e records.
func WithErrors(ctx context.Context, e *Errors) context.Context {
	return context.WithValue(ctx, errorsKey{}, e)
}

// InstantiateWASI adds wazero's WASI to a runtime. The guest gets the errors of mounts from
// Watch with their own numbers, also those that wazero does not know.
func InstantiateWASI(ctx context.Context, r wazero.Runtime) error {
	original, err := wasi_snapshot_preview1.NewBuilder(r).Compile(ctx)
	if err != nil {
		return err
	}
	builder := r.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	for name, definition := range original.ExportedFunctions() {
		f, callable := definition.GoFunction().(api.GoModuleFunction)
		if !callable {
			return fmt.Errorf("wazero's %s is not a function that can be called", name)
		}
		if len(definition.ResultTypes()) > 0 {
			f = restoreErrno(f)
		}
		builder.NewFunctionBuilder().WithGoModuleFunction(f, definition.ParamTypes(), definition.ResultTypes()).Export(name)
	}
	if _, err := builder.Instantiate(ctx); err != nil {
		return err
	}
	return original.Close(ctx)
}

// restoreErrno returns f with the recorded error as its result, where f returns wasiIO.
func restoreErrno(f api.GoModuleFunction) api.GoModuleFunction {
	return api.GoModuleFunc(func(ctx context.Context, m api.Module, stack []uint64) {
		e, watched := ctx.Value(errorsKey{}).(*Errors)
		if watched {
			e.last = 0
		}
		f.Call(ctx, m, stack)
		if watched && e.last != 0 && stack[0] == wasiIO {
			stack[0] = uint64(e.last - wasiOffset)
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
		return nil, w.errors.record(errno)
	}
	return &watchedFile{f, w.errors}, 0
}

// Lstat implements sys.FS.
func (w *watched) Lstat(path string) (wazerosys.Stat_t, sys.Errno) {
	st, errno := w.FS.Lstat(path)
	return st, w.errors.record(errno)
}

// Stat implements sys.FS.
func (w *watched) Stat(path string) (wazerosys.Stat_t, sys.Errno) {
	st, errno := w.FS.Stat(path)
	return st, w.errors.record(errno)
}

// Mkdir implements sys.FS.
func (w *watched) Mkdir(path string, perm fs.FileMode) sys.Errno {
	return w.errors.record(w.FS.Mkdir(path, perm))
}

// Rename implements sys.FS.
func (w *watched) Rename(from, to string) sys.Errno { return w.errors.record(w.FS.Rename(from, to)) }

// Rmdir implements sys.FS.
func (w *watched) Rmdir(path string) sys.Errno { return w.errors.record(w.FS.Rmdir(path)) }

// Unlink implements sys.FS.
func (w *watched) Unlink(path string) sys.Errno { return w.errors.record(w.FS.Unlink(path)) }

// Link implements sys.FS.
func (w *watched) Link(from, to string) sys.Errno { return w.errors.record(w.FS.Link(from, to)) }

// Symlink implements sys.FS.
func (w *watched) Symlink(text, path string) sys.Errno {
	return w.errors.record(w.FS.Symlink(text, path))
}

// Readlink implements sys.FS.
func (w *watched) Readlink(path string) (string, sys.Errno) {
	text, errno := w.FS.Readlink(path)
	return text, w.errors.record(errno)
}

// Utimens implements sys.FS.
func (w *watched) Utimens(path string, accessed, modified int64) sys.Errno {
	return w.errors.record(w.FS.Utimens(path, accessed, modified))
}

type watchedFile struct {
	sys.File
	errors *Errors
}

// Write implements sys.File.
func (f *watchedFile) Write(buf []byte) (int, sys.Errno) {
	n, errno := f.File.Write(buf)
	return n, f.errors.record(errno)
}

// Pwrite implements sys.File.
func (f *watchedFile) Pwrite(buf []byte, off int64) (int, sys.Errno) {
	n, errno := f.File.Pwrite(buf, off)
	return n, f.errors.record(errno)
}

// Truncate implements sys.File.
func (f *watchedFile) Truncate(size int64) sys.Errno { return f.errors.record(f.File.Truncate(size)) }

// Sync implements sys.File.
func (f *watchedFile) Sync() sys.Errno { return f.errors.record(f.File.Sync()) }

// Datasync implements sys.File.
func (f *watchedFile) Datasync() sys.Errno { return f.errors.record(f.File.Datasync()) }

// Utimens implements sys.File.
func (f *watchedFile) Utimens(accessed, modified int64) sys.Errno {
	return f.errors.record(f.File.Utimens(accessed, modified))
}

// Close implements sys.File.
func (f *watchedFile) Close() sys.Errno { return f.errors.record(f.File.Close()) }
