// Package pythonwasm finds and reads the bundle that holds CPython as a WebAssembly
// module: python-wasm.zip, made by scripts/python-wasm.
//
//	manifest.json   the bundle's format, versions and patches, and the hashes of the rest
//	python.wasm     the interpreter; its exports and imports are drawn in c/cordon.c
//	stdlib.zip      the standard library, compiled; the guest sees it as /lib/python311.zip
//	LICENSE         the licences of all that is in it
//
// The hashes find damage, and a bundle of another version. They are no signature: who
// can write the bundle can write them too. The module is the guest, not part of the
// walls, so a bad one harms what runs in it, and nothing else.
package pythonwasm
