package guestfs

import "github.com/tetratelabs/wazero/experimental/sys"

// beyond is where the errors begin that WASI has and wazero does not. Behind it they have
// the numbers of WASI.
const beyond sys.Errno = 0x1000

// Those errors. Errors sees to it that a guest hears of them.
const (
	EBUSY  = beyond + 10
	EDQUOT = beyond + 19
	EFBIG  = beyond + 22
	// EMFILE is that too many files are open: for the guest, or for cordon.
	EMFILE = beyond + 33
	EMLINK = beyond + 34
	ENFILE = beyond + 41
	// ENOSPC is that there is no room: by a limit, or on a full disk.
	ENOSPC  = beyond + 51
	ETXTBSY = beyond + 74
	EXDEV   = beyond + 75
)
