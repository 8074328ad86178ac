package run

// Module is a checked and compiled WebAssembly module that can be run many times. A
// Runner makes modules, and runs only its own.
type Module interface {
	// Digest is the SHA-256 of the module's file, in hexadecimal.
	Digest() string
}
