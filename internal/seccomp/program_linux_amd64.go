package seccomp

import _ "embed"

//go:embed program/amd64-notify.bin
var notifyProgram string

//go:embed program/amd64-errno.bin
var errnoProgram string
