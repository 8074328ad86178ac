//go:build !linux

package main

import (
	"os"

	"github.com/cordon-sandbox/cordon/run"
)

// terminals is false: only on Linux do commands have terminals; elsewhere they have
// pipes.
const terminals = false

func watchSize(*os.File) (<-chan run.WindowSize, func()) { return nil, func() {} }
