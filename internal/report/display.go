package report

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/internal/wire"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// The most that a step may display, as in internal/script/python/session.py.
const (
	maxDisplays = 64
	maxForms    = 16 // of one object
	maxKind     = 127

	maxVariables    = 1000
	maxCompletions  = 1000
	maxChanges      = 100
	maxVariableName = 200
	maxVariableText = 200
)

// ReadStep reads what a report has about a step, besides the Result. The room is what the result
// and the variables have left of the limit on results.
func ReadStep(report wire.Dict, room policy.Bytes) *run.Step {
	s := &run.Step{}
	s.Display, s.Omitted = displayed(report, room)
	if changes, err := report.Get("changes").List(); err == nil && len(changes) == 3 {
		s.Added, s.Changed, s.Removed = names(changes[0], maxChanges), names(changes[1], maxChanges), names(changes[2], maxChanges)
	}
	return s
}

// Completions reads the names that the end of a line can become: nil if they were forged.
func Completions(report wire.Dict) []string { return names(report.Get("names"), maxCompletions) }

// names reads a list of names: nil if it was forged.
func names(list wire.Raw, most int) (found []string) {
	items, err := list.List()
	if err != nil || len(items) > most {
		return nil
	}
	for _, item := range items {
		name, err := item.Text()
		if err != nil {
			return nil
		}
		found = append(found, shortLine(name, maxVariableName))
	}
	return found
}

func shortLine(words string, most int) string { return text.Shorten(text.Line(words), most) }

// Variables reads a list of variables, and how many are left out.
func Variables(report wire.Dict) (list []run.Variable, omitted int, err error) {
	items, err := report.Get("listed").List()
	if err == nil && len(items) > maxVariables {
		err = errors.New("too many variables")
	}
	if err != nil {
		return nil, 0, err
	}
	for _, item := range items {
		v, err := variable(item)
		if err != nil {
			return nil, 0, err
		}
		list = append(list, v)
	}
	if more, err := report.Get("omitted").Int(); err == nil && more > 0 {
		omitted = int(min(more, 1<<30))
	}
	return list, omitted, nil
}

func variable(item wire.Raw) (v run.Variable, err error) {
	parts, err := item.List()
	if err == nil && len(parts) != 4 {
		err = errors.New("a variable has four parts")
	}
	if err != nil {
		return v, err
	}
	for i, text := range []struct {
		to   *string
		most int
	}{{&v.Name, maxVariableName}, {&v.Type, maxVariableName}, {}, {&v.Text, maxVariableText}} {
		if text.to == nil {
			v.Size, err = parts[i].Int()
		} else if *text.to, err = parts[i].Text(); err == nil {
			*text.to = shortLine(*text.to, text.most)
		}
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

// displayed reads what a step displayed. What is above the bounds is counted and left out; so
// is all of it if it was forged in a way that cannot be read. The room is what the result and
// the variables have left of the limit on results.
func displayed(report wire.Dict, room policy.Bytes) (shown []run.Display, omitted int) {
	items, err := report.Get("display").List()
	if err != nil {
		return nil, 0 // a step that was not compiled, or lies
	}
	if more, err := report.Get("omitted").Int(); err == nil && more > 0 {
		omitted = int(min(more, 1<<30))
	}
	for _, item := range items {
		one, size, err := display(item)
		if err != nil || len(shown) == maxDisplays || size > room {
			omitted++
			continue
		}
		room -= size
		shown = append(shown, one)
	}
	return shown, omitted
}

// display reads one object: its forms, and whether it is the value of the last expression.
func display(item wire.Raw) (one run.Display, size policy.Bytes, err error) {
	parts, err := item.List()
	if err != nil {
		return one, 0, err
	}
	if len(parts) != 2 {
		return one, 0, errors.New("a displayed object has two parts")
	}
	if one.Value, err = parts[1].Bool(); err != nil {
		return one, 0, err
	}
	forms, err := parts[0].Dict()
	if err != nil {
		return one, 0, err
	}
	if len(forms) == 0 || len(forms) > maxForms {
		return one, 0, errors.New("it has too many forms, or none")
	}
	one.Forms = make(map[string]string, len(forms))
	for _, form := range forms {
		if !isMIMEType(form.Name) {
			return one, 0, errors.New("not a MIME type")
		}
		words, err := formText(form)
		if err != nil {
			return one, 0, err
		}
		one.Forms[form.Name] = words
		size += policy.Bytes(len(form.Name) + len(words))
	}
	return one, size, nil
}

// formText returns a form that is text, or the base64 of one that is not.
func formText(form wire.Entry) (string, error) {
	if run.IsText(form.Name) {
		return form.Value.Text()
	}
	data, err := form.Value.Bytes()
	return base64.StdEncoding.EncodeToString(data), err
}

// isMIMEType accepts what can be shown as it is: a guest chose it.
func isMIMEType(kind string) bool {
	main, sub, found := strings.Cut(kind, "/")
	return found && main != "" && sub != "" && len(kind) <= maxKind && !strings.ContainsFunc(kind, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"\\(),:<>?@[]{}", r)
	}) && text.Line(kind) == kind
}
