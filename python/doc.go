// Package python has no Go code. Its directory has cordon's Python package, and its Go tests
// run that package's pytest suite: with the system's CPython, with the oldest and the newest
// that are found, from a fresh environment, and from a wheel.
//
// The tests read these environment variables:
//
//	CORDON_TEST_PYTEST       a virtual environment with pytest, cloudpickle and mypy
//	CORDON_TEST_FRAMEWORKS   one with pytest, IPython and the frameworks of the adapters
//	CORDON_TEST_PYTHONS      a colon-separated list of interpreters, instead of those on
//	                         PATH and of pyenv
//	CORDON_TEST_LONG=1       test every CPython
//	CORDON_REQUIRE_HOST=1    missing requirements are failures, not skips
package python
