package seccomp

import _ "embed"

//go:embed program/arm64-notify.bin
var notifyProgram string

//go:embed program/arm64-errno.bin
var errnoProgram string
