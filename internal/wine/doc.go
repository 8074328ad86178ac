// Package wine has tests only: they run cordon.exe, and the tests of internal/jobobject,
// under Wine. It is no Windows, but it runs the same programs with the same calls, and
// where it does less than it says, cordon has to notice. scripts/setup makes a Windows of
// Wine's in .cache/wine, with CPython beside it.
package wine
