package observe

// Abilities are what a Runner really has on its host, for those who plan.
type Abilities struct {
	// Python is the version that scripts run with, like "3.11"; empty while none was
	// started.
	Python string
	// Packages are installed beside it, by name and version: "numpy 2.1.0".
	Packages []string
	// WasmScripts says that tier wasm can run scripts, and not modules alone.
	WasmScripts bool
}
