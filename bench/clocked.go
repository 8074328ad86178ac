package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// clocked is a process that measures itself, so that the pipes between us are not counted.
// Its first input line is the hook. It answers each request with the seconds of each call,
// and the result of the last.
type clocked struct {
	name     string
	process  *exec.Cmd
	close    func() error
	requests *json.Encoder
	answers  *json.Decoder
	problem  bytes.Buffer
}

// startClocked starts the process.
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

// turn makes the process measure a request several times, and checks the result.
func (c *clocked) turn(into *samples, want string, request ...any) error {
	var seconds []float64
	var answer json.RawMessage
	err := c.requests.Encode(request)
	if err == nil {
		err = c.answers.Decode(&[]any{&seconds, &answer})
	}
	if err != nil {
		return err // stop returns what the process printed
	}
	if string(answer) != want {
		return fmt.Errorf("%s: %v returned %s, not %s", c.name, request, answer, want)
	}
	for _, s := range seconds {
		*into = append(*into, time.Duration(s*float64(time.Second)))
	}
	return nil
}

// stop ends the process, and returns its error if it had already ended.
func (c *clocked) stop() error {
	if err := errors.Join(c.close(), c.process.Wait()); err != nil {
		return fmt.Errorf("%s: %w: %s", c.name, err, bytes.TrimSpace(c.problem.Bytes()))
	}
	return nil
}
