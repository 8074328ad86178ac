package process

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/run"
)

func TestNeedOf(t *testing.T) {
	for source, want := range map[string]need{
		"":                                  needsNothing,
		"result = 42":                       needsNothing,
		"for i in enumerate(x): pass":       needsNothing,
		"from ":                             needsNothing,
		"import ":                           needsPreload,
		"import json":                       needsPreload,
		"import stringprep":                 needsPreload,
		"import urllib.request":             needsPreload,
		"importlib.import_module('typing')": needsPreload,
		"import string":                     needsCommon,
		"import json\nimport string\n":      needsCommon,
		"import json; import copy; x = 1":   needsCommon,
		"from dataclasses import dataclass": needsCommon,
		"from enum import Enum":             needsCommon,
		"import urllib.parse":               needsCommon,
		"import asyncio":                    needsAsync,
		"import asyncio.subprocess":         needsAsync,
		"import enum\nfrom threading import Lock\nimport csv": needsAsync,
	} {
		if got := needOf(source); got != want {
			t.Errorf("%q needs %d, want %d", source, got, want)
		}
	}
}

// A script gets a worker that has the modules that it imports, and not many others.
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
		want   []string
	}{
		{"x = 1", []string{}},
		{"import json", []string{"json"}},
		{"import typing", []string{"json", "dataclasses"}},
		{"import logging", []string{"json", "asyncio"}},
	} {
		// The pool for the script starts with the first one.
		deadline := time.Now().Add(time.Minute)
		for !slices.Equal(loaded(test.script), test.want) {
			if time.Now().After(deadline) {
				t.Fatalf("%q: %v are loaded, want %v", test.script, loaded(test.script), test.want)
			}
		}
	}
}
