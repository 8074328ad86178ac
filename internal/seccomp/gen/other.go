//go:build !linux || (!amd64 && !arm64)

package main

import "log"

func main() { log.Fatal("seccomp/gen: needs linux on amd64 or arm64 (gVisor's compiler)") }
