//go:build windows

package jobobject

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	advapi32                  = windows.NewLazySystemDLL("advapi32.dll")
	procCreateRestrictedToken = advapi32.NewProc("CreateRestrictedToken")
)

func createRestrictedToken(from windows.Token, flags uint32) (windows.Token, error) {
	var token windows.Token
	ok, _, err := procCreateRestrictedToken.Call(uintptr(from), uintptr(flags), 0, 0, 0, 0, 0, 0, uintptr(unsafe.Pointer(&token)))
	if ok == 0 {
		return 0, err
	}
	return token, nil
}

func setIntegrity(token windows.Token, label *windows.SID) error {
	information := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: label, Attributes: groupIsLabel}}
	return windows.SetTokenInformation(token, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&information)), information.Size())
}

func setDefaultACL(token windows.Token, acl *windows.ACL) error {
	information := struct{ acl *windows.ACL }{acl}
	return windows.SetTokenInformation(token, windows.TokenDefaultDacl, (*byte)(unsafe.Pointer(&information)), uint32(unsafe.Sizeof(information)))
}

// integrity returns the integrity level of a token: the last part of its label.
func integrity(token windows.Token) (uint32, error) {
	// The label has one part; 64 bytes are enough for it and its header.
	var buffer [8]uint64
	var length uint32
	err := windows.GetTokenInformation(token, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&buffer)), uint32(unsafe.Sizeof(buffer)), &length)
	if err != nil {
		return 0, err
	}
	label := (*windows.Tokenmandatorylabel)(unsafe.Pointer(&buffer)).Label.Sid
	return label.SubAuthority(uint32(label.SubAuthorityCount()) - 1), nil
}

const tokenIsAppContainer = 29 // of TOKEN_INFORMATION_CLASS

// inContainer reports whether a token is that of an AppContainer.
func inContainer(token windows.Token) (bool, error) {
	var inside, length uint32
	err := windows.GetTokenInformation(token, tokenIsAppContainer, (*byte)(unsafe.Pointer(&inside)), uint32(unsafe.Sizeof(inside)), &length)
	return inside != 0, err
}
