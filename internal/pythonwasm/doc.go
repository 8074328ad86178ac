// Package pythonwasm finds and reads the bundle with CPython as a WebAssembly module:
// python-wasm.zip, which scripts/python-wasm builds.
//
//	manifest.json   the bundle's format, versions and patches, and the hashes of the rest
//	python.wasm     the interpreter; its exports and imports are drawn in c/cordon.c
//	stdlib.zip      the standard library, compiled; the guest sees it as /lib/python311.zip
//	LICENSE         the licenses of its contents
//
// The hashes detect damage and bundles of other versions. They are no signature: a person who
// can write the bundle can write them too. The module is a guest, not part of the walls, so a
// malicious one can harm only the scripts in it.
package pythonwasm
