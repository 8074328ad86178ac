// Package wine has tests only: they run cordon.exe, the Python package, and the tests of
// internal/jobobject, under Wine. Wine is not Windows, but it runs the same programs with the same calls, and
// cordon has to notice where it accepts calls without effect. scripts/setup installs Wine and a
// CPython for Windows in .cache/wine.
package wine
