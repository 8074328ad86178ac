package jobobject

import (
	"errors"
	"runtime"

	"golang.org/x/sys/windows"
)

const (
	disableMaxPrivilege = 0x1 // of CreateRestrictedToken: no privilege but to pass through directories
	luaToken            = 0x4 // the administrators' group can only deny

	lowIntegrity = 0x1000 // SECURITY_MANDATORY_LOW_RID
	groupIsLabel = 0x20   // SE_GROUP_INTEGRITY
)

// restrictedToken returns a copy of our token with fewer rights: no privileges, no
// administrator, low integrity. It reads the token back to check it.
func restrictedToken() (windows.Token, error) {
	var own windows.Token
	err := windows.OpenProcessToken(windows.CurrentProcess(),
		windows.TOKEN_DUPLICATE|windows.TOKEN_ASSIGN_PRIMARY|windows.TOKEN_QUERY|windows.TOKEN_ADJUST_DEFAULT, &own)
	if err != nil {
		return 0, &SetupError{"OpenProcessToken", err}
	}
	defer func() { _ = own.Close() }()
	token, err := createRestrictedToken(own, disableMaxPrivilege|luaToken)
	if err != nil {
		return 0, &SetupError{"CreateRestrictedToken", err}
	}
	if err := lower(token); err != nil {
		_ = token.Close()
		return 0, err
	}
	return token, nil
}

func lower(token windows.Token) error {
	low, err := windows.CreateWellKnownSid(windows.WinLowLabelSid)
	if err != nil {
		return &SetupError{"the low label", err}
	}
	if err := setIntegrity(token, low); err != nil {
		return &SetupError{"the token's integrity", err}
	}
	// Files of an administrator's process belong to a group that this token no longer has.
	// Without another default, the process could not open its own files.
	user, err := token.GetTokenUser()
	if err != nil {
		return &SetupError{"the token's user", err}
	}
	system, err := windows.CreateWellKnownSid(windows.WinLocalSystemSid)
	if err != nil {
		return &SetupError{"the system's name", err}
	}
	acl, err := windows.ACLFromEntries([]windows.EXPLICIT_ACCESS{
		allow(user.User.Sid, windows.GENERIC_ALL, windows.NO_INHERITANCE),
		allow(system, windows.GENERIC_ALL, windows.NO_INHERITANCE),
	}, nil)
	runtime.KeepAlive(user) // the entries have addresses as numbers
	runtime.KeepAlive(system)
	if err != nil {
		return &SetupError{"a list of rights", err}
	}
	if err := setDefaultACL(token, acl); err != nil {
		return &SetupError{"the token's default rights", err}
	}
	return nil
}

var errIntegrity = errors.New("the integrity of the token is not low")

// checkIntegrity checks that the integrity of a token is low.
func checkIntegrity(token windows.Token) error {
	level, err := integrity(token)
	if err != nil {
		return err
	}
	if level > lowIntegrity {
		return errIntegrity
	}
	return nil
}

// LowIntegrity returns nil if this system supports tokens of low integrity, or the reason.
func LowIntegrity() error {
	token, err := restrictedToken()
	if err != nil {
		return err
	}
	defer func() { _ = token.Close() }()
	return checkIntegrity(token)
}
