package observe

// Abilities are what a Runner offers on its host.
type Abilities struct {
	// Python is the version that scripts run on, like "3.11"; empty while none has
	// started.
	Python string
	// Packages are installed with it, by name and version: "numpy 2.1.0".
	Packages []string
	// WasmScripts means that the wasm tier can run scripts, not only modules.
	WasmScripts bool
}
