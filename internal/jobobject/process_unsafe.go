//go:build windows

package jobobject

import (
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Attributes of a new process that x/sys does not name.
const (
	attributeSecurityCapabilities = 0x20009
	attributeJobList              = 0x2000D
)

// mitigations that do not affect ordinary programs: no libraries from other computers, none
// that other programs inject into all processes, and only installed fonts.
const mitigations uint64 = 1<<32 | 1<<48 | 1<<52

// startupInfo sets the streams, and returns all handles that the process inherits, each once.
func startupInfo(s Spec) (windows.StartupInfoEx, []windows.Handle) {
	var handles []windows.Handle
	inherit := func(file *os.File) windows.Handle {
		if file == nil {
			return 0
		}
		handle := windows.Handle(file.Fd())
		if !slices.Contains(handles, handle) {
			handles = append(handles, handle)
		}
		return handle
	}
	var startup windows.StartupInfoEx
	startup.Cb = uint32(unsafe.Sizeof(startup))
	startup.Flags = windows.STARTF_USESTDHANDLES
	startup.StdInput, startup.StdOutput, startup.StdErr = inherit(s.Stdin), inherit(s.Stdout), inherit(s.Stderr)
	for _, file := range s.Extra {
		inherit(file)
	}
	return startup, handles
}

// attributes returns the attributes of a new process. The list of handles and the container are
// walls. Not every Windows supports starting in the job, and the mitigations.
func attributes(handles []windows.Handle, j *job, c *container) (*windows.ProcThreadAttributeListContainer, error) {
	list, err := windows.NewProcThreadAttributeList(4)
	if err != nil {
		return nil, &SetupError{"a list of attributes", err}
	}
	err = list.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(unsafe.SliceData(handles)), uintptr(len(handles))*unsafe.Sizeof(handles[0]))
	if err == nil && c != nil {
		information := c.information()
		err = list.Update(attributeSecurityCapabilities, unsafe.Pointer(information), unsafe.Sizeof(*information))
	}
	if err != nil {
		list.Delete()
		return nil, &SetupError{"the process's attributes", err}
	}
	jobs := []windows.Handle{j.handle}
	_ = list.Update(attributeJobList, unsafe.Pointer(&jobs[0]), unsafe.Sizeof(jobs[0]))
	policy := mitigations
	_ = list.Update(windows.PROC_THREAD_ATTRIBUTE_MITIGATION_POLICY, unsafe.Pointer(&policy), unsafe.Sizeof(policy))
	return list, nil
}

var procGetProcessMemoryInfo = kernel32.NewProc("K32GetProcessMemoryInfo")

// memoryCounters is PROCESS_MEMORY_COUNTERS.
type memoryCounters struct {
	size, faults               uint32
	peakWorkingSet, workingSet uintptr
	peakPaged, paged           uintptr
	peakNonPaged, nonPaged     uintptr
	pagefile, peakPagefile     uintptr
}

// peakMemory returns the peak of one process's committed memory.
func peakMemory(process windows.Handle) uint64 {
	counters := memoryCounters{size: uint32(unsafe.Sizeof(memoryCounters{}))}
	ok, _, _ := procGetProcessMemoryInfo.Call(uintptr(process), uintptr(unsafe.Pointer(&counters)), uintptr(counters.size))
	if ok == 0 {
		return 0
	}
	return uint64(counters.peakPagefile)
}
