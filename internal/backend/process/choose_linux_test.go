package process

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

func TestScanImports(t *testing.T) {
	for source, want := range map[string][2]bool{
		"":                                  {false, false},
		"result = 42":                       {false, false},
		"import json":                       {true, false},
		"import string":                     {true, true},
		"import stringprep":                 {true, false},
		"import json\nimport string\n":      {true, true},
		"import json; import copy; x = 1":   {true, true},
		"from dataclasses import dataclass": {true, true},
		"from enum import Enum":             {true, true},
		"for i in enumerate(x): pass":       {false, false},
		"import urllib.parse":               {true, true},
		"import urllib.request":             {true, false},
		"import asyncio.subprocess":         {true, true},
		"importlib.import_module('typing')": {true, false},
		"import ":                           {true, false},
		"from ":                             {false, false},
	} {
		if imports, common := scanImports(source); [2]bool{imports, common} != want {
			t.Errorf("%q: imports %v, a common module %v; want %v", source, imports, common, want)
		}
	}
}

// A script that imports a common module gets a worker that has it. The others have neither
// that module nor, without any import, the policy's.
func TestWorkersHaveWhatScriptsImport(t *testing.T) {
	b := open(t, Options{Policy: systemPython})
	loaded := func(script string) []string {
		job := jobOf(b, script, []string{"json", "dataclasses", "asyncio"})
		// This way to sys.modules does without the word.
		job.Script.Source += "\nresult = [name for name in context if name in type(exit).__call__.__globals__['sys'].modules]"
		r := runJob(t, b, job)
		var names []string
		if err := json.Unmarshal(r.Value, &names); err != nil || r.Outcome != run.Succeeded {
			t.Fatalf("%s: %v", r.Error, err)
		}
		return names
	}
	for _, test := range []struct {
		script string
		want   int
	}{{"x = 1", 0}, {"import json", 1}, {"import typing", 3}} {
		// The pool for the script starts with the first one.
		deadline := time.Now().Add(time.Minute)
		for len(loaded(test.script)) != test.want {
			if time.Now().After(deadline) {
				t.Fatalf("%q: %v are loaded, want %d of them", test.script, loaded(test.script), test.want)
			}
		}
	}
}
