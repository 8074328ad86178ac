package report

import (
	"errors"
	"fmt"

	"github.com/cordon-sandbox/cordon/internal/hints"
	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The most that a report may have about imported modules, as in
// internal/zygote/python/modules.py.
const (
	maxModules = 64
	maxFiles   = 256
	maxDenied  = 32
)

// modules reads what imported modules used, and what their rules denied. A report that the
// sandbox makes when it has no memory left has neither.
func modules(r *run.Result, report wire.Dict) error {
	if report.Get("modules") == nil {
		return nil
	}
	used, err := report.Get("modules").List()
	if err != nil {
		return err
	}
	denied, err := report.Get("denied").List()
	if err != nil {
		return err
	}
	if len(used) > maxModules || len(denied) > maxDenied {
		return errors.New("it names too many modules")
	}
	files := 0
	for _, item := range used {
		use, err := moduleUse(item)
		if err != nil {
			return err
		}
		if files += len(use.Files); files > maxFiles {
			return errors.New("its modules name too many files")
		}
		r.Modules = append(r.Modules, use)
	}
	for _, item := range denied {
		v, err := denial(item)
		if err != nil {
			return err
		}
		r.Violations = append(r.Violations, v)
	}
	return nil
}

// splitItem splits an item of a list into texts, a list of texts, and numbers, in this order.
func splitItem(item wire.Raw, texts []*string, list *[]string, numbers []*int) error {
	parts, err := item.List()
	if err != nil {
		return err
	}
	want := len(texts) + len(numbers)
	if list != nil {
		want++
	}
	if len(parts) != want {
		return fmt.Errorf("an item about a module has %d fields", len(parts))
	}
	for _, field := range texts {
		said, err := parts[0].Text()
		if err != nil {
			return err
		}
		*field, parts = text.Line(said), parts[1:]
	}
	if list != nil {
		if *list, err = parts[0].TextList(); err != nil {
			return err
		}
		for i, said := range *list {
			(*list)[i] = text.Line(said)
		}
		parts = parts[1:]
	}
	for i, field := range numbers {
		n, err := parts[i].Int()
		if err != nil {
			return err
		}
		*field = max(int(n), 0)
	}
	return nil
}

func moduleUse(item wire.Raw) (use run.ModuleUse, err error) {
	err = splitItem(item, []*string{&use.Module}, &use.Files, []*int{&use.Omitted, &use.Threads})
	use.Module = text.Clip(use.Module, maxModuleName)
	return use, err
}

// denial is the violation of a rule for files. Only the guest's own audit hook saw it.
func denial(item wire.Raw) (run.Violation, error) {
	v := run.Violation{Wall: policy.WallLanguage, Op: "open", Claimed: true}
	var rule, path string
	if err := splitItem(item, []*string{&v.Module, &rule, &path}, nil, []*int{&v.Line, &v.Count}); err != nil {
		return v, err
	}
	v.Module = text.Clip(v.Module, maxModuleName)
	v.Detail = path + ": not in module_rules." + rule + ".read"
	return hints.ModuleRule(v, rule, "read", path), nil
}
