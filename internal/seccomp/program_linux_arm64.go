package seccomp

import _ "embed"

//go:embed program/script-arm64-notify.bin
var scriptNotify string

//go:embed program/script-arm64-errno.bin
var scriptErrno string

//go:embed program/command-arm64-notify.bin
var commandNotify string

//go:embed program/command-arm64-errno.bin
var commandErrno string

//go:embed program/watched-arm64-notify.bin
var watchedNotify string

//go:embed program/watched-arm64-errno.bin
var watchedErrno string
