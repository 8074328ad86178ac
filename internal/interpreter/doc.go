// Package interpreter finds the CPython that guests run on and lists the files of the host
// that it needs.
//
// Find uses only the file system. It follows CPython's rule (from the binary upward, look
// for lib/python3.N/os.py) and reads pyvenv.cfg and the files of version managers. It
// starts no program: a guest may have written a candidate, and starting it, even to ask
// for its version, would run the guest's code outside the walls. For the same reason Find
// uses no file in a directory where guests may write, unless the user names it: see
// Search.
//
// Interpreter.Mounts lists the files that a private root must contain, read-only and at
// the same paths: the binary, the loader and its library directories, the standard library
// and the packages. The paths are real (no component is a symbolic link) and sorted, and
// none is inside another. Symbolic links to them are listed as links.
//
// # Limits
//
//   - The guest's sys.path is Interpreter.SysPath. Files named *.pth are ignored, so
//     "editable" installs, whose code is elsewhere, are not found. The user's site
//     directory (~/.local) is ignored too.
//   - Links in mounted directories that point outside them are broken in the guest. Known
//     and harmless: Debian's sitecustomize.py (into /etc), the libpython link in
//     config-3.N, zoneinfo/localtime. Debian's libblas and liblapack, which go through
//     /etc/alternatives, are followed and listed.
//   - A library that only LD_LIBRARY_PATH finds is reported as missing, because the guest
//     does not get that variable.
//   - Shims of unknown version managers, wrapper scripts and standard libraries made of
//     links (Nix environments) are not supported. The search skips them, and the error
//     says how to name the real Python.
package interpreter
