package guestfs

import "github.com/tetratelabs/wazero/experimental/sys"

// Errors that WASI has and wazero does not: it gives the guest EIO for them.
const (
	// ENOSPC is that there is no room: by a limit, or on a full disk.
	ENOSPC sys.Errno = 0x1000 + iota
	// EMFILE is that too many files are open: for the guest, or for the host.
	EMFILE
)
