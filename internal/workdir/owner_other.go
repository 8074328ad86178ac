//go:build !linux

package workdir

// Owner is the owner of files that are written into a directory: always the user of this
// process.
type Owner struct{}

// Self is the user of this process.
func Self() Owner { return Owner{} }

// Do makes changes as the owner.
func (Owner) Do(change func() error) error { return change() }
