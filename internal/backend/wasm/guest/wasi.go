package guest

import (
	"cmp"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental/sysfs"
	"github.com/tetratelabs/wazero/sys"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/rootfs"
	"github.com/cordon-sandbox/cordon/internal/output"
	"github.com/cordon-sandbox/cordon/run"
)

// defaultName is the name of a module if the request has none.
const defaultName = "module"

// World returns the WASI configuration of every guest.
func (g *Guest) World() wazero.ModuleConfig {
	return wazero.NewModuleConfig().WithName("").WithStartFunctions().
		WithStdin(input{g}).WithStdout(writer{g, &g.stdout}).WithStderr(writer{g, &g.stderr}).
		WithRandSource(randomPieces{g}).
		WithWalltime(g.clock.wall, sys.ClockResolution(time.Microsecond)).
		WithNanotime(g.clock.nanoseconds, sys.ClockResolution(time.Microsecond)).
		WithNanosleep(g.clock.sleeping(g)).WithOsyield(func() {})
}

// Program adds the arguments, environment and files of a program.
func (g *Guest) Program(job backend.Job, files *rootfs.Set) wazero.ModuleConfig {
	world := g.World().WithArgs(append([]string{cmp.Or(job.Module.Name, defaultName)}, job.Module.Args...)...)
	for _, variable := range slices.Sorted(maps.Keys(job.Module.Env)) {
		world = world.WithEnv(variable, job.Module.Env[variable])
	}
	mounts := files.Mounts()
	if len(mounts) == 0 {
		return world
	}
	// Without PWD, programs in Go would start in the first mount.
	if _, said := job.Module.Env["PWD"]; !said {
		world = world.WithEnv("PWD", "/")
	}
	fs := wazero.NewFSConfig()
	for _, m := range mounts {
		fs = fs.(sysfs.FSConfig).WithSysFSMount(g.errors.Watch(m.FS), m.Guest)
	}
	return world.WithFSConfig(fs)
}

// writer is a standard stream of the guest.
type writer struct {
	guest *Guest
	sink  *output.Sink
}

func (w writer) Write(data []byte) (int, error) {
	w.sink.Take(data)
	if w.guest.overflowing {
		w.guest.stop(run.OutOfOutput)
	}
	return len(data), nil
}

// input is the standard input of the current turn.
type input struct{ guest *Guest }

func (i input) Read(to []byte) (int, error) { return i.guest.stdin.Read(to) }

// reader is a standard input that may block. A read cannot be interrupted: if the guest ends
// in the meantime, the data is lost.
type reader struct {
	guest *Guest
	from  io.Reader
	came  chan arrival
	rest  []byte
	err   error
}

type arrival struct {
	data []byte
	err  error
}

// readAtOnce is how much of the input is read at a time.
const readAtOnce = 32 << 10

func (r *reader) Read(to []byte) (int, error) {
	if len(r.rest) == 0 && r.err == nil && len(to) > 0 {
		r.came = make(chan arrival, 1)
		go func(came chan<- arrival, data []byte) {
			n, err := r.from.Read(data)
			came <- arrival{data[:n], err}
		}(r.came, make([]byte, min(len(to), readAtOnce)))
		got := wait(r.guest, r.came)
		r.rest, r.err = got.data, got.err
	}
	n := copy(to, r.rest)
	r.rest = r.rest[n:]
	if n > 0 {
		return n, nil
	}
	return 0, r.err
}

// randomPieces returns randomness in pieces and checks the limits between them.
type randomPieces struct{ guest *Guest }

const pieceSize = 256 << 10

func (p randomPieces) Read(to []byte) (int, error) {
	if len(to) > pieceSize {
		to = to[:pieceSize]
		p.guest.check(p.guest.granted)
	}
	return p.guest.random.Read(to)
}

// clock is the host's or a fixed one. A fixed clock advances while the guest sleeps, and by a
// microsecond at each read, so that a loop that waits for time to pass ends.
type clock struct {
	fixed bool
	now   time.Duration
}

// epoch is the start of a fixed clock.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// began is the zero of the guests' monotonic clock, which must not reveal the host's uptime.
var began = time.Now()

// Epoch returns the start of a fixed clock.
func Epoch() time.Time { return epoch }

func (c *clock) nanoseconds() int64 {
	if !c.fixed {
		return int64(time.Since(began))
	}
	c.now += time.Microsecond
	return int64(c.now)
}

func (c *clock) wall() (seconds int64, nanoseconds int32) {
	now := time.Now()
	if c.fixed {
		now = epoch.Add(time.Duration(c.nanoseconds()))
	}
	return now.Unix(), int32(now.Nanosecond())
}

func (c *clock) sleeping(g *Guest) sys.Nanosleep {
	return func(nanoseconds int64) {
		if !c.fixed {
			g.sleep(time.Duration(nanoseconds))
			return
		}
		c.now += time.Duration(max(0, nanoseconds))
	}
}
