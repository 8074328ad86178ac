// Package python has no code of Go's. Beside it lies cordon's Python package, and its tests
// run that package's own, by pytest: on the system's CPython, the oldest and the newest
// that are found, from a fresh environment, and from a wheel.
//
// What the tests find in their environment:
//
//	CORDON_TEST_PYTEST       a virtual environment with pytest, cloudpickle and mypy
//	CORDON_TEST_FRAMEWORKS   one with pytest and the frameworks that there are adapters for
//	CORDON_TEST_PYTHONS      a colon-separated list of interpreters, instead of those on
//	                         PATH and of pyenv
//	CORDON_TEST_LONG=1       every CPython
//	CORDON_REQUIRE_HOST=1    what is missing is a failure, not a skip
package python
