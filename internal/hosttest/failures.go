package hosttest

import "strings"

// Failures returns the part of the output of `go test -v` that is about failed tests. If no
// test failed, the program ended for another reason, and Failures returns all of it.
func Failures(output string) string {
	var (
		names  []string // in the order of their first lines
		lines  = map[string]string{}
		failed = map[string]bool{}
		now    string // the test that printed last
	)
	for line := range strings.Lines(output) {
		switch words := strings.Fields(line); {
		case len(words) < 3:
		case strings.HasPrefix(line, "==="): // not one in the output of another program
			if now = words[2]; lines[now] == "" {
				names = append(names, now)
			}
		case words[0] == "---" && words[1] == "FAIL:":
			failed[words[2]] = true
		}
		lines[now] += line
	}
	if len(failed) == 0 {
		return output
	}
	var kept strings.Builder
	for _, name := range names {
		if failed[name] {
			kept.WriteString(lines[name])
		}
	}
	return kept.String()
}
