package seccomp

import _ "embed"

//go:embed program/script-amd64-notify.bin
var scriptNotify string

//go:embed program/script-amd64-errno.bin
var scriptErrno string

//go:embed program/networked-amd64-notify.bin
var networkedNotify string

//go:embed program/networked-amd64-errno.bin
var networkedErrno string

//go:embed program/command-amd64-notify.bin
var commandNotify string

//go:embed program/command-amd64-errno.bin
var commandErrno string

//go:embed program/watched-amd64-notify.bin
var watchedNotify string

//go:embed program/watched-amd64-errno.bin
var watchedErrno string

//go:embed program/shared-amd64-notify.bin
var sharedNotify string

//go:embed program/shared-amd64-errno.bin
var sharedErrno string

//go:embed program/unscoped-amd64-notify.bin
var unscopedNotify string

//go:embed program/unscoped-amd64-errno.bin
var unscopedErrno string

//go:embed program/gvisor-amd64-notify.bin
var gvisorNotify string

//go:embed program/gvisor-amd64-errno.bin
var gvisorErrno string
