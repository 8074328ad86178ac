// Package interpreter finds the CPython that guests run on and says which of
// the host's files it needs.
//
// Find answers from the file system alone. It follows CPython's own rule (from
// the binary upward, look for lib/python3.N/os.py), reads pyvenv.cfg and the
// files of version managers, and starts nothing: a candidate may be a file that
// a guest has written, and whoever asks it what it is has run it outside of the
// walls. For the same reason nothing is taken from a directory where guests may
// write, unless the user names it: see Search.
//
// Interpreter.Mounts lists what a private root must hold, read-only and at the
// same paths: the binary, the loader and its library directories, the standard
// library and the packages. Paths in the list are real (no component is a
// symbolic link), sorted, and none lies inside another; links that lead to
// them are listed as links.
//
// # Limits
//
//   - The guest's sys.path is Interpreter.SysPath. Files named *.pth are not
//     read, so "editable" installs, whose code lies elsewhere, are not seen;
//     nor is the user's own site directory (~/.local).
//   - Links inside mounted directories that lead out of them dangle inside. Known
//     and harmless: Debian's sitecustomize.py (into /etc), the libpython link
//     in config-3.N, zoneinfo/localtime. Debian's libblas and liblapack, which
//     go through /etc/alternatives, are followed and listed.
//   - A library that is found by LD_LIBRARY_PATH alone is reported as missing:
//     the guest does not get that variable.
//   - A shim of an unknown version manager, a wrapper script and a standard
//     library made of links (Nix environments) cannot be read. The search
//     passes over them; the error says how to name the Python behind them.
package interpreter
