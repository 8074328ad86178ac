package jobobject

import "fmt"

// SetupError is a failure of ours before the program's first instruction.
type SetupError struct {
	Step string
	Err  error
}

func (e *SetupError) Error() string {
	return fmt.Sprintf("the walls were not put up, at %s: %v", e.Step, e.Err)
}

func (e *SetupError) Unwrap() error { return e.Err }

// StartError is the system's answer to a program that it will not start. The program may
// be missing, or be none.
type StartError struct {
	Program string
	Err     error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("%s could not be started: %v", e.Program, e.Err)
}

func (e *StartError) Unwrap() error { return e.Err }
