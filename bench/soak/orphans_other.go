//go:build !linux

package main

import "errors"

func adoptOrphans() error { return errors.New("orphans can be adopted on Linux only") }
