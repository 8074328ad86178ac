package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// clocked is a process that has the clock itself: nothing of what lies between us and it
// is counted. Its first line is the hook; then each request is answered with the seconds
// of each call, and what came of the last.
type clocked struct {
	name     string
	process  *exec.Cmd
	close    func() error
	requests *json.Encoder
	answers  *json.Decoder
	problem  bytes.Buffer
}

// startClocked starts it.
func startClocked(name string, process *exec.Cmd) (*clocked, error) {
	c := &clocked{name: name, process: process}
	process.Stderr = &c.problem
	in, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.close, c.requests, c.answers = in.Close, json.NewEncoder(in), json.NewDecoder(out)
	if err := process.Start(); err != nil {
		return nil, err
	}
	if err := c.requests.Encode([]any{hookScript, hookState, hookConfig}); err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return c, nil
}

// turn has it measure something several times, which has to give what is wanted.
func (c *clocked) turn(into *samples, want string, request ...any) error {
	var seconds []float64
	var answer json.RawMessage
	err := c.requests.Encode(request)
	if err == nil {
		err = c.answers.Decode(&[]any{&seconds, &answer})
	}
	if err != nil {
		return err // stop has what the process says
	}
	if string(answer) != want {
		return fmt.Errorf("%s gave %s for %v, and not %s", c.name, answer, request, want)
	}
	for _, s := range seconds {
		*into = append(*into, time.Duration(s*float64(time.Second)))
	}
	return nil
}

// stop ends the process, and gives what it died of if it is dead already.
func (c *clocked) stop() error {
	if err := errors.Join(c.close(), c.process.Wait()); err != nil {
		return fmt.Errorf("%s: %w: %s", c.name, err, bytes.TrimSpace(c.problem.Bytes()))
	}
	return nil
}
