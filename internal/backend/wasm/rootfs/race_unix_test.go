//go:build unix

package rootfs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero/experimental/sys"
)

// flips exchanges two names repeatedly until stop is called, which restores them.
func flips(t *testing.T, dir, name, other string) (stop func()) {
	t.Helper()
	name, other = filepath.Join(dir, name), filepath.Join(dir, other)
	var over sync.WaitGroup
	end := make(chan struct{})
	over.Go(func() {
		for round := 0; ; round++ {
			for _, move := range [][2]string{{name, name + ".aside"}, {other, name}, {name + ".aside", other}} {
				if err := os.Rename(move[0], move[1]); err != nil {
					t.Error(err)
					return
				}
			}
			select {
			case <-end:
				if round%2 == 1 {
					return
				}
			default:
			}
		}
	})
	return func() { close(end); over.Wait() }
}

// hammered is the minimum number of rounds. On a busy machine a test continues until it has
// seen both outcomes of the race, up to a maximum.
const hammered = 3000

func goesOn(round int, seen ...int) bool {
	return round < hammered || round < 100*hammered && slices.Contains(seen, 0)
}

// A program of the host replaces a directory by a link that leads out while the guest uses it.
// Code that checks a path and then uses it would lose this race.
func TestHammerADirectoryBecomesALink(t *testing.T) {
	w := newWorld(t, true, generous)
	mkdir(t, filepath.Join(w.granted, "flip"))
	fill(t, filepath.Join(w.granted, "flip", "secret"), "inside")
	if err := os.Symlink("../outside", filepath.Join(w.granted, "evil")); err != nil {
		t.Fatal(err)
	}
	stop := flips(t, w.granted, "flip", "evil")
	inside, refused := 0, 0
	for i := 0; goesOn(i, inside, refused); i++ {
		switch text, errno := w.reads("flip/secret"); {
		case text == "secret":
			t.Fatal("read what is outside")
		case text == "inside":
			inside++
		case errno == sys.EPERM:
			refused++
		}
		switch i % 8 { // each would have an effect outside
		case 0:
			if f, errno := w.fs.OpenFile("flip/secret", sys.O_RDWR|sys.O_CREAT|sys.O_TRUNC, 0o600); errno == 0 {
				_, _ = f.Write([]byte("inside"))
				f.Close()
			}
		case 1:
			ignoreErrno(w.fs.Mkdir("flip/new", 0o700))
		case 2:
			ignoreErrno(w.fs.Rmdir("flip/new"))
			ignoreErrno(w.fs.Rmdir("flip/directory"))
		case 3:
			ignoreErrno(w.fs.Rename("in.txt", "flip/moved"))
			ignoreErrno(w.fs.Rename("flip/moved", "in.txt"))
		case 4:
			ignoreErrno(w.fs.Utimens("flip/secret", 1, 1))
			ignoreErrno(w.fs.Chmod("flip/secret", 0o644))
		case 5:
			ignoreErrno(w.fs.Symlink("x", "flip/symlink"))
			ignoreErrno(w.fs.Unlink("flip/symlink"))
		case 6:
			ignoreErrno(w.fs.Link("in.txt", "flip/link"))
			ignoreErrno(w.fs.Unlink("flip/link"))
		case 7:
			if st, errno := w.fs.Stat("flip/secret"); errno == 0 && st.Size > int64(len("inside")) {
				t.Error("saw what is outside")
			}
			ignoreErrno(w.fs.Link("flip/secret", "stolen"))
			if text, _ := w.reads("stolen"); text == "secret" {
				t.Fatal("linked what is outside")
			}
			ignoreErrno(w.fs.Unlink("stolen"))
		}
	}
	stop()
	w.untouched()
	if inside == 0 || refused == 0 {
		t.Errorf("%d times inside, %d times refused: there was no race", inside, refused)
	}
}

// The same at the end of the path: with a link that leads out, with one that stays inside but
// must not be followed, and at a single granted file.
func TestHammerAFileBecomesALink(t *testing.T) {
	for _, c := range []struct {
		name, target string
		grant        string
		flag         sys.Oflag
	}{
		{"that leads out", "../outside/secret", "", sys.O_RDWR},
		{"that is not to be followed", "near", "", sys.O_RDWR | sys.O_NOFOLLOW},
		{"that is not to be made through", "near", "", sys.O_RDWR | sys.O_NOFOLLOW | sys.O_CREAT},
		{"beside a file alone", "near", "/flip", sys.O_RDWR},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, true, generous)
			fill(t, filepath.Join(w.granted, "flip"), "inside")
			fill(t, filepath.Join(w.granted, "near"), "secret")
			if err := os.Symlink(c.target, filepath.Join(w.granted, "evil")); err != nil {
				t.Fatal(err)
			}
			w.open([]Grant{{Host: w.granted + c.grant, Guest: "/data" + c.grant, Write: true}}, generous)
			stop := flips(t, w.granted, "flip", "evil")
			inside, refused := 0, 0
			for i := 0; goesOn(i, inside, refused); i++ {
				f, errno := w.fs.OpenFile("flip", c.flag, 0o600)
				if errno != 0 {
					refused++
					continue
				}
				buf := make([]byte, 10)
				n, _ := f.Read(buf)
				if text := string(buf[:n]); strings.HasPrefix(text, "secret") {
					t.Error("read behind the link")
				} else if text == "inside" {
					inside++
				}
				f.Close()
			}
			stop()
			if inside == 0 || refused == 0 {
				t.Errorf("%d times inside, %d times refused: there was no race", inside, refused)
			}
		})
	}
}

// A file becomes a FIFO: the open must neither block nor succeed.
func TestHammerAFileBecomesAFIFO(t *testing.T) {
	w := newWorld(t, true, generous)
	fill(t, filepath.Join(w.granted, "flip"), "inside")
	mkfifo(t, filepath.Join(w.granted, "fifo"))
	stop := flips(t, w.granted, "flip", "fifo")
	defer stop()
	for range hammered {
		if f, errno := w.fs.OpenFile("flip", sys.O_RDONLY, 0); errno == 0 {
			if st, errno := f.Stat(); errno == 0 && !st.Mode.IsRegular() {
				t.Fatal("opened a FIFO")
			}
			f.Close()
		}
	}
}

// Close is called by the timer of a run while the guest reads and writes.
func TestHammerClose(t *testing.T) {
	for range 50 {
		w := newWorld(t, true, generous)
		var guest sync.WaitGroup
		begun := make(chan struct{})
		guest.Go(func() {
			var once sync.Once
			buf := make([]byte, 1<<16)
			for {
				f, errno := w.fs.OpenFile("in.txt", sys.O_RDWR, 0)
				once.Do(func() { close(begun) })
				if errno != 0 {
					check(t, "open", errno, sys.EBADF)
					return
				}
				for range 5 {
					_, _ = f.Read(buf)
					_, _ = f.Pwrite(buf, 0)
				}
				f.Close()
			}
		})
		<-begun
		if err := w.set.Close(); err != nil {
			t.Error(err)
		}
		guest.Wait()
	}
}
