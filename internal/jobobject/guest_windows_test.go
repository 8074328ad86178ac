package jobobject

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// guestArg makes the test binary run as a guest, which the next argument selects.
const guestArg = "be-a-guest"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == guestArg {
		os.Exit(guests[os.Args[2]](os.Args[3:]))
	}
	os.Exit(m.Run())
}

var guests = map[string]func(args []string) int{
	"echo":    echo,
	"exit":    exit,
	"fault":   fault,
	"environ": environ,
	"handle":  useHandle,
	"wait":    wait,
	"family":  family,
	"leave":   leave,
	"keeper":  keeper,
	"spin":    spin,
	"eat":     eat,
	"spawn":   spawn,
	"read":    read,
	"write":   write,
	"dial":    dial,
}

func say(v ...any) { fmt.Fprintln(os.Stdout, v...) }

func outcome(err error) int {
	if err != nil {
		say(err)
		return 1
	}
	say("done")
	return 0
}

// echo prints its arguments and its input.
func echo(args []string) int {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return outcome(err)
	}
	_ = json.NewEncoder(os.Stdout).Encode(args)
	fmt.Fprintf(os.Stderr, "%s", text)
	return 0
}

func exit(args []string) int {
	code, _ := strconv.Atoi(args[0])
	return code
}

// fault exits with the code of an access violation.
func fault([]string) int {
	_ = windows.TerminateProcess(windows.CurrentProcess(), 0xC0000005)
	return 0
}

func environ([]string) int {
	for _, variable := range os.Environ() {
		say(variable)
	}
	return 0
}

// useHandle writes to a handle of its parent.
func useHandle(args []string) int {
	value, err := strconv.ParseUint(args[0], 10, 64)
	if err != nil {
		return outcome(err)
	}
	var written uint32
	return outcome(windows.WriteFile(windows.Handle(value), []byte("through"), &written, nil))
}

// wait prints its id and does not end.
func wait([]string) int {
	say(os.Getpid())
	_, _ = windows.WaitForSingleObject(windows.CurrentProcess(), windows.INFINITE)
	return 0
}

// family is wait, with a child and a grandchild.
func family(args []string) int {
	if len(args) == 0 {
		return wait(nil)
	}
	child := exec.Command(os.Args[0], append([]string{guestArg, "family"}, args[1:]...)...)
	child.Stdout = os.Stdout
	if err := child.Start(); err != nil {
		return outcome(err)
	}
	return wait(nil)
}

// leave starts other processes, and exits before them if its arguments say so.
func leave(args []string) int {
	wanted, _ := strconv.Atoi(args[0])
	for range wanted {
		child := exec.Command(os.Args[0], guestArg, "wait")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			return outcome(err)
		}
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return 0
}

// keeper is a cordon with a guest, which the test kills.
func keeper([]string) int {
	p, err := Start(spec("wait"))
	if err != nil {
		return outcome(err)
	}
	_, err = p.Wait()
	return outcome(err)
}

func spin([]string) int {
	for n := 0; ; n++ {
		if n < 0 {
			return 0
		}
	}
}

// eat allocates memory and prints how much it got.
func eat(args []string) int {
	total, _ := strconv.Atoi(args[0])
	var kept [][]byte
	for len(kept) < total {
		piece := make([]byte, 1<<20)
		for i := 0; i < len(piece); i += 4096 {
			piece[i] = 1
		}
		kept = append(kept, piece)
	}
	say(len(kept))
	return 0
}

// spawn starts other processes and prints how many it could start.
func spawn(args []string) int {
	wanted, _ := strconv.Atoi(args[0])
	for n := range wanted {
		child := exec.Command(os.Args[0], guestArg, "wait")
		if err := child.Start(); err != nil {
			say(n)
			return 0
		}
	}
	say(wanted)
	return 0
}

func read(args []string) int {
	text, err := os.ReadFile(args[0])
	if err == nil {
		say(string(text))
	}
	return outcome(err)
}

func write(args []string) int { return outcome(os.WriteFile(args[0], []byte("written"), 0o600)) }

func dial(args []string) int {
	connection, err := net.DialTimeout("tcp", args[0], 5*time.Second)
	if err == nil {
		connection.Close()
	}
	return outcome(err)
}

// lines returns the output of a guest line by line.
func lines(r io.Reader) func(t *testing.T) string {
	scanner := bufio.NewScanner(r)
	return func(t *testing.T) string {
		t.Helper()
		if !scanner.Scan() {
			t.Fatalf("the guest said no more: %v", scanner.Err())
		}
		return strings.TrimSpace(scanner.Text())
	}
}
