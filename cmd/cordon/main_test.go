package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"cordon":         func() { os.Exit(cordonMain()) },
		"exits":          helper(exits),
		"make-file":      helper(makeFile),
		"field":          helper(field),
		"signal":         helper(sendSignal),
		"converse":       helper(converse),
		"hang-up":        helper(hangUp),
		"endless-input":  helper(endlessInput),
		"ignore-signals": helper(ignoreSignals),
	})
}

func TestScript(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the process tier needs Linux")
	}
	modules := newGuests(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			examples, err := filepath.Abs("../../examples")
			env.Setenv("EXAMPLES", examples)
			if err != nil {
				return err
			}
			outside, err := outsideDirectory()
			env.Setenv("OUTSIDE", outside)
			env.Defer(func() { os.RemoveAll(outside) })
			if err != nil {
				return err
			}
			return modules.offer(env)
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "degradable":
				return exec.Command("unshare", "-Ur", "sh", "-c", "echo 1 > /proc/sys/user/max_user_namespaces").Run() == nil, nil
			case "race":
				return hosttest.UnderRace, nil
			case "clang":
				return hasExtra(hosttest.Clang)
			case "bundle":
				return hasExtra(hosttest.PythonWasm)
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
	})
}

// outsideDirectory makes a directory that can be granted. The scripts' own are below
// /tmp, which a guest has for itself.
func outsideDirectory() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(cache, "/tmp/") { // like the home of this user
		cache = "/var/tmp"
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	directory, err := os.MkdirTemp(cache, "cordon-test-")
	if err != nil {
		return "", err
	}
	return directory, os.Chmod(directory, 0o755) // a guest has another uid
}

// helper turns a function of arguments into a command.
func helper(work func(args []string) error) func() {
	return func() {
		if err := work(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// exits CODE[,CODE] COMMAND…: runs the command and expects one of the codes.
func exits(args []string) error {
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return expectCode(cmd.Run(), cmd, args[0])
}

func expectCode(err error, cmd *exec.Cmd, want string) error {
	if cmd.ProcessState == nil {
		return err
	}
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); !slices.Contains(strings.Split(want, ","), got) {
		return fmt.Errorf("exit code %s instead of %s (%v)", got, want, cmd.ProcessState)
	}
	return nil
}

// make-file FILE SIZE BYTE: writes a file that repeats one byte.
func makeFile(args []string) error {
	size, err := policy.ParseBytes(args[1])
	if err != nil {
		return err
	}
	b, err := strconv.ParseUint(args[2], 0, 8)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], bytes.Repeat([]byte{byte(b)}, int(size)), 0o644)
}

// field NAME…: reads one JSON object a line, and prints these fields of each.
func field(names []string) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(lines.Bytes(), &object); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		for i, name := range names {
			if i > 0 {
				fmt.Print(" ")
			}
			fmt.Printf("%s", object[name])
		}
		fmt.Println()
	}
	return lines.Err()
}

// signal NAME CODE COMMAND…: waits for the command's first line of output, sends it the
// signal and expects the code.
func sendSignal(args []string) error {
	number, known := run.SignalNumber(args[0])
	if !known {
		return fmt.Errorf("%s is not a signal", args[0])
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	// Left open: a command that reads requests must not end at the end of its input.
	go func() { _, _ = io.Copy(in, os.Stdin) }()
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("no line came before the end: %w", err)
	}
	fmt.Print(first)
	if err := cmd.Process.Signal(syscall.Signal(number)); err != nil {
		return err
	}
	if _, err := io.Copy(os.Stdout, lines); err != nil {
		return err
	}
	return expectCode(cmd.Wait(), cmd, args[1])
}

// converse COMMAND…: prints the first line of the command, and only then writes a line to
// it. It hangs if either stream is buffered.
func converse(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	question, err := lines.ReadString('\n')
	if err != nil {
		return err
	}
	fmt.Print(question)
	if _, err := io.WriteString(in, "the answer\n"); err != nil {
		return err
	}
	if _, err := io.Copy(os.Stdout, lines); err != nil {
		return err
	}
	return cmd.Wait()
}

// hang-up CODE COMMAND…: reads one line of the command's output and closes the pipe.
func hangUp(args []string) error {
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := bufio.NewReaderSize(out, 16).ReadString('\n'); err != nil {
		return err
	}
	out.Close()
	return expectCode(cmd.Wait(), cmd, args[0])
}

// endlessInput is the script command "endless-input MOST COMMAND…": it gives COMMAND an endless input and
// fails if COMMAND reads more than MOST bytes.
func endlessInput(args []string) error {
	most, err := policy.ParseBytes(args[0])
	if err != nil {
		return err
	}
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, os.Stdout, os.Stderr
	taken := make(chan int)
	go func() {
		sum := 0
		for {
			n, err := out.Write(make([]byte, 1024))
			sum += n
			if err != nil {
				taken <- sum
				return
			}
		}
	}()
	err = cmd.Run()
	in.Close() // nothing can be read from here on
	if sum := <-taken; sum > int(most) {
		return fmt.Errorf("%d bytes were taken", sum)
	}
	return err
}

// ignoreSignals opens a window and ignores signals.
func ignoreSignals([]string) error {
	ctx, _ := cli.SignalContext()
	if _, _, err := openWindow(ctx, os.Stdin, os.Stdout); err != nil {
		return err
	}
	fmt.Println("ready")
	<-ctx.Done()
	fmt.Println("not now")
	select {}
}
