package portable

import "os"

// wake makes a Read that waits return: the pipes of Windows cannot.
func (s *stream) wake() error { return os.ErrNoDeadline }

// Read reads what is there, and waits for it until stopWaiting was called.
func (s *stream) Read(into []byte) (int, error) { return s.file.Read(into) }
