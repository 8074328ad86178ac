//go:build unix

package script_test

import (
	"testing"

	"github.com/cordon-sandbox/cordon/run"
)

// toolScripts work with and without the language rules.
var toolScripts = []expectation{
	{"a value", "result = tools.add(1, 2, 3) + 1", run.Succeeded, "7"},
	{"no arguments", "result = tools.echo()", run.Succeeded, `{"args":[],"kwargs":{}}`},
	{
		"all kinds of arguments", "result = tools.echo(None, True, 1, 2.5, 'é\\ud800', [1, (2,)], a={'x': {}, 1: 2}, b='')", run.Succeeded,
		`{"args":[null,true,1,2.5,"é\ud800",[1,[2]]],"kwargs":{"a":{"x":{},"1":2},"b":""}}`,
	},
	{"a large number", "result = tools.echo(2 ** 100)['args'][0] == 2 ** 100", run.Succeeded, "true"},
	{"an error", "tools.add(1, 'x')", run.Raised, `ToolError: tool add: ValueError: "x" is no number (line 1)`},
	{"an error without a type", "tools.fail()", run.Raised, "ToolError: tool fail: nobody is there (line 1)"},
	{
		"an error that is caught", "try:\n    tools.add('x')\nexcept tools.Error as e:\n    result = [e.tool, e.type, str(e)[:8]]",
		run.Succeeded, `["add","ValueError","tool add"]`,
	},
	{"an error of the script's own", "raise tools.Error('mine')", run.Raised, "ToolError: mine (line 1)"},
	{"an unknown tool", "tools.subtract(1)", run.Raised, "AttributeError: there is no tool subtract; there are: add, echo, fail (line 1)"},
	{"whether there is one", "result = [hasattr(tools, 'add'), hasattr(tools, 'subtract')]", run.Succeeded, "[true,false]"},
	{"a bad argument", "tools.echo(1, {'x': [0, {1}]})", run.Raised, "TypeError: tools.echo: args[1]['x'][1] is a set object, which is not a JSON value"},
	{"a bad keyword argument", "tools.echo(x=object())", run.Raised, "TypeError: tools.echo: kwargs['x'] is a object object"},
	{"a bad key", "tools.echo({(): 1})", run.Raised, "TypeError: tools.echo: args[0] has a key that is a tuple object; JSON keys are strings"},
	{"no number", "tools.echo(1, [float('nan')])", run.Raised, "ValueError: tools.echo: args contains a number that is not finite"},
	{"an argument that holds itself", "x = []\nx.append(x)\ntools.echo(x)", run.Raised, "is nested deeper than 400 levels, or contains itself"},
	{"a tool as a value", "result = list(map(tools.add, [1, 2], [3, 4]))", run.Succeeded, "[4,6]"},
	{"words", "result = [str(tools), tools.add.__name__]", run.Succeeded, `["<tools: add, echo, fail>","add"]`},
	{"tools are no value", "result = tools", run.InvalidOutput, "result is a tools object"},
}

func TestTools(t *testing.T) {
	e := open(t, image{bare: true})
	expect(t, e, call{tools: names}, toolScripts)
	expect(t, e, call{tools: names}, []expectation{
		{
			"whatever is done to json", "import json, json.encoder, json.decoder, json.scanner\n" +
				"for module in json, json.encoder, json.decoder, json.scanner:\n    module.__dict__.clear()\nresult = tools.echo(x=[1])",
			run.Succeeded, `{"args":[],"kwargs":{"x":[1]}}`,
		},
		{"all there are", "result = [n for n in dir(tools) if not n.startswith('_')]", run.Succeeded, `["Error","add","echo","fail"]`},
		{"a subclass of str", "class S(str):\n    __str__ = lambda self: 1/0\nresult = tools.echo(S('a'), **{S('b'): S('c')})", run.Succeeded, `{"args":["a"],"kwargs":{"b":"c"}}`},
	})
}

func TestToolsUnderLanguageRules(t *testing.T) {
	e := open(t, image{language: standard(), bare: true})
	expect(t, e, call{tools: names, restricted: true}, toolScripts)
	// Names that the guards reserve for the library, or check twice.
	tools := []string{"register", "evaluate", "obj", "mro", "format", "metadata", "registry", "groupindex", "print"}
	for _, name := range tools {
		expect(t, e, call{tools: tools, restricted: true}, []expectation{
			{name, "def f():\n    return tools\nresult = [tools." + name + "(1)['args'], f()." + name + "(2)['args']]", run.Succeeded, "[[1],[2]]"},
			{name + ", after another import", "import decimal, statistics\nresult = tools." + name + "(1)['args']", run.Succeeded, "[1]"},
		})
	}
	expect(t, e, call{tools: names, restricted: true}, []expectation{
		{"what is behind a tool", "tools.add.__globals__", run.Refused, "leads into the interpreter"},
		{"what is behind a tool, by a format", "result = '{0.add.__globals__}'.format(tools)", run.Refused, "attribute"},
		{"a tool that is changed", "tools.add.x = 1", run.Raised, "RuleViolation: shared-object"},
		{"what an error was called from", "try:\n    tools.fail()\nexcept tools.Error as e:\n    e.__traceback__", run.Refused, "leads into the interpreter"},
	})
}

func TestInvalidToolNames(t *testing.T) {
	e := open(t, image{bare: true})
	for _, name := range []string{"", "a b", "_x", "__init__", "if", "Error"} {
		if a := e.run(t, call{script: "1", tools: []string{name}})[0]; a.problem == "" {
			t.Errorf("%q is a tool", name)
		}
	}
}
