package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// lineProgram is a program that answers each line on its input with one on its output.
type lineProgram struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Reader
}

func startLines(ctx context.Context, line ...string) (*lineProgram, error) {
	p := &lineProgram{cmd: exec.CommandContext(ctx, line[0], line[1:]...)}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		p.in, err = p.cmd.StdinPipe()
	}
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	p.answers = bufio.NewReader(out)
	return p, nil
}

// ask sends one line, and checks the answer.
func (p *lineProgram) ask(line, want string) (time.Duration, error) {
	begin := time.Now()
	if _, err := io.WriteString(p.in, line); err != nil {
		return 0, err
	}
	answer, err := p.answers.ReadSlice('\n')
	for errors.Is(err, bufio.ErrBufferFull) { // read the whole line
		answer, err = p.answers.ReadSlice('\n')
	}
	took := time.Since(begin)
	if err == nil && !bytes.Contains(answer, []byte(want)) {
		err = fmt.Errorf("the answer to %s has no %s: %s", line, want, answer)
	}
	return took, err
}

// close ends the program by disconnecting.
func (p *lineProgram) close() error { return errors.Join(p.in.Close(), p.cmd.Wait()) }
