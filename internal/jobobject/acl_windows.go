package jobobject

import (
	"runtime"
	"slices"

	"golang.org/x/sys/windows"
)

const inheritable = windows.CONTAINER_INHERIT_ACE | windows.OBJECT_INHERIT_ACE

// allow returns an access list entry that grants rights to an account.
func allow(who *windows.SID, rights windows.ACCESS_MASK, inheritance uint32) windows.EXPLICIT_ACCESS {
	return windows.EXPLICIT_ACCESS{
		AccessPermissions: rights,
		AccessMode:        windows.GRANT_ACCESS,
		Inheritance:       inheritance,
		Trustee: windows.TRUSTEE{
			TrusteeForm:  windows.TRUSTEE_IS_SID,
			TrusteeType:  windows.TRUSTEE_IS_UNKNOWN,
			TrusteeValue: windows.TrusteeValueFromSID(who),
		},
	}
}

// openFor adds an entry to the rights of a file, or of a directory and its contents.
func openFor(path string, who *windows.SID, rights windows.ACCESS_MASK) error {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return &SetupError{"the rights of " + path, err}
	}
	present, _, err := descriptor.DACL()
	if err != nil {
		return &SetupError{"the rights of " + path, err}
	}
	acl, err := windows.ACLFromEntries([]windows.EXPLICIT_ACCESS{allow(who, rights, inheritable)}, present)
	runtime.KeepAlive(who) // the entry has its address as a number
	if err != nil {
		return &SetupError{"a list of rights", err}
	}
	err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION, nil, nil, acl, nil)
	if err != nil {
		return &SetupError{"new rights for " + path, err}
	}
	return nil
}

// isOpenFor reports whether a path's access list grants one of these accounts at least
// these rights. It ignores denials: the guest gets an error when it opens the path.
func isOpenFor(path string, who []*windows.SID, rights windows.ACCESS_MASK) (bool, error) {
	descriptor, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return false, &SetupError{"the rights of " + path, err}
	}
	acl, _, err := descriptor.DACL()
	if err != nil {
		return false, &SetupError{"the rights of " + path, err}
	}
	if acl == nil { // no list opens the path to every user, but not to a container
		return false, nil
	}
	for index := range uint32(acl.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(acl, index, &entry); err != nil {
			return false, &SetupError{"the rights of " + path, err}
		}
		if entry.Header.AceType == windows.ACCESS_ALLOWED_ACE_TYPE && entry.Mask&rights == rights &&
			entry.Header.AceFlags&windows.INHERIT_ONLY_ACE == 0 &&
			slices.ContainsFunc(who, sidOf(entry).Equals) {
			return true, nil
		}
	}
	return false, nil
}

// labelLow lets processes of low integrity write to a directory and its contents, within its
// rights.
func labelLow(path string) error {
	descriptor, err := windows.SecurityDescriptorFromString("S:(ML;OICI;NW;;;LW)")
	if err != nil {
		return &SetupError{"the low label", err}
	}
	label, _, err := descriptor.SACL()
	if err != nil {
		return &SetupError{"the low label", err}
	}
	err = windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.LABEL_SECURITY_INFORMATION, nil, nil, nil, label)
	if err != nil {
		return &SetupError{"a low label for " + path, err}
	}
	return nil
}
