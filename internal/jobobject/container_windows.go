package jobobject

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// The rights of a grant. Write includes everything except changing the owner and the rights.
const (
	readRights  windows.ACCESS_MASK = windows.FILE_GENERIC_READ | windows.FILE_GENERIC_EXECUTE
	writeRights windows.ACCESS_MASK = readRights | windows.FILE_GENERIC_WRITE | windows.DELETE | deleteChild

	deleteChild = 0x40 // FILE_DELETE_CHILD
)

// AppContainers returns nil if this system has AppContainers, or the reason.
func AppContainers() error {
	for _, proc := range []*windows.LazyProc{procCreateAppContainerProfile, procDeleteAppContainerProfile} {
		if err := proc.Find(); err != nil {
			return errors.New("this Windows has no AppContainers (Wine has none either)")
		}
	}
	return nil
}

// container is the profile of an AppContainer for one run.
type container struct {
	name         string
	sid          *windows.SID
	capabilities []*windows.SID
}

func newContainer(a Access) (*container, error) {
	if err := AppContainers(); err != nil {
		return nil, &SetupError{"AppContainers", err}
	}
	c := &container{name: containerName(os.Getpid(), rand.Text())}
	for _, text := range a.capabilities() {
		sid, err := windows.StringToSid(text)
		if err != nil {
			return nil, &SetupError{"a capability", err}
		}
		c.capabilities = append(c.capabilities, sid)
	}
	if err := admit(a); err != nil {
		return nil, err
	}
	sid, err := createProfile(c.name)
	if err != nil {
		return nil, &SetupError{"CreateAppContainerProfile", err}
	}
	c.sid = sid
	return c, nil
}

// admit adds the capabilities of the granted paths to their rights, unless an earlier run did.
// They stay there, because changing all files of a large directory takes seconds, and only our
// containers have these capabilities.
func admit(a Access) error {
	everyContainer, err := windows.StringToSid("S-1-15-2-1") // all application packages
	if err != nil {
		return &SetupError{"a container's name", err}
	}
	for _, path := range outermost(a.Read) {
		if err := admitTo(path, readCapability(path), readRights, everyContainer); err != nil {
			return err
		}
	}
	for _, path := range outermost(a.Write) {
		if err := admitTo(path, writeCapability(path), writeRights); err != nil {
			return err
		}
	}
	return nil
}

func admitTo(path, capability string, rights windows.ACCESS_MASK, others ...*windows.SID) error {
	sid, err := windows.StringToSid(CapabilitySID(capability))
	if err != nil {
		return &SetupError{"a capability", err}
	}
	open, err := isOpenFor(path, append(others, sid), rights)
	if err != nil || open {
		return err
	}
	return openFor(path, sid, rights)
}

func (c *container) close() error {
	if err := deleteProfile(c.name); err != nil {
		return fmt.Errorf("the AppContainer %s was not removed: %w", c.name, err)
	}
	return nil
}

// profiles is the registry key with the containers of a user.
const profiles = `Software\Classes\Local Settings\Software\Microsoft\Windows\CurrentVersion\AppContainer\Mappings`

// Sweep removes the containers of killed cordons. A new process with the same id delays the
// removal.
func Sweep() error {
	if AppContainers() != nil {
		return nil
	}
	all, err := registry.OpenKey(registry.CURRENT_USER, profiles, registry.ENUMERATE_SUB_KEYS)
	if errors.Is(err, registry.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { _ = all.Close() }()
	sids, err := all.ReadSubKeyNames(0)
	if err != nil {
		return err
	}
	var failures []error
	for _, sid := range sids {
		name, err := monikerOf(all, sid)
		if err != nil {
			continue // it was removed, or we may not read it
		}
		if maker, ours := makerOf(name); ours && !alive(maker) {
			failures = append(failures, deleteProfile(name))
		}
	}
	return errors.Join(failures...)
}

func monikerOf(all registry.Key, sid string) (string, error) {
	key, err := registry.OpenKey(all, sid, registry.QUERY_VALUE)
	if err != nil {
		return "", err
	}
	defer func() { _ = key.Close() }()
	name, _, err := key.GetStringValue("Moniker")
	return name, err
}

func alive(pid int) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return errors.Is(err, windows.ERROR_ACCESS_DENIED)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	event, err := windows.WaitForSingleObject(process, 0)
	return err != nil || event == uint32(windows.WAIT_TIMEOUT)
}
