// Package interpreter finds the CPython that guests run on and says which of
// the host's files it needs.
//
// Find answers from the file system alone wherever it can: starting Python
// costs about 9 ms, and a cold `cordon run` has less than twice that to spend.
// It follows CPython's own rule (from the binary upward, look for
// lib/python3.N/os.py), reads pyvenv.cfg and pyenv's version files, and starts
// something only when the files leave a question open: a shim of another kind,
// or a binary whose name and neighbours do not tell its version.
//
// Interpreter.Mounts lists what a private root must hold, read-only and at the
// same paths: the binary, the loader and its library folders, the standard
// library and the packages. Paths in the list are real (no component is a
// symbolic link), sorted, and none lies inside another; links that lead to
// them are listed as links.
//
// # Limits
//
//   - The guest's sys.path is Interpreter.SysPath. Files named *.pth are not
//     read, so "editable" installs, whose code lies elsewhere, are not seen;
//     nor is the user's own site folder (~/.local).
//   - Links inside mounted folders that lead out of them dangle inside. Known
//     and harmless: Debian's sitecustomize.py (into /etc), the libpython link
//     in config-3.N, zoneinfo/localtime. Debian's libblas and liblapack, which
//     go through /etc/alternatives, are followed and listed.
//   - A library that is found by LD_LIBRARY_PATH alone is reported as missing:
//     the guest does not get that variable.
//   - A standard library made of links (Nix environments) is answered by asking
//     the interpreter, and its files must lie in one tree.
package interpreter
