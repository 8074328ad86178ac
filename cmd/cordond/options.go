package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/cordon-sandbox/cordon/internal/admission"
	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// serviceOptions say what is offered, on any frontend.
type serviceOptions struct {
	cli.PolicyOptions
	allowCommands           bool
	workspaces              []string
	fileRoots               []string
	concurrent, queue, idle int
	answers                 admission.AnswerOptions
	audit                   auditOptions
	logFormat, logLevel     string
}

// auditOptions say where runs are recorded.
type auditOptions struct {
	file, key string
	required  bool
}

func (o *serviceOptions) addTo(cmd *cobra.Command) {
	o.AddTo(cmd)
	o.AddWasmTo(cmd)
	f := cmd.Flags()
	o.concurrent, o.queue, o.idle = 2*runtime.NumCPU(), 1024, 8
	f.BoolVar(&o.allowCommands, "allow-commands", false, "run commands too, not only scripts")
	f.StringArrayVar(&o.workspaces, "workspace", nil, "a `DIRECTORY` in and below which commands may work (repeatable); without one they have a private /tmp")
	f.StringArrayVar(&o.fileRoots, "files-from", nil, "a `DIRECTORY` below which requests may name files that a script gets (repeatable); without one they have to send the data")
	f.Var(cli.Counted(&o.concurrent), "concurrent", "how many runs may be under way at once")
	f.Var(cli.Counted(&o.queue), "queue", "how many requests may wait for their turn; further ones are refused and may be retried")
	o.answers = admission.AnswerOptions{PerCaller: admission.DefaultAnswersPerCaller, Total: admission.DefaultAnswers}
	f.Var(cli.Measured(&o.answers.Total, policy.ParseBytes), "unread-answers", "how much memory unread answers may take; further requests are refused and may be retried")
	f.Var(cli.Measured(&o.answers.PerCaller, policy.ParseBytes), "unread-answers-per-caller", "the same, for each token")
	f.Var(cli.Counted(&o.idle), "idle", "how many idle workers to keep ready, each with about 3 MiB")
	f.StringVar(&o.audit.file, "audit-file", "", "record every run in this `FILE`, which cordon audit reads")
	cli.Alias(f, "audit-file", "audit")
	f.StringVar(&o.audit.key, "audit-key", "", "a `FILE` with a key, without which nobody can forge the record")
	f.BoolVar(&o.audit.required, "audit-required", false, "run nothing that cannot be recorded")
	f.StringVar(&o.logFormat, "log-format", "text", "the log on standard error: `FORMAT` is text or json")
	f.StringVar(&o.logLevel, "log-level", "info", "the lowest level to log: `LEVEL` is debug, info, warn or error")
	cli.Complete(cmd, "log-format", cli.Names([]string{"text", "json"}))
	cli.Complete(cmd, "log-level", cli.Names([]string{"debug", "info", "warn", "error"}))
}

// validate checks the flags before anything is opened.
func (o *serviceOptions) validate() error {
	if o.audit.file == "" && (o.audit.key != "" || o.audit.required) {
		return run.Errorf(run.Invalid, "--audit-key and --audit-required need --audit-file FILE: name the file")
	}
	if o.answers.PerCaller > o.answers.Total {
		return run.Errorf(run.Invalid, "--unread-answers-per-caller is %v, above --unread-answers, which is %v", o.answers.PerCaller, o.answers.Total)
	}
	if len(o.workspaces) > 0 && !o.allowCommands {
		return run.Errorf(run.Invalid, "--workspace is for commands: add --allow-commands")
	}
	if err := resolve("--workspace", o.workspaces); err != nil {
		return err
	}
	return resolve("--files-from", o.fileRoots)
}

// resolve replaces directories by their real paths, with which requests are compared.
func resolve(flag string, directories []string) error {
	for i, directory := range directories {
		real, err := filepath.EvalSymlinks(directory)
		if err == nil {
			real, err = filepath.Abs(real)
		}
		if err != nil {
			return run.Errorf(run.Invalid, "%s %s: %w", flag, directory, err)
		}
		if info, err := os.Stat(real); err != nil || !info.IsDir() {
			return run.Errorf(run.Invalid, "%s %s: not a directory", flag, directory)
		}
		directories[i] = real
	}
	return nil
}

// logger writes to standard error: standard output may carry a protocol.
func (o *serviceOptions) logger() (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return nil, run.Errorf(run.Invalid, "--log-level: %q is not debug, info, warn or error", o.logLevel)
	}
	how := &slog.HandlerOptions{Level: level}
	switch o.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(os.Stderr, how)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(os.Stderr, how)), nil
	}
	return nil, run.Errorf(run.Invalid, "--log-format: %q is neither text nor json", o.logFormat)
}

// webOptions say where the service listens, and for which callers.
type webOptions struct {
	listen, tokens  string
	metricsListen   string
	tlsCert, tlsKey string
	grace           time.Duration
	connections     int
}

// wantedConnections is the default of --connections if there are enough descriptors.
const wantedConnections = 4096

const defaultListen = "127.0.0.1:8734"

func (o *webOptions) addTo(cmd *cobra.Command) {
	f := cmd.Flags()
	o.grace, o.connections = 10*time.Second, mostConnections()
	f.StringVar(&o.listen, "listen", defaultListen, "the `ADDRESS` to listen on: HOST:PORT, or unix:PATH")
	f.StringVar(&o.tokens, "tokens", "", "a `FILE` with the callers' tokens (cordon token new NAME); reread on SIGHUP")
	f.StringVar(&o.tlsCert, "tls-cert", "", "a `FILE` with a certificate chain (PEM); reread on SIGHUP")
	f.StringVar(&o.tlsKey, "tls-key", "", "a `FILE` with the certificate's key (PEM)")
	f.StringVar(&o.metricsListen, "metrics-listen", "", "a separate `ADDRESS` for /metrics, without tokens; it is then not at --listen")
	f.Var(cli.Counted(&o.connections), "connections", "how many connections may be open at once; further ones are refused and may be retried")
	f.Var(cli.Measured(&o.grace, policy.ParseDuration), "grace", "how long runs may continue after SIGTERM")
}

func (o *webOptions) validate() error {
	if (o.tlsCert == "") != (o.tlsKey == "") {
		return run.Errorf(run.Invalid, "--tls-cert and --tls-key go together")
	}
	return nil
}
