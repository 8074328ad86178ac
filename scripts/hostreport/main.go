// Command hostreport reads what the machines of scripts/hosts reported, and compares it with
// the table in docs/hosts.md.
//
//	hostreport [-update] MACHINE.log…
//
// It prints a row for each host. Its exit code is 1 if a host differs from its row, reports
// nothing, fails a test, or does not stop an attempt. An attempt that was too slow shows
// nothing, and is no failure: the machines are slow, and more so on a busy host. With
// -update it writes the rows into the table, unless an attempt escaped.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/newfile"
)

const (
	listFile  = "scripts/hosts.d/hosts"
	tableFile = "docs/hosts.md"
)

func main() {
	update := flag.Bool("update", false, "write the rows into the table")
	flag.Parse()
	ok, err := run(*update, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostreport:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(update bool, logs []string) (ok bool, err error) {
	list, err := os.ReadFile(listFile)
	if err != nil {
		return false, err
	}
	document, err := os.ReadFile(tableFile)
	if err != nil {
		return false, err
	}
	t, err := parseTable(string(document))
	if err != nil {
		return false, fmt.Errorf("%s: %w", tableFile, err)
	}
	hosts, ok := parseHosts(string(list)), true
	for _, name := range logs {
		log, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		machine := strings.TrimSuffix(filepath.Base(name), ".log")
		for _, r := range readLog(machine, string(log)) {
			h, known := hosts.find(r.host)
			if !known {
				return false, fmt.Errorf("%s: %s does not list the host %s", name, listFile, r.host)
			}
			row := r.row(h.what)
			fmt.Println(row)
			problems := r.problems()
			if !update {
				problems = append(problems, t.differences(row)...)
			} else if r.count("escaped") == 0 {
				t.set(row)
			}
			for _, p := range problems {
				ok = false
				fmt.Printf("FAIL %s: %s\n", r.host, p)
			}
		}
	}
	if !update {
		return ok, nil
	}
	return ok, newfile.Write(tableFile, []byte(t.format(hosts)), 0o644)
}
