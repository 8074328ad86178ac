//go:build windows

package jobobject

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// sidOf is whom an entry names: the name begins where the last field stands.
func sidOf(entry *windows.ACCESS_ALLOWED_ACE) *windows.SID {
	return (*windows.SID)(unsafe.Pointer(&entry.SidStart))
}
