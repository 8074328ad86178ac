// Package compat has no code. Its tests show that ordinary scripts work behind the walls: a
// sandbox that blocks too much is as useless as one that blocks too little.
//
//   - scripts: the standard library, what a script may return, how it may end
//     (scripts_test.go and the tables in the other files), on the system's CPython, the
//     oldest and the newest that are found; the scripts that a wall must stop run on every
//     CPython;
//   - the language rules: attempts that they must stop, on every CPython, ordinary programs
//     that they must not stop, and scripts spliced from both (corpus_test.go,
//     fuzz_test.go), and hooks (hooks_test.go);
//   - numpy and pandas from a virtual environment (venv_test.go);
//   - CPython's own tests (cpython_test.go, testdata/cpython.txt), and again on gVisor
//     (gvisor_cpython_linux_test.go, testdata/cpython_gvisor.txt);
//   - all of this again with CPython as WebAssembly, on copies of a started interpreter
//     (wasm_test.go). Tables list what cannot work there, with the error that a script gets
//     (wasm_scripts_test.go, wasm_absent_test.go), and CPython's tests have a separate list
//     (wasm_cpython_test.go, testdata/cpython_wasm.txt).
//
// The tests read these environment variables:
//
//	CORDON_TEST_PYTHONS      a colon-separated list of interpreters, instead of
//	                         those on PATH and of pyenv
//	CORDON_TEST_VENV         a virtual environment with numpy and pandas
//	CORDON_TEST_SUITE        the directory of CPython's own tests
//	CORDON_TEST_LONG=1       run all of testdata/cpython.txt, not the short set, of
//	                         testdata/cpython_wasm.txt the long ones, too, and all
//	                         scripts on every CPython
//	CORDON_TEST_FUZZ=20s     how long to splice scripts, on each CPython
//	CORDON_REQUIRE_HOST=1    missing requirements are failures, not skips
//
// Repetition finds a missing system call that only one run in a thousand makes:
// go test ./compat -run Scripts -count=20.
package compat
