package jsonlines

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

func TestArrival(t *testing.T) {
	if arrival(strings.NewReader("x")) != nil {
		t.Error("a reader that is no file can be polled")
	}
	in, client, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	arrived := arrival(in)
	if runtime.NumCPU() == 1 {
		if arrived != nil {
			t.Error("it polls on the only core")
		}
		return
	}
	expect := func(when string, want bool) {
		t.Helper()
		if got := arrived(); got != want {
			t.Errorf("%s: %t, want %t", when, got, want)
		}
	}
	expect("at the beginning", false)
	if _, err := client.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	expect("with a line", true)
	if _, err := in.Read(make([]byte, 8)); err != nil {
		t.Fatal(err)
	}
	expect("after the line", false)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	expect("at the end", true)
}
