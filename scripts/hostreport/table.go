package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// columns are the header of the table.
var columns = row{"host", "cordon runs as", "Linux", "walls", "scripts", "commands", "memory limit", "attempts to break out", "tests"}

// A row has the cells of one host; the first is its name.
type row [9]string

func (r row) String() string { return "| " + strings.Join(r[:], " | ") + " |" }

// A table is that in a document, between two comments.
type table struct {
	before, after string
	rows          map[string]row
}

const start, end = "<!-- scripts/hosts writes this table -->\n", "<!-- end -->\n"

func parseTable(document string) (*table, error) {
	before, rest, found := strings.Cut(document, start)
	inside, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return nil, errors.New("there is no table between " + strings.TrimSpace(start) + " and " + strings.TrimSpace(end))
	}
	t := &table{before + start, end + after, map[string]row{}}
	for line := range strings.Lines(inside) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		var r row
		if len(cells) != len(r) || strings.Contains(line, "---") {
			continue
		}
		for i, c := range cells {
			r[i] = strings.TrimSpace(c)
		}
		if r != columns {
			t.rows[r[0]] = r
		}
	}
	return t, nil
}

func (t *table) set(r row) { t.rows[r[0]] = r }

// format returns the document, with the hosts in the order of the list.
func (t *table) format(hosts hostList) string {
	lines := []string{columns.String(), strings.Repeat("| --- ", len(columns)) + "|"}
	for _, h := range hosts {
		if r, ok := t.rows[h.name]; ok {
			lines = append(lines, r.String())
		}
	}
	return t.before + strings.Join(lines, "\n") + "\n" + t.after
}

// differences compares a row with the table. New attempts may be held, and a run may make
// only some of them, but none may be skipped that was made before. A run may also have no
// tests.
func (t *table) differences(got row) []string {
	want, known := t.rows[got[0]]
	if !known {
		return []string{"the table has no row for it: UPDATE=1 adds one"}
	}
	var all []string
	for i, column := range columns[:7] {
		if got[i] != want[i] {
			all = append(all, fmt.Sprintf("%s: %s; the table has: %s", column, got[i], want[i]))
		}
	}
	if skipped(got[7]) > skipped(want[7]) {
		all = append(all, fmt.Sprintf("attempts: %s; the table has: %s", got[7], want[7]))
	}
	return all
}

var skippedAttempts = regexp.MustCompile(`(\d+) skipped`)

func skipped(attempts string) int {
	if m := skippedAttempts.FindStringSubmatch(attempts); m != nil {
		n, err := strconv.Atoi(m[1])
		if err == nil {
			return n
		}
	}
	return 0
}
