package jsonform

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cordon-sandbox/cordon/internal/text"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// maxFieldName bounds an unknown name in an error message.
const maxFieldName = 60

// ParseRequest parses one request from JSON. Unknown and repeated fields, trailing data and
// values of the wrong type are errors that name the field.
//
// It walks the object itself, because encoding/json accepts "SCRIPT" as "script", and uses
// the last of two equal fields: a gateway that checks only the first would let the second
// pass unchecked.
func ParseRequest(data []byte) (run.Request, error) {
	var req Request
	if err := ParseObject(data, &req); err != nil {
		return run.Request{}, err
	}
	return req.Run(), nil
}

// ParseObject parses JSON into the struct that into points to, as strictly as ParseRequest.
// After an error the struct may be partly filled.
func ParseObject(data []byte, into any) error {
	if len(data) > run.MaxPayload {
		return run.Errorf(run.Invalid, "request of %d bytes is above the maximum of %d", len(data), run.MaxPayload)
	}
	if !utf8.Valid(data) {
		return run.Errorf(run.Invalid, "request is not valid UTF-8 (first bad byte at offset %d)", text.FirstInvalid(string(data)))
	}
	// Windows editors begin files with a byte order mark, which a parser may ignore
	// according to RFC 8259.
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	// The names of fields are checked below. In the values of guests, names may repeat, as in
	// Python, and in texts half surrogates become U+FFFD, as in encoding/json.
	d := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	err := readObject(d, "", reflect.ValueOf(into).Elem())
	if err == nil {
		if _, end := d.ReadToken(); errors.Is(end, io.EOF) {
			return nil
		}
		err = fmt.Errorf("more data after the JSON object (at byte %d)", d.InputOffset())
	}
	var wrong *policy.FieldError
	if errors.As(err, &wrong) {
		return run.Errorf(run.Invalid, "request: %w", wrong)
	}
	return run.Errorf(run.Invalid, "request: %s", explainJSON(data, err))
}

// begin reads the beginning of an object or a list. It returns false for null, which sets
// nothing, as in encoding/json; a whole request cannot be null.
func begin(d *jsontext.Decoder, delim jsontext.Kind, path, want string) (bool, error) {
	start, err := d.ReadToken()
	switch {
	case err != nil || start.Kind() == 'n' && path != "":
		return false, err
	case start.Kind() != delim:
		return false, wrongKind(path, want, start.Kind())
	}
	return true, nil
}

// checked is a struct that checks itself after it was read. It learns which fields were given,
// perhaps with empty values.
type checked interface {
	check(path string, given []string) error
}

// readObject fills a struct from the next JSON object, field by field.
func readObject(d *jsontext.Decoder, path string, into reflect.Value) error {
	fields := structFieldsOf(into.Type())
	given, err := readMembers(d, path, fields.names, func(name string) error {
		return readField(d, path+name, into.FieldByIndex(fields.index[name]))
	})
	if c, is := into.Addr().Interface().(checked); is && err == nil {
		err = c.check(strings.TrimSuffix(path, "."), given)
	}
	return err
}

// readLimits fills limits from the next JSON object.
func readLimits(d *jsontext.Decoder, path string, into *policy.Limits) error {
	read := map[string]string{} // the keys that set the limits, by limit
	_, err := readMembers(d, path, limitKeys, func(key string) error {
		limit, as := limitOf(key)
		if first, twice := read[limit.Key]; twice {
			return fieldError(path+key, "is the same limit as %s: leave one out", path+first)
		}
		read[limit.Key] = key
		if as == asNumber {
			return readNumber(d, path+key, limit, into)
		}
		return readLimit(d, path+key, limit, into)
	})
	return err
}

// limitForm is the form in which a request has a limit.
type limitForm int

const (
	asText   limitForm = iota // "memory": "64MiB"
	asNumber                  // "memory_bytes": 67108864
)

func limitOf(key string) (policy.Limit, limitForm) {
	for _, limit := range policy.LimitTable() {
		switch key {
		case limit.Key:
			return limit, asText
		case limit.NumberKey():
			return limit, asNumber
		}
	}
	return policy.Limit{}, asText
}

// readNumber reads a limit as a number, under the same key as in answers, which ends in the
// unit.
func readNumber(d *jsontext.Decoder, path string, limit policy.Limit, into *policy.Limits) error {
	token, err := d.ReadToken()
	if err != nil || token.Kind() == 'n' {
		return err
	}
	if token.Kind() != '0' {
		return wrongKind(path, "a number", token.Kind())
	}
	amount, err := limit.ParseNumber(token.String())
	if err != nil {
		return fieldError(path, "%w", err)
	}
	limit.Set(into, amount)
	return nil
}

var limitKeys = func() (keys []string) {
	for _, limit := range policy.LimitTable() {
		keys = append(keys, limit.Key)
	}
	for _, limit := range policy.LimitTable() {
		if key := limit.NumberKey(); key != limit.Key {
			keys = append(keys, key)
		}
	}
	return keys
}()

// readMembers calls read for each member of the next JSON object, and returns their names.
func readMembers(d *jsontext.Decoder, path string, names []string, read func(name string) error) (seen []string, err error) {
	if begun, err := begin(d, '{', path, "an object"); !begun {
		return nil, err
	}
	for d.PeekKind() != '}' {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		switch {
		case !slices.Contains(names, name):
			return nil, fieldError(path+text.Line(text.Shorten(name, maxFieldName)), "unknown field: the fields %sare %s", within(path), strings.Join(names, ", "))
		case slices.Contains(seen, name):
			return nil, fieldError(path+name, "is there twice")
		}
		seen = append(seen, name)
		if err := read(name); err != nil {
			return nil, err
		}
	}
	_, err = d.ReadToken()
	return seen, err
}

func readField(d *jsontext.Decoder, path string, field reflect.Value) error {
	switch target := field.Addr().Interface().(type) {
	case *policy.Limits:
		return readLimits(d, path+".", target)
	case *[]File:
		return readFiles(d, path, target)
	case *json.RawMessage:
		value, err := d.ReadValue()
		*target = bytes.Clone(value)
		return err
	case *string:
		if d.PeekKind() == '"' {
			token, err := d.ReadToken()
			if err == nil {
				*target = token.String()
			}
			return err
		}
	}
	if t := field.Type(); t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
		field.Set(reflect.New(t.Elem()))
		return readObject(d, path+".", field.Elem())
	}
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	return readValue(value, path, field)
}

// readValue fills a field of any other type.
func readValue(value []byte, path string, field reflect.Value) error {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	err := d.Decode(field.Addr().Interface())
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return fieldError(path, "expected %s, got a JSON %s", kindWords(field.Type()), kind.Value)
	}
	var corrupt base64.CorruptInputError
	if errors.As(err, &corrupt) {
		return fieldError(path, "not base64: a wrong character at offset %d", int64(corrupt))
	}
	return err
}

// readLimit reads an amount as text with a unit. The most common mistake is a bare number;
// Parse returns the error for it.
func readLimit(d *jsontext.Decoder, path string, limit policy.Limit, into *policy.Limits) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	plain := limit.Kind == policy.KindNumber
	switch kind := token.Kind(); {
	case kind == 'n':
		return nil
	case kind == '0':
		if _, err := strconv.Atoi(token.String()); plain && err != nil {
			return fieldError(path, "expected a whole number, got a JSON number %s", token)
		}
		if _, err := limit.Parse(token.String()); err != nil {
			return fieldError(path, "%w, or use the key %s for a number", err, limit.NumberKey())
		}
	case plain:
		return wrongKind(path, "a whole number", kind)
	case kind != '"':
		return wrongKind(path, "text with a unit", kind)
	}
	amount, err := limit.Parse(token.String())
	if err != nil {
		return fieldError(path, "%w", err)
	}
	limit.Set(into, amount)
	return nil
}

// structFields has the JSON names of the fields of a struct, including embedded ones.
type structFields struct {
	names []string
	index map[string][]int // for reflect, by name
}

// structFieldsCache has the structFields of each type. Reading all the tags of a request
// takes as long as parsing it.
var structFieldsCache sync.Map

func structFieldsOf(t reflect.Type) *structFields {
	if known, ok := structFieldsCache.Load(t); ok {
		return known.(*structFields)
	}
	s := &structFields{index: map[string][]int{}}
	for _, f := range reflect.VisibleFields(t) {
		if name := jsonName(f); name != "" && name != "-" {
			s.names = append(s.names, name)
			s.index[name] = f.Index
		}
	}
	structFieldsCache.Store(t, s)
	return s
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func within(path string) string {
	if path == "" {
		return ""
	}
	return "of " + strings.TrimSuffix(path, ".") + " "
}

func fieldError(field, format string, args ...any) error {
	return &policy.FieldError{Field: field, Err: fmt.Errorf(format, args...)}
}

// FieldOf returns the name of the field of a request that err is about, or "".
func FieldOf(err error) string {
	var wrong *policy.FieldError
	if errors.As(err, &wrong) {
		return wrong.Field
	}
	return ""
}

// wrongKind returns the error for a value of the wrong JSON type.
func wrongKind(path, want string, got jsontext.Kind) error {
	kind := kindNames[got]
	if path == "" {
		return fmt.Errorf("expected a JSON object, got a JSON %s", kind)
	}
	return fieldError(strings.TrimSuffix(path, "."), "expected %s, got a JSON %s", want, kind)
}

var kindNames = map[jsontext.Kind]string{'n': "null", 't': "bool", 'f': "bool", '"': "string", '0': "number", '{': "object", '[': "array"}

func kindWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Slice:
		switch t.Elem().Kind() {
		case reflect.Interface:
			return "a list"
		case reflect.Uint8:
			return "a text in base64"
		}
		return "a list of strings"
	case reflect.Int:
		return "a whole number"
	case reflect.Bool:
		return "true or false"
	}
	return "another kind"
}

// explainJSON returns the message for err. It prefers the syntax error of the whole text,
// whose offset counts from the beginning, and which is the cause if there are both. Only
// invalid requests are parsed this second time.
func explainJSON(data []byte, err error) string {
	if len(bytes.TrimSpace(data)) == 0 {
		return "empty: expected a JSON object"
	}
	var raw json.RawMessage
	var syntax *json.SyntaxError
	if whole := json.Unmarshal(data, &raw); errors.As(whole, &syntax) {
		switch words := syntax.Error(); {
		case strings.Contains(words, "max depth"):
			return fmt.Sprintf("nested too deeply at byte %d", syntax.Offset)
		case strings.Contains(words, "after top-level value"):
			return fmt.Sprintf("more data after the JSON object (at byte %d)", syntax.Offset)
		}
		return fmt.Sprintf("not valid JSON at byte %d: %s", syntax.Offset, ExplainSyntax(data, syntax))
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}
