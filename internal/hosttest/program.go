package hosttest

import (
	"errors"
	"os"
	"syscall"
)

// WriteProgram writes a file that can be executed at once. While it is open for writing
// nobody forks: a child would have a copy of the descriptor for a moment, and the kernel
// executes no file that somebody may write to ("text file busy").
func WriteProgram(name string, data []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return errors.Join(os.WriteFile(name, data, 0o755), os.Chmod(name, 0o755)) // whatever the umask
}

// CopyOfTest puts the program of the running test somewhere else.
func CopyOfTest(name string) error {
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	return WriteProgram(name, data)
}
