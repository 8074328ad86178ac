package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand() *cobra.Command {
	var opts versionOptions
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which cordon this is",
		Long:  "Say which cordon this is: version, commit, Go and platform.\n\nExit codes:\n  0  always",
		Args:  cobra.NoArgs,
		RunE: action(func(cmd *cobra.Command, _ []string) error {
			return runVersion(cmd.Context(), opts)
		}),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

type versionOptions struct{ json bool }

type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func runVersion(ctx context.Context, opts versionOptions) error {
	v := readVersion()
	out := &tap{ctx: ctx, to: os.Stdout}
	if opts.json {
		return printJSON(out, v, isTerminal(os.Stdout))
	}
	text := fmt.Sprintf("cordon %s (%s, %s)", v.Version, v.Go, v.Platform)
	if v.Commit != "" {
		text += "\ncommit " + v.Commit + " of " + v.Time
		if v.Modified {
			text += ", modified"
		}
	}
	return out.line(text)
}

func readVersion() versionInfo {
	v := versionInfo{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
