//go:build windows

package jobobject

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// sidOf returns the account of an entry, which begins at the last field.
func sidOf(entry *windows.ACCESS_ALLOWED_ACE) *windows.SID {
	return (*windows.SID)(unsafe.Pointer(&entry.SidStart))
}
