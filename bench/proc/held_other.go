//go:build !linux

package proc

import "errors"

// Held needs Linux.
func Held([]int) (int64, error) { return 0, errors.ErrUnsupported }
