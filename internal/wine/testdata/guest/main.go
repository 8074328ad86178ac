// Command guest does what its arguments say, as a program on Windows that cordon runs.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

func main() { os.Exit(act(os.Args[1], os.Args[2:])) }

func act(what string, args []string) int {
	switch what {
	case "say":
		fmt.Println(strings.Join(args, "|"))
	case "environment":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "copy":
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			return 1
		}
	case "exit":
		code, _ := strconv.Atoi(args[0])
		return code
	case "fault": // what the system does with a program that reads what is not there
		self, _ := syscall.GetCurrentProcess()
		_ = syscall.TerminateProcess(self, 0xC0000005)
	case "flood":
		for line := []byte(strings.Repeat("x", 1023) + "\n"); ; {
			if _, err := os.Stdout.Write(line); err != nil {
				return 1
			}
		}
	case "eat":
		var kept [][]byte
		for {
			piece := make([]byte, 1<<20)
			for i := 0; i < len(piece); i += 4096 {
				piece[i] = 1
			}
			kept = append(kept, piece)
		}
	case "write":
		if err := os.WriteFile(args[0], []byte("written"), 0o600); err != nil {
			fmt.Println(err)
			return 1
		}
	case "family": // one more, if the number says so, and wait
		if generations, _ := strconv.Atoi(args[1]); generations > 1 {
			child := exec.Command(os.Args[0], "family", args[0], strconv.Itoa(generations-1))
			child.Stdout = os.Stdout
			if err := child.Start(); err != nil {
				fmt.Println(err)
				return 1
			}
		} else {
			fmt.Println("all are here")
		}
		self, _ := syscall.GetCurrentProcess()
		_, _ = syscall.WaitForSingleObject(self, syscall.INFINITE)
	}
	return 0
}
