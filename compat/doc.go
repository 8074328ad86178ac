// Package compat has no code. Its tests show that what ordinary scripts do
// works behind the walls: a sandbox that blocks too much is as useless as one
// that blocks too little.
//
//   - scripts: the standard library, what a script may return, how it may end
//     (scripts_test.go and the tables in the other files), on the system's CPython,
//     the oldest and the newest that are found, and what a wall must stop on every one;
//   - the language rules: attempts that they must stop, on every CPython,
//     ordinary programs that they must not, and scripts spliced from both (corpus_test.go,
//     fuzz_test.go), and hooks (hooks_test.go);
//   - numpy and pandas from a virtual environment (venv_test.go);
//   - CPython's own tests (cpython_test.go, testdata/cpython.txt);
//   - all of this again with CPython as WebAssembly, on copies of one that has
//     started (wasm_test.go): what cannot work there is named, with the error that
//     a script gets (wasm_scripts_test.go, wasm_absent_test.go), and it has a
//     list of CPython's tests of its own (wasm_cpython_test.go,
//     testdata/cpython_wasm.txt).
//
// What the tests find in their environment:
//
//	CORDON_TEST_PYTHONS      a colon-separated list of interpreters, instead of
//	                         those on PATH and of pyenv
//	CORDON_TEST_VENV         a virtual environment with numpy and pandas
//	CORDON_TEST_SUITE        the directory of CPython's own tests
//	CORDON_TEST_LONG=1       run all of testdata/cpython.txt, not the short set, of
//	                         testdata/cpython_wasm.txt the long ones, too, and all
//	                         scripts on every CPython
//	CORDON_TEST_FUZZ=20s     how long to splice scripts, on each CPython
//	CORDON_REQUIRE_HOST=1    what is missing is a failure, not a skip
//
// An allowlist that lacks a call which one run in a thousand makes is found by
// repetition: go test ./compat -run Scripts -count=20.
package compat
