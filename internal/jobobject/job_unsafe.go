//go:build windows

package jobobject

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32                      = windows.NewLazySystemDLL("kernel32.dll")
	procGetQueuedCompletionStatus = kernel32.NewProc("GetQueuedCompletionStatus")
	procIsProcessInJob            = kernel32.NewProc("IsProcessInJob")
)

// portInformation is JOBOBJECT_ASSOCIATE_COMPLETION_PORT.
type portInformation struct {
	key  uintptr
	port windows.Handle
}

// accountingInformation is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accountingInformation struct {
	TotalUserTime, TotalKernelTime                     int64
	ThisPeriodTotalUserTime, ThisPeriodTotalKernelTime int64
	TotalPageFaultCount                                uint32
	TotalProcesses, ActiveProcesses                    uint32
	TotalTerminatedProcesses                           uint32
}

// The keys of the messages on a job's port: the kernel's and ours.
const (
	kernelKey = 1
	ourKey    = 2
)

func (j *job) setLimits(information *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) error {
	_, err := windows.SetInformationJobObject(j.handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(information)), uint32(unsafe.Sizeof(*information)))
	return err
}

func (j *job) setUIRestrictions(restrictions uint32) error {
	information := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: restrictions}
	_, err := windows.SetInformationJobObject(j.handle, windows.JobObjectBasicUIRestrictions,
		uintptr(unsafe.Pointer(&information)), uint32(unsafe.Sizeof(information)))
	return err
}

func (j *job) setPort(port windows.Handle) error {
	information := portInformation{key: kernelKey, port: port}
	_, err := windows.SetInformationJobObject(j.handle, windows.JobObjectAssociateCompletionPortInformation,
		uintptr(unsafe.Pointer(&information)), uint32(unsafe.Sizeof(information)))
	return err
}

func (j *job) limits() (information windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION, err error) {
	err = windows.QueryInformationJobObject(j.handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&information)), uint32(unsafe.Sizeof(information)), nil)
	return information, err
}

func (j *job) accounting() (information accountingInformation, err error) {
	err = windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&information)), uint32(unsafe.Sizeof(information)), nil)
	return information, err
}

// contains reports whether a process is in the job.
func (j *job) contains(process windows.Handle) (bool, error) {
	var inside int32
	ok, _, err := procIsProcessInJob.Call(uintptr(process), uintptr(j.handle), uintptr(unsafe.Pointer(&inside)))
	if ok == 0 {
		return false, err
	}
	return inside != 0, nil
}

// next waits for a message on the port. The kernel's messages have a process id in place of an
// address. It must not be stored as a pointer, as x/sys would do, because the garbage collector
// would follow it.
func (j *job) next() (message uint32, key uintptr, err error) {
	var process uintptr
	ok, _, err := procGetQueuedCompletionStatus.Call(uintptr(j.port), uintptr(unsafe.Pointer(&message)),
		uintptr(unsafe.Pointer(&key)), uintptr(unsafe.Pointer(&process)), windows.INFINITE)
	if ok == 0 {
		return 0, 0, err
	}
	return message, key, nil
}

// listen collects the kernel's messages until ours, which comes after all that were sent before
// it.
func (j *job) listen() Notices {
	var heard Notices
	for {
		message, key, err := j.next()
		if err != nil || key == ourKey {
			return heard
		}
		heard.hear(message)
	}
}

// endListening sends our message.
func (j *job) endListening() error { return windows.PostQueuedCompletionStatus(j.port, 0, ourKey, nil) }
