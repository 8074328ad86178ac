package seatbelt

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/run"
)

// Policy is the access of a process. The zero value is only what every program needs to be
// loaded: the libraries of the system.
type Policy struct {
	// Program is executed first. Like all paths, it is absolute and without links.
	Program string
	// Execute lists further programs that it may execute in its place.
	Execute []string
	// Read lists readable files and directories, Write those that may also be changed.
	// The innermost one counts: a Read path inside a Write path cannot be changed.
	Read, Write []string
	// Programs allows starting every program that it may read. It is set for commands.
	Programs bool
	// Proxy is the port of this host that it may connect to; 0 for none.
	Proxy int
	// AnyNetwork allows the host's network without restriction.
	AnyNetwork bool
}

// Compile writes the profile.
func Compile(p Policy) (string, error) {
	if err := p.check(); err != nil {
		return "", err
	}
	w := &writer{}
	w.line("(version 1)")
	w.line("(deny default)")
	w.loading(p)
	w.files(p)
	w.processes(p)
	w.machine(p)
	w.network(p)
	return w.text.String(), nil
}

// check refuses text that Seatbelt might read differently than we do.
func (p Policy) check() error {
	if p.Program == "" {
		return run.Errorf(run.Invalid, "seatbelt: the program is missing")
	}
	for _, name := range slices.Concat([]string{p.Program}, p.Execute, p.Read, p.Write) {
		if err := checkPath(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Concat(p.Read, p.Write) {
		if name == "/" {
			return run.Errorf(run.Invalid, "seatbelt: / is everything, and cannot be granted: name directories")
		}
	}
	if p.Proxy < 0 || p.Proxy > 65535 {
		return run.Errorf(run.Invalid, "seatbelt: %d is not a port", p.Proxy)
	}
	return nil
}

// writer writes rules.
type writer struct{ text strings.Builder }

func (w *writer) line(text string) { w.text.WriteString(text + "\n") }

// rule allows or denies operations for any of the filters. Without a filter it writes no rule,
// because that would match everything.
func (w *writer) rule(action, operations string, filters ...string) {
	if len(filters) == 0 {
		return
	}
	w.line(fmt.Sprintf("(%s %s", action, operations))
	for i, filter := range filters {
		end := ""
		if i == len(filters)-1 {
			end = ")"
		}
		w.line("  " + filter + end)
	}
}

// whole allows operations without a condition. It is separate from rule, so that this is
// always explicit.
func (w *writer) whole(operations string) { w.line("(allow " + operations + ")") }

func (w *writer) comment(text string) { w.line("\n; " + text) }

// loading writes the rules that every program needs to be loaded.
func (w *writer) loading(p Policy) {
	w.comment("What every program needs to be loaded. Without / itself, dyld aborts.")
	w.rule("allow", "file-read* file-test-existence", each(literal, "/")...)
	known := slices.Concat(libraries, data, devices)
	if p.Programs {
		known = slices.Concat(known, programs, programFiles)
	}
	w.rule("allow", "file-read-metadata file-test-existence", each(literal, slices.Concat(links, ancestors(known))...)...)
	w.rule("allow", "file-read* file-test-existence file-map-executable", each(subpath, libraries...)...)
	w.rule("allow", "file-read* file-test-existence", each(subpath, data...)...)
	w.rule("allow", "file-read* file-test-existence", each(literal, devices...)...)
	w.rule("allow", "file-write-data", each(literal, "/dev/null")...)
	if p.Programs {
		w.rule("allow", "file-read* file-test-existence file-map-executable", each(subpath, programs...)...)
		w.rule("allow", "file-read* file-test-existence", each(literal, programFiles...)...)
	}
}

// grant is a path and the allowed access.
type grant struct {
	path  string
	write bool
}

// files writes the rules for granted paths, the outer ones first, so that the inner ones
// decide.
func (w *writer) files(p Policy) {
	var grants []grant
	for _, name := range p.Read {
		grants = append(grants, grant{name, false})
	}
	for _, name := range p.Write {
		grants = append(grants, grant{name, true})
	}
	// Of two grants for the same path, the wider one comes last.
	slices.SortStableFunc(grants, func(a, b grant) int {
		return cmp.Or(cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path))
	})
	grants = slices.Compact(grants)
	w.comment("What was granted, and the directories on the way there, without what is in them.")
	w.rule("allow", "file-read-metadata file-test-existence", each(literal, ancestors(append([]string{p.Program}, slices.Concat(p.Execute, p.Read, p.Write)...))...)...)
	for _, g := range grants {
		switch {
		case g.write && p.Programs:
			w.rule("allow", "file-read* file-test-existence file-map-executable file-write*", subpath(g.path))
		case g.write:
			// A script cannot load files that it wrote as code.
			w.rule("allow", "file-read* file-test-existence file-write*", subpath(g.path))
			w.rule("deny", "file-map-executable", subpath(g.path))
		default:
			w.rule("allow", "file-read* file-test-existence file-map-executable", subpath(g.path))
			if slices.ContainsFunc(p.Write, func(outer string) bool { return outer != g.path && under(g.path, outer) }) {
				w.rule("deny", "file-write*", subpath(g.path))
			}
		}
	}
	// A grant may include the directory of the program.
	w.rule("allow", "file-read* file-test-existence file-map-executable", each(literal, append([]string{p.Program}, p.Execute...)...)...)
}

// processes writes the rules for starting, signaling and inspecting processes.
func (w *writer) processes(p Policy) {
	if !p.Programs {
		w.comment("No other program, and no second process.")
		w.rule("allow", "process-exec*", each(literal, append([]string{p.Program}, p.Execute...)...)...)
		w.rule("allow", "signal process-info*", "(target self)")
		return
	}
	w.comment("Other programs, and scripts that name theirs, behind the same walls.")
	w.whole("process-fork")
	w.rule("allow", "process-exec*", slices.Concat(each(literal, append([]string{p.Program}, p.Execute...)...), each(subpath, programs...), each(subpath, p.Read...), each(subpath, p.Write...))...)
	w.rule("allow", "signal process-info*", "(target same-sandbox)")
	w.whole("ipc-posix-sem")
}

// machine writes the rules for information about the kernel and for services.
func (w *writer) machine(p Policy) {
	w.comment("What programs ask about the machine.")
	filters := make([]string, 0, len(sysctls)+len(sysctlPrefixes))
	for _, name := range sysctls {
		filters = append(filters, fmt.Sprintf("(sysctl-name %s)", quote(name)))
	}
	for _, name := range sysctlPrefixes {
		filters = append(filters, fmt.Sprintf("(sysctl-name-prefix %s)", quote(name)))
	}
	w.rule("allow", "sysctl-read", filters...)
	var services []string
	if p.Programs {
		services = append(services, commandServices...)
	}
	if p.AnyNetwork {
		services = append(services, networkServices...)
	}
	for i, name := range services {
		services[i] = fmt.Sprintf("(global-name %s)", quote(name))
	}
	w.rule("allow", "mach-lookup", services...)
}

func (w *writer) network(p Policy) {
	switch {
	case p.AnyNetwork:
		w.comment("The host's network.")
		w.whole("network*")
		w.whole("system-socket")
		w.rule("allow", "file-read* file-test-existence", each(literal, networkFiles...)...)
	case p.Proxy != 0:
		w.comment("The Runner's proxy, and nothing else.")
		w.rule("allow", "network-outbound", fmt.Sprintf(`(remote ip "localhost:%d")`, p.Proxy))
	}
}

// ancestors returns the directories above some paths, each once, without the root.
func ancestors(names []string) []string {
	var all []string
	for _, name := range names {
		for dir := path.Dir(name); dir != "/" && dir != "."; dir = path.Dir(dir) {
			if !slices.Contains(all, dir) {
				all = append(all, dir)
			}
		}
	}
	slices.Sort(all)
	return all
}

func under(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

func each(filter func(string) string, names ...string) []string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = filter(name)
	}
	return all
}
