package run

// Module is WebAssembly that was checked and compiled, and can be run many times. A
// Runner makes them, and runs none but its own.
type Module interface {
	// Digest is the SHA-256 of what was opened, in hexadecimal.
	Digest() string
}
