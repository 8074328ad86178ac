package guestfs

import "github.com/tetratelabs/wazero/experimental/sys"

// beyond is the offset of errors that WASI has and wazero does not. They are WASI's numbers
// plus beyond.
const beyond sys.Errno = 0x1000

// The errors that wazero does not have. Errors delivers them to the guest.
const (
	EBUSY  = beyond + 10
	EDQUOT = beyond + 19
	EFBIG  = beyond + 22
	// EMFILE means that the guest, or cordon, has too many open files.
	EMFILE = beyond + 33
	EMLINK = beyond + 34
	ENFILE = beyond + 41
	// ENOSPC means that a limit is reached or the disk is full.
	ENOSPC  = beyond + 51
	ETXTBSY = beyond + 74
	EXDEV   = beyond + 75
)
