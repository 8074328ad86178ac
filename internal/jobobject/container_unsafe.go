//go:build windows

package jobobject

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	userenv                       = windows.NewLazySystemDLL("userenv.dll")
	procCreateAppContainerProfile = userenv.NewProc("CreateAppContainerProfile")
	procDeleteAppContainerProfile = userenv.NewProc("DeleteAppContainerProfile")
)

// createProfile registers a container with the system, so that processes can be started in it.
func createProfile(name string) (*windows.SID, error) {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	var theirs *windows.SID
	result, _, _ := procCreateAppContainerProfile.Call(uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(text)),
		uintptr(unsafe.Pointer(text)), 0, 0, uintptr(unsafe.Pointer(&theirs)))
	if err := failure(result); err != nil {
		return nil, err
	}
	defer func() { _ = windows.FreeSid(theirs) }()
	return theirs.Copy()
}

func deleteProfile(name string) error {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	result, _, _ := procDeleteAppContainerProfile.Call(uintptr(unsafe.Pointer(text)))
	return failure(result)
}

// failure converts an HRESULT. If its facility is Windows, the lower half is an ordinary error
// number.
func failure(result uintptr) error {
	const fromWindows = 0x8007
	code := uint32(result)
	switch {
	case int32(code) >= 0:
		return nil
	case code>>16 == fromWindows:
		return syscall.Errno(code & 0xFFFF)
	}
	return syscall.Errno(code)
}

// securityCapabilities is SECURITY_CAPABILITIES.
type securityCapabilities struct {
	container    *windows.SID
	capabilities *windows.SIDAndAttributes
	count        uint32
	_            uint32
}

func (c *container) information() *securityCapabilities {
	const enabled = 4 // SE_GROUP_ENABLED
	information := &securityCapabilities{container: c.sid, count: uint32(len(c.capabilities))}
	held := make([]windows.SIDAndAttributes, len(c.capabilities))
	for i, sid := range c.capabilities {
		held[i] = windows.SIDAndAttributes{Sid: sid, Attributes: enabled}
	}
	information.capabilities = unsafe.SliceData(held)
	return information
}
