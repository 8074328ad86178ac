package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cordon-sandbox/cordon/internal/cli"
	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// The manual page names every command and flag of the tree.
func TestManPage(t *testing.T) {
	page := cli.ManPage("cordon", newRootCommand())
	for _, section := range []string{".TH CORDON 1 ", ".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH COMMANDS\n", ".SH SEE ALSO\n"} {
		if strings.Count(page, section) != 1 {
			t.Errorf("%d times %q", strings.Count(page, section), section)
		}
	}
	flags := 0
	eachCommand(newRootCommand(), func(c *cobra.Command) {
		if name := strings.ReplaceAll(c.CommandPath(), "-", `\-`); c.HasParent() && !strings.Contains(page, `.SS "`+name) {
			t.Errorf("the page does not have %s", name)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			flags++
			if !f.Hidden && !strings.Contains(page, `\-\-`+strings.ReplaceAll(f.Name, "-", `\-`)) {
				t.Errorf("the page does not have --%s", f.Name)
			}
		})
	})
	if flags < 50 {
		t.Errorf("only %d flags", flags)
	}
}

func TestManPageForGroff(t *testing.T) {
	groff := hosttest.NeedsExtra(t, hosttest.Groff)
	page := cli.ManPage("cordon", newRootCommand())
	file := filepath.Join(t.TempDir(), "cordon.1")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", "-Tutf8", file).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff: %v\n%s", err, out)
	}
}

func eachCommand(c *cobra.Command, visit func(*cobra.Command)) {
	if c.HasParent() && !c.IsAvailableCommand() {
		return
	}
	visit(c)
	for _, child := range c.Commands() {
		eachCommand(child, visit)
	}
}
