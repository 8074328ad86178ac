package portable

import (
	_ "embed"

	"github.com/cordon-sandbox/cordon/internal/language"
	"github.com/cordon-sandbox/cordon/internal/script"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

//go:embed python/guest.py
var guestPart string

// loader is the program that the interpreter is started with. It reads the rest from
// standard input: a command line on Windows is too short for it.
const loader = `import sys
system = __import__("nt" if sys.platform == "win32" else "posix")
def take(size):
    data = bytearray()
    while len(data) < size:
        more = system.read(0, min(size - len(data), 1 << 20))
        if not more:
            system._exit(0)
        data += more
    return bytes(data)
exec(compile(take(int.from_bytes(take(5)[1:], "little")), "<cordon>", "exec"))
`

// arguments starts the interpreter isolated from the user's settings, without site, which
// executes files, and without writing bytecode. The name of the channel follows.
func arguments(python string) []string {
	return []string{python, "-I", "-S", "-B", "-X", "utf8", "-c", loader}
}

// preparation is what every guest reads first: the program, and how to prepare the
// interpreter. With ahead, all modules that the rules allow are imported before the guest
// arrives.
func (b *Scripts) preparation(preset policy.LanguagePreset, ahead bool, limits policy.Limits) ([]byte, error) {
	p := b.options.Policy
	var rules any
	preload, path := p.Preload, b.python.SysPath
	if preset != "" {
		allowed := p.Allowed(preset)
		rules = []any{allowed.Modules, allowed.Builtins, language.Source(), ahead}
		preload = append(append([]string{}, preload...), p.Language.Modules...)
		path = b.python.TrustedPath() // the rules trust what is imported ahead
	}
	memory := 0
	if b.options.AddressSpace {
		memory = int(limits.Memory)
	}
	opening := wire.AppendFrame(nil, wire.KindProgram, []byte(script.Source()+script.Hooks()+guestPart))
	opening, err := wire.AppendListFrame(opening, wire.KindOrder,
		wire.Field{Name: "path", Value: path},
		wire.Field{Name: "preload", Value: preload},
		wire.Field{Name: "language", Value: rules},
		wire.Field{Name: "filter", Value: b.options.Filter},
		wire.Field{Name: "memory", Value: memory})
	if err != nil {
		return nil, run.Errorf(run.Internal, "%w", err)
	}
	return opening, nil
}

// encodeScript returns what an interpreter reads after the preparation, and before the guest's
// own input.
func encodeScript(message byte, g guestScript, limits policy.Limits) ([]byte, error) {
	request, err := wire.AppendListFrame(nil, message,
		wire.Field{Name: "script", Value: g.script},
		wire.Field{Name: "name", Value: g.name},
		wire.Field{Name: "context", Value: g.context},
		wire.Field{Name: "variables", Value: g.variables},
		wire.Field{Name: "args", Value: g.args},
		wire.Field{Name: "work", Value: g.work},
		wire.Field{Name: "most", Value: wire.MaxReport(limits)})
	if err != nil {
		return nil, run.Errorf(run.Invalid, "%w", err)
	}
	return request, nil
}

// guestScript is what one interpreter runs or checks.
type guestScript struct {
	script, name string
	context      any
	variables    []string
	args         []string
	work         string                // its /work, empty for none
	rules        policy.LanguagePreset // empty for a script without language rules
}
