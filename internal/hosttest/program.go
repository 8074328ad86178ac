package hosttest

import (
	"errors"
	"os"
	"syscall"
)

// WriteProgram writes a file that can be executed at once. It holds the fork lock while the
// file is open for writing: a child would have a copy of the descriptor for a moment, and
// the kernel executes no file that is open for writing ("text file busy").
func WriteProgram(name string, data []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return errors.Join(os.WriteFile(name, data, 0o755), os.Chmod(name, 0o755)) // Chmod, because of the umask
}

// CopyOfTest copies the program of the running test to another file.
func CopyOfTest(name string) error {
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	return WriteProgram(name, data)
}
