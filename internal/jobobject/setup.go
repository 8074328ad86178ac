package jobobject

import "fmt"

// SetupError is a failure to set up the walls, before the program's first instruction.
type SetupError struct {
	Step string
	Err  error
}

func (e *SetupError) Error() string {
	return fmt.Sprintf("setting up the walls failed at %s: %v", e.Step, e.Err)
}

func (e *SetupError) Unwrap() error { return e.Err }

// StartError is the system's error for a program that cannot be started. It may be missing, or
// not be a program.
type StartError struct {
	Program string
	Err     error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("%s could not be started: %v", e.Program, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }
