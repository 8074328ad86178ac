package guestfs

import "github.com/tetratelabs/wazero/experimental/sys"

// wasiOffset is added to WASI's numbers of the errors that WASI has and wazero does not.
const wasiOffset sys.Errno = 0x1000

// The errors that wazero does not have. Errors delivers them to the guest.
const (
	EBUSY  = wasiOffset + 10
	EDQUOT = wasiOffset + 19
	EFBIG  = wasiOffset + 22
	// EMFILE means that the guest, or cordon, has too many open files.
	EMFILE = wasiOffset + 33
	EMLINK = wasiOffset + 34
	ENFILE = wasiOffset + 41
	// ENOSPC means that a limit is reached or the disk is full.
	ENOSPC  = wasiOffset + 51
	ETXTBSY = wasiOffset + 74
	EXDEV   = wasiOffset + 75
)
