package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testLog = `job: 6.1.0-50-cloud-amd64
== root
@ root doctor {"ok":true,"kernel":"6.1.0-50-cloud-amd64","walls":[{"name":"mount","state":"enforced"},{"name":"landlock","state":"weaker"},{"name":"cgroup","state":"enforced"}],"commands":{"ok":true,"verdict":"commands run here"}}
@ root script {"outcome":"out_of_memory"}
@ root command {"outcome":"succeeded"}
@ root proof {"name":"a/1","state":"held"}
@ root proof {"name":"a/2","state":"broken","detail":"ended early"}
@ root proof {"name":"a/3","state":"skipped"}
@ root proof {"name":"b/1","state":"slow"}
something else
@ root proof {"name":"a/1","state":"held"}
@ root proof {"name":"a/2","state":"held"}
@ root test cgroup passed
== plain
@ plain doctor {"ok":false,"kernel":"6.1.0-50-cloud-amd64","walls":[{"name":"mount","state":"missing"},{"name":"landlock","state":"enforced"},{"name":"cgroup","state":"missing"}],"commands":{"ok":true,"verdict":"commands run here without namespaces (jail: landlock); memory is watched, not limited"}}
@ plain command {"outcome":"out_of_memory"}
@ plain proof {"name":"a/1","state":"escaped","detail":"read a file"}
@ plain proof {"name":"a/1","state":"held"}
@ plain test cgroup FAILED
== unit
job: done
`

var testHosts = parseHosts("# a comment | with | bars\n6.1 | plain | a user\n6.1 | root | root\n6.1 | unit | the unit\n")

func TestRows(t *testing.T) {
	var got []string
	for _, r := range readLog("6.1", testLog) {
		h, ok := testHosts.find(r.host)
		if !ok {
			t.Fatal(r.host)
		}
		got = append(got, r.row(h.what).String())
		for _, p := range r.problems() {
			got = append(got, r.host+": "+p)
		}
	}
	want := []string{
		"| 6.1-root | root | 6.1 | 3 of 3, weaker: landlock | run | run | scripts: cgroup; commands: **not limited** (succeeded) | 2 held, 1 slow, 1 skipped | cgroup |",
		"| 6.1-plain | a user | 6.1 | 1 of 3; no mount, cgroup | refused | run (`jail: landlock`) | scripts: –; commands: watched | 0 held, 1 escaped | – |",
		"6.1-plain: escaped: a/1: read a file",
		"6.1-plain: the test cgroup failed",
		"| 6.1-unit | the unit | – | – | – | – | – | – | – |",
		"6.1-unit: it reported nothing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("want (-), got (+):\n", diff)
	}
}

const testDocument = "# Hosts\n\n" + start + end + "\nMore.\n"

// A table keeps rows that are not run, in the order of the list, and is compared cell by
// cell.
func TestTable(t *testing.T) {
	table, err := parseTable(testDocument)
	if err != nil {
		t.Fatal(err)
	}
	root := row{"6.1-root", "root", "6.1", "15 of 15", "run", "run", "scripts: cgroup", "200 held, 3 skipped", "cgroup"}
	plain := row{"6.1-plain", "a user", "6.1", "14 of 15; no cgroup", "run", "run", "scripts: address space", "203 held", "–"}
	table.set(root)
	table.set(plain)
	document := table.format(testHosts)
	if table, err = parseTable(document); err != nil || table.format(testHosts) != document {
		t.Fatalf("%v\n%s", err, document)
	}
	if !strings.Contains(document, plain.String()+"\n"+root.String()+"\n"+end) || !strings.HasSuffix(document, "More.\n") {
		t.Error(document)
	}
	if d := table.differences(row{"6.1-root", "root", "6.1", "15 of 15", "run", "run", "scripts: cgroup", "205 held, 1 skipped", "–"}); d != nil {
		t.Errorf("new attempts and no tests are differences: %q", d)
	}
	for _, got := range []row{
		{"6.1-root", "root", "6.1", "14 of 15; no pid", "run", "run", "scripts: cgroup", "203 held", "cgroup"},
		{"6.1-root", "root", "6.1", "15 of 15", "run", "refused", "scripts: cgroup", "203 held", "cgroup"},
		{"6.1-root", "root", "6.1", "15 of 15", "run", "run", "scripts: **not limited**", "203 held", "cgroup"},
		{"6.1-root", "root", "6.1", "15 of 15", "run", "run", "scripts: cgroup", "10 held, 4 skipped", "cgroup"},
		{"6.1-new", "root", "6.1", "15 of 15", "run", "run", "scripts: cgroup", "203 held", "cgroup"},
	} {
		if d := table.differences(got); len(d) != 1 {
			t.Errorf("%v: %q", got, d)
		}
	}
}

func TestTableIsNeeded(t *testing.T) {
	if _, err := parseTable("# Hosts\n"); err == nil {
		t.Error("a document without a table is accepted")
	}
}
