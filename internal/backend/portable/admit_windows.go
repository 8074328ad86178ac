package portable

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// interpreters are the names of programs that run code from their arguments. Renamed
// copies are not detected here.
var interpreters = strings.Fields("cmd powershell pwsh wscript cscript mshta rundll32 regsvr32 msbuild forfiles " +
	"python python3 pythonw py node perl ruby php lua tclsh bash sh zsh wsl java")

// admit finds the program and checks its name.
func (b *Commands) admit(job backend.Job, p paths) (program string, refusals []run.Violation, err error) {
	if program, err = findProgram(job.Command.Args[0], p.start(), b.searchDirectories(job)); err != nil {
		return "", nil, err
	}
	name := strings.ToLower(strings.TrimSuffix(filepath.Base(program), filepath.Ext(program)))
	if slices.Contains(interpreters, name) && !b.options.Policy.AllowInterpreters {
		refusals = append(refusals, hints.Give(run.Violation{
			Wall: policy.WallCommand, Op: "interpreter", Detail: program + " runs code from its arguments", Count: 1,
		}, run.HintAllowInterpreter, nil))
	}
	return program, refusals, nil
}

// findProgram searches for a program as CreateProcess would, but not in the working
// directory, so that a file in the workspace does not become a command by accident.
func findProgram(name, dir string, path []string) (string, error) {
	var candidates []string
	if strings.ContainsAny(name, `\/`) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		candidates = []string{name, name + ".exe"}
	} else {
		for _, directory := range path {
			if filepath.IsAbs(directory) {
				candidates = append(candidates, filepath.Join(directory, name), filepath.Join(directory, name+".exe"))
			}
		}
	}
	for _, c := range candidates {
		info, err := os.Stat(c)
		switch {
		case errors.Is(err, os.ErrNotExist), err == nil && info.IsDir():
			continue
		case err != nil:
			return "", run.Errorf(run.NotExecutable, "%s cannot be run: %w", c, err)
		}
		if !strings.EqualFold(filepath.Ext(c), ".exe") {
			return "", run.Errorf(run.NotExecutable, "%s is not an .exe: a batch file needs cmd, which --allow-interpreters lets you name", c)
		}
		return c, nil
	}
	return "", run.Errorf(run.NotFound, "%s was not found: give its path, or a PATH by --env", name)
}

// commandWords describes what admit checks.
func commandWords(interpreters bool) policy.WallStatus {
	if interpreters {
		return policy.EnforcedWall("interpreters are allowed")
	}
	return policy.EnforcedWall("only the program's name is checked, not its arguments")
}

// systemEnvironment is what programs cannot work without: they use it to find libraries.
func systemEnvironment() []string {
	var kept []string
	for _, name := range []string{"SYSTEMROOT", "WINDIR", "SYSTEMDRIVE", "COMSPEC"} {
		if value, ok := os.LookupEnv(name); ok {
			kept = append(kept, name+"="+value)
		}
	}
	return kept
}
