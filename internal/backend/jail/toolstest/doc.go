// Package toolstest runs ordinary programs in the jail: compilers, package managers, version
// control, network clients. What works outside works inside, or fails with a reason; hosts
// that are not granted are not reached. The network is one of the test's own.
package toolstest
