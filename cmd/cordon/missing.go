package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cordon-sandbox/cordon/internal/backend"
	"github.com/cordon-sandbox/cordon/internal/tiers"
	"github.com/cordon-sandbox/cordon/run"
)

// missingFile returns a hint if the guest did not find a file or module that the user has: in the
// current directory or beside the script. The name is the guest's word. It is only used to ask
// whether there is such a file.
func missingFile(res run.Result, how presentation) string {
	if res.Exception == nil || !tiers.All().Offers(res.Enforcement.Tier, backend.Files) {
		return ""
	}
	for _, name := range missingNames(*res.Exception) {
		if name == "." || !filepath.IsLocal(name) || slices.ContainsFunc(how.given, func(f run.File) bool { return f.Name == name }) {
			continue
		}
		for _, at := range []string{name, filepath.Join(filepath.Dir(how.name), name)} {
			info, err := os.Lstat(at)
			switch {
			case err != nil || strings.ContainsFunc(at, unfitForHint):
			case info.IsDir():
				const file = "FILE"
				return at + " is a directory of yours: " + howToGive(path.Join(name, file), filepath.Join(at, file), how.step) + " for each " + file + " in it"
			case info.Mode().IsRegular() || info.Mode()&os.ModeSymlink != 0:
				return at + " is a file of yours: " + howToGive(name, at, how.step)
			}
		}
	}
	return ""
}

// unfitForHint reports whether a shell or the flag could read a character in a different way.
func unfitForHint(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" ._-+@,/"+string(filepath.Separator), r)
}

// howToGive returns what the user writes to give the guest a file under a name.
func howToGive(name, at string, step bool) string {
	same := nameInWork(at) == name
	switch {
	case step && same:
		return "write :put " + inQuotes(at)
	case step:
		return "write :put " + inQuotes(at) + " " + inQuotes(name)
	case same:
		return "add --file " + inQuotes(at)
	}
	return "add --file " + inQuotes(name+"="+at)
}

func inQuotes(s string) string {
	if strings.Contains(s, " ") {
		return `"` + s + `"`
	}
	return s
}

var (
	// missingData has the messages of the operating system and of numpy.
	missingData   = regexp.MustCompile(`^(?:\[(?:Errno 2|WinError [23])\] [^'"]*: (?:'([^'\\]+)'|"([^"\\]+)")|([^'"]+) not found\.)$`)
	missingModule = regexp.MustCompile(`^No module named '([\w.]+)'$`)
)

// missingNames returns what is missing, as names below /work: one of them.
func missingNames(e run.Exception) []string {
	data, module := missingData.FindStringSubmatch(e.Message), missingModule.FindStringSubmatch(e.Message)
	switch {
	case e.Type == "FileNotFoundError" && data != nil:
		name := data[1] + data[2] + data[3]
		for _, work := range []string{"/work/", "/tmp/work/"} { // the first is a link to the second
			name = strings.TrimPrefix(name, work)
		}
		return []string{path.Clean(name)}
	case e.Type == "ModuleNotFoundError" && module != nil:
		name := strings.ReplaceAll(module[1], ".", "/")
		return []string{name + ".py", name + "/__init__.py", name}
	}
	return nil
}
