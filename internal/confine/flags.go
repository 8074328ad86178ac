package confine

// The clone(2) flags of the namespaces, defined here so that plans can be made and tested
// on any system.
const (
	CloneNewNS     uintptr = 0x00020000
	CloneNewCgroup uintptr = 0x02000000
	CloneNewUTS    uintptr = 0x04000000
	CloneNewIPC    uintptr = 0x08000000
	CloneNewUser   uintptr = 0x10000000
	CloneNewPID    uintptr = 0x20000000
	CloneNewNet    uintptr = 0x40000000
)
