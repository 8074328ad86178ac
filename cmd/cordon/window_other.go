//go:build !linux

package main

import (
	"os"

	"github.com/cordon-sandbox/cordon/run"
)

// Commands have terminals on Linux alone; elsewhere they have pipes.
const terminals = false

func watchSize(*os.File) (<-chan run.WindowSize, func()) { return nil, func() {} }
