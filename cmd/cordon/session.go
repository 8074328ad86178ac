package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

func newSessionCommand() *cobra.Command {
	var opts sessionOptions
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Run Python step by step in a sandbox that keeps its state",
		Long: `Open a session and run what is typed: one step after another in the same
Python, behind the same walls as cordon run. Variables, functions and imports
stay until the session ends.

A statement is a step. A block ends with an empty line, or with the next
statement that is not indented. The value of a step's last expression is shown,
and whatever the step shows with display(). Pictures are drawn in terminals that
can (kitty, Ghostty, iTerm2, WezTerm, mintty); elsewhere they are saved in a new
directory below the one for temporary files, and standard error has the path.

Ctrl-C interrupts the running step, and the session goes on; at the prompt it
clears the line. Tab completes names and file names. Ctrl-D leaves. These commands begin with a colon:

` + sessionHelp() + `
Each session starts in /work with the files that --file gives it.

Without a terminal, steps are read from standard input in the same way, and
nothing else is printed: printf 'x = 1\nx + 1\n' | cordon session prints 2. The
exit code is that of the last step, or of a command about files that failed after
it.

With --json, standard output has the Result of each step on a line.

Limits of time, output and results are for each step; those on memory, CPUs,
threads, open files and scratch are for the whole session. A step that reaches a
limit is interrupted, and the session goes on. If it does not end then, or if
its process ends, the state is lost, and a new session begins.

` + exitHelp,
		Example: `  cordon session
  cordon session -m 1GiB -t 60s --python /opt/data/bin/python
  cordon session --file sales.csv
  cordon session --json < steps.py`,
		Args: cli.Arguments(0, 0),
		RunE: cli.Action(func(cmd *cobra.Command, _ []string) error {
			if err := opts.resolve(cmd); err != nil {
				return err
			}
			return runSession(cmd.Context(), opts)
		}),
	}
	opts.addTo(cmd)
	return cmd
}

type sessionOptions struct {
	guestOptions
	fileOptions
	shownOptions
}

func (o *sessionOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	all := tiers.All()
	o.fileOptions.addTo(f, "the session")
	able := slices.DeleteFunc(all.For(policy.GuestScript), func(t policy.Tier) bool { return !all.Offers(t, backend.Sessions) })
	o.guestOptions.addTo(cmd, able, "a step")
	o.shownOptions.addTo(f)
}

func (o *sessionOptions) resolve(cmd *cobra.Command) error {
	if err := o.resolveShown(cmd.Flags().Changed); err != nil {
		return err
	}
	if err := knownNames(policy.Tier(o.tier), policy.Trust(o.trust), policy.OutputAction(o.onOutputLimit)); err != nil {
		return err
	}
	return cli.OneClaim(cli.Claim{Name: "the session", Wanted: true}, o.PolicyOptions.Claim())
}

// tierName returns the tier of the sessions.
func (o *sessionOptions) tierName() policy.Tier {
	return cmp.Or(policy.Tier(o.tier), tiers.All().Offering(backend.Sessions))
}

func runSession(ctx context.Context, opts sessionOptions) (err error) {
	given, err := opts.given()
	if err != nil {
		return err
	}
	p, err := opts.Load()
	if err != nil {
		return err
	}
	if p, err = forOneRun(p, opts.limitOptions); err != nil {
		return err
	}
	runner, err := cordon.NewRunnerContext(ctx, cordon.Options{Policy: p, Tier: opts.first(), Language: opts.language(p), OneShot: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, runner.Close()) }()
	lines, isPerson, closeLines := openLines(ctx, opts.json)
	defer closeLines()
	c := &sessionConsole{
		opts: opts, given: given, limits: p.Limits, restricted: opts.restricted || p.Restricts(), runner: runner, lines: lines, person: isPerson,
		stdout: &tap{ctx: ctx, to: os.Stdout}, stderr: &tap{ctx: ctx, to: os.Stderr},
		how: presentation{step: true, quiet: opts.quiet, verbose: opts.verbose, color: colored(os.Stderr), width: cli.Width(os.Stderr)},
	}
	if isTerminal(os.Stdout) && isTerminal(os.Stderr) {
		c.stdout.beside, c.stderr.beside = c.stderr, c.stdout
	}
	c.pictures.protocol = pictureProtocol(isTerminal(os.Stdout), os.Getenv)
	return c.converse(ctx)
}

// sessionConsole runs the steps that somebody types, or that a program writes.
type sessionConsole struct {
	opts       sessionOptions
	given      []run.File
	limits     policy.Limits
	restricted bool
	runner     *cordon.Runner
	session    *cordon.Session
	lines      lineSource
	person     bool
	splitter   stepSplitter
	pictures   pictures
	code       int // of the last step

	stdout, stderr *tap
	how            presentation

	mu   sync.Mutex
	stop context.CancelFunc // ends what is running, or is nil
}

// Errors of a lineSource, beside io.EOF.
var errInterrupted = errors.New("interrupted")

// The prompts for a step, and for the rest of one.
const (
	firstPrompt = ">>> "
	nextPrompt  = "... "
)

// converse reads and runs steps until the input ends.
func (c *sessionConsole) converse(ctx context.Context) (err error) {
	if err := c.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.session.Close()) }()
	if c.person {
		cli.OnInterrupt(ctx, c.interrupt)
	}
	if editor, is := c.lines.(*lineEditor); is {
		editor.complete = func(line string) (string, []string) { return c.complete(ctx, line) }
	}
	if c.person && !c.opts.quiet && !c.opts.json {
		if err := c.say("Python on tier %s. :help shows the commands, Ctrl-D leaves.", c.opts.tierName()); err != nil {
			return err
		}
	}
	for {
		line, err := c.read(ctx)
		switch {
		case errors.Is(err, errInterrupted):
			c.splitter = stepSplitter{}
			continue
		case errors.Is(err, io.EOF) && c.person:
			return nil
		case errors.Is(err, io.EOF):
			if err := c.runAll(ctx, []string{c.splitter.flush()}); err != nil && !errors.Is(err, errLeave) {
				return err
			}
			return conclude(c.code, nil)
		case err != nil:
			return err
		}
		if err = c.take(ctx, line); errors.Is(err, errLeave) {
			if c.person {
				return nil
			}
			return conclude(c.code, nil)
		}
		if err != nil {
			return err
		}
	}
}

// read reads a line. The prompt begins on a new line.
func (c *sessionConsole) read(ctx context.Context) (string, error) {
	if !c.person {
		return c.lines.next(ctx, "")
	}
	if out := c.unfinished(); out != nil {
		if _, err := io.WriteString(out, "\n"); err != nil {
			return "", outputLost(err)
		}
	}
	if c.splitter.waits() {
		return c.lines.next(ctx, nextPrompt)
	}
	return c.lines.next(ctx, firstPrompt)
}

// unfinished returns the stream that has left a terminal in the middle of a line.
func (c *sessionConsole) unfinished() *tap {
	for _, t := range []*tap{c.stdout, c.stderr} {
		if f, ok := t.to.(*os.File); ok && t.open && isTerminal(f) {
			return t
		}
	}
	return nil
}

// take runs a line: a command, or what becomes a complete step with it.
func (c *sessionConsole) take(ctx context.Context, line string) error {
	if command, is := strings.CutPrefix(line, ":"); is && c.splitter.mayEnd() {
		if err := c.runAll(ctx, []string{c.splitter.flush()}); err != nil {
			return err
		}
		return c.command(ctx, strings.TrimSpace(command))
	}
	return c.runAll(ctx, c.splitter.add(line))
}

// leavingSteps are what people type to leave a Python.
var leavingSteps = []string{"exit", "exit()", "quit", "quit()"}

func (c *sessionConsole) runAll(ctx context.Context, steps []string) error {
	for _, step := range steps {
		switch {
		case step == "":
			continue
		case slices.Contains(leavingSteps, strings.TrimSpace(step)):
			return errLeave
		}
		if err := c.step(ctx, step); err != nil {
			return err
		}
	}
	return nil
}

// step runs a step and shows it. It returns an error if there can be no further one.
func (c *sessionConsole) step(ctx context.Context, source string) error {
	work, done := c.interruptible(ctx)
	defer done()
	request := c.request(source)
	if !c.opts.json {
		var mu sync.Mutex
		request.Streams = run.Streams{Out: &sharedTap{&mu, c.stdout}, Err: &sharedTap{&mu, c.stderr}, CaptureLimit: policy.KiB}
	}
	res, err := c.run(ctx, work, request)
	if err != nil || res.Step == nil {
		return err
	}
	if lost := cmp.Or(c.stdout.err, c.stderr.err); lost != nil {
		return outputLost(lost)
	}
	if err := c.show(work, res); err != nil {
		return err
	}
	return c.after(ctx, res)
}

func (c *sessionConsole) request(source string) run.Request {
	return run.Request{
		Script: run.Script{Source: source}, Trust: policy.Trust(c.opts.trust),
		OnOutputLimit: policy.OutputAction(c.opts.onOutputLimit),
	}
}

// run runs a request. An error that leaves the session usable is shown to a person, and the
// Result has no Step then.
func (c *sessionConsole) run(ctx, work context.Context, request run.Request) (run.Result, error) {
	res, err := c.session.Run(work, request)
	switch {
	case errors.Is(context.Cause(ctx), cli.ErrPipe):
		return res, cli.ErrPipe // nobody would read the Result
	case err == nil && ctx.Err() != nil && !c.opts.json:
		return res, ctx.Err()
	case err == nil:
		c.code = resultCode(ctx, res)
		return res, nil
	case ctx.Err() != nil:
		return res, ctx.Err()
	case work.Err() != nil: // before the step began
		return run.Result{}, nil
	case errors.Is(err, run.ErrGone):
		c.code = cli.ClassCode(run.Gone)
		return run.Result{}, errors.Join(c.warn("%v", err), c.reopen(ctx))
	case c.person && run.ClassOf(err) == run.Invalid:
		return run.Result{}, c.warn("%v", err)
	}
	return res, err
}

// after replaces a session that has ended.
func (c *sessionConsole) after(ctx context.Context, res run.Result) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case res.Step.Survived:
		return nil
	}
	return c.reopen(ctx)
}

func (c *sessionConsole) reopen(ctx context.Context) error {
	if err := c.warn("the session ended, and its state is lost: a new one begins"); err != nil {
		return err
	}
	return c.reset(ctx)
}

// reset replaces the session by a new one.
func (c *sessionConsole) reset(ctx context.Context) error {
	if err := c.session.Close(); err != nil {
		return err
	}
	c.splitter = stepSplitter{}
	return c.open(ctx)
}

func (c *sessionConsole) open(ctx context.Context) error {
	s, err := c.runner.OpenSession(ctx, run.SessionOptions{
		Restricted: c.restricted, Trust: policy.Trust(c.opts.trust), Tier: policy.Tier(c.opts.tier),
	})
	if err != nil {
		return err
	}
	if err := putGiven(s, c.given); err != nil {
		return errors.Join(err, s.Close())
	}
	c.session = s
	return nil
}

// interruptible returns a context that ^C ends too.
func (c *sessionConsole) interruptible(ctx context.Context) (work context.Context, done func()) {
	work, stop := context.WithCancel(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = stop
	return work, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stop = nil
		stop()
	}
}

// interrupt ends what is running. Nothing may be: ^C came late.
func (c *sessionConsole) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop != nil {
		c.stop()
	}
}

// say writes a line for a person: to standard output, unless that is for a program.
func (c *sessionConsole) say(format string, args ...any) error {
	to := c.stdout
	if c.opts.json {
		to = c.stderr
	}
	if err := to.line(fmt.Sprintf(format, args...)); err != nil {
		return outputLost(err)
	}
	return nil
}

// warn writes a line of cordon's own to standard error.
func (c *sessionConsole) warn(format string, args ...any) error {
	if c.opts.quiet {
		return nil
	}
	if err := c.stderr.line(notice{line: oneLine(fmt.Sprintf(format, args...)), calm: true}.show(c.how)); err != nil {
		return outputLost(err)
	}
	return nil
}

// sharedTap is a tap for a stream that another one writes beside.
type sharedTap struct {
	mu *sync.Mutex
	*tap
}

func (t *sharedTap) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tap.Write(p)
}
