package seccomp

import (
	"testing"

	"golang.org/x/sys/unix"
)

// The package defines the constants itself. On Linux they can be compared with
// x/sys/unix.
func TestConstants(t *testing.T) {
	sameConstants(t, map[string][2]uint64{
		"F_SETLKW":             {fSetLkW, unix.F_SETLKW},
		"F_SETOWN":             {fSetOwn, unix.F_SETOWN},
		"F_SETSIG":             {fSetSig, unix.F_SETSIG},
		"F_OFD_GETLK":          {fOFDGetLk, unix.F_OFD_GETLK},
		"F_OFD_SETLK":          {fOFDSetLk, unix.F_OFD_SETLK},
		"F_OFD_SETLKW":         {fOFDSetLkW, unix.F_OFD_SETLKW},
		"F_DUPFD_CLOEXEC":      {fDupFDCloexec, unix.F_DUPFD_CLOEXEC},
		"F_SETPIPE_SZ":         {fSetPipeSize, unix.F_SETPIPE_SZ},
		"F_GETPIPE_SZ":         {fGetPipeSize, unix.F_GETPIPE_SZ},
		"F_ADD_SEALS":          {fAddSeals, unix.F_ADD_SEALS},
		"F_GET_SEALS":          {fGetSeals, unix.F_GET_SEALS},
		"TCGETS":               {tcGets, unix.TCGETS},
		"TCGETS2":              {tcGets2, unix.TCGETS2},
		"TIOCSTI":              {tiocSTI, unix.TIOCSTI},
		"TIOCGWINSZ":           {tiocGWinSz, unix.TIOCGWINSZ},
		"TIOCINQ":              {fioNRead, unix.TIOCINQ}, // another name of FIONREAD
		"FICLONE":              {fiClone, unix.FICLONE},
		"CLONE_VM":             {cloneVM, unix.CLONE_VM},
		"CLONE_FS":             {cloneFS, unix.CLONE_FS},
		"CLONE_FILES":          {cloneFiles, unix.CLONE_FILES},
		"CLONE_SIGHAND":        {cloneSighand, unix.CLONE_SIGHAND},
		"CLONE_THREAD":         {cloneThread, unix.CLONE_THREAD},
		"CLONE_SYSVSEM":        {cloneSysVSem, unix.CLONE_SYSVSEM},
		"CLONE_SETTLS":         {cloneSetTLS, unix.CLONE_SETTLS},
		"CLONE_PARENT_SETTID":  {cloneParentSetTID, unix.CLONE_PARENT_SETTID},
		"CLONE_CHILD_CLEARTID": {cloneChildClearTID, unix.CLONE_CHILD_CLEARTID},
		"CLONE_CHILD_SETTID":   {cloneChildSetTID, unix.CLONE_CHILD_SETTID},
		"CLONE_DETACHED":       {cloneDetached, unix.CLONE_DETACHED},
		"CLONE_NEWUSER":        {cloneNewUser, unix.CLONE_NEWUSER},
		"PR_SET_PDEATHSIG":     {prSetPDeathSig, unix.PR_SET_PDEATHSIG},
		"PR_GET_DUMPABLE":      {prGetDumpable, unix.PR_GET_DUMPABLE},
		"PR_SET_NAME":          {prSetName, unix.PR_SET_NAME},
		"PR_GET_NAME":          {prGetName, unix.PR_GET_NAME},
		"PR_GET_SECCOMP":       {prGetSeccomp, unix.PR_GET_SECCOMP},
		"PR_CAPBSET_READ":      {prCapBSetRead, unix.PR_CAPBSET_READ},
		"PR_SET_NO_NEW_PRIVS":  {prSetNoNewPrivs, unix.PR_SET_NO_NEW_PRIVS},
		"PR_GET_NO_NEW_PRIVS":  {prGetNoNewPrivs, unix.PR_GET_NO_NEW_PRIVS},
		"PR_SET_VMA":           {prSetVMA, unix.PR_SET_VMA},
		"SOCK_NONBLOCK":        {sockNonblock, unix.SOCK_NONBLOCK},
		"SOCK_CLOEXEC":         {sockCloexec, unix.SOCK_CLOEXEC},
		"SOCK_SEQPACKET":       {sockSeqpacket, unix.SOCK_SEQPACKET},
		"SO_TYPE":              {soType, unix.SO_TYPE},
		"SO_ERROR":             {soError, unix.SO_ERROR},
		"SO_SNDBUF":            {soSndBuf, unix.SO_SNDBUF},
		"SO_RCVBUF":            {soRcvBuf, unix.SO_RCVBUF},
		"SO_ACCEPTCONN":        {soAcceptConn, unix.SO_ACCEPTCONN},
		"SO_PROTOCOL":          {soProtocol, unix.SO_PROTOCOL},
		"SO_DOMAIN":            {soDomain, unix.SO_DOMAIN},
	})
}

func sameConstants(t *testing.T, pairs map[string][2]uint64) {
	t.Helper()
	for name, pair := range pairs {
		if pair[0] != pair[1] {
			t.Errorf("%s is %#x here and %#x in x/sys/unix", name, pair[0], pair[1])
		}
	}
}
