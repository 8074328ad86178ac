package wire

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/cordon-sandbox/cordon/run"
)

// MaxValue is the maximum size of one encoded value. marshal takes up to two and a half
// times as many bytes as the most compact JSON (a small int takes five bytes).
const MaxValue = run.MaxPayload

// Field is one entry of a dict or a list that the host builds. In a list, Name is used in
// errors only.
type Field struct {
	Name  string
	Value any
}

// AppendDict appends a dict with the fields in the given order. The path in an error
// begins with the name of the field: context.a[3].b.
func AppendDict(dst []byte, fields ...Field) ([]byte, error) {
	e := encoder{buf: append(dst, typeDict)}
	if err := e.fields(fields, true); err != nil {
		return dst, err
	}
	return append(e.buf, typeEnd), nil
}

// AppendList is AppendDict without the names.
func AppendList(dst []byte, fields ...Field) ([]byte, error) {
	e := encoder{buf: binary.LittleEndian.AppendUint32(append(dst, typeList), uint32(len(fields)))}
	if err := e.fields(fields, false); err != nil {
		return dst, err
	}
	return e.buf, nil
}

func (e *encoder) fields(fields []Field, named bool) (err error) {
	maxLen := len(e.buf) + MaxFrame
	for i := range fields {
		f := &fields[i]
		e.limit = min(len(e.buf)+MaxValue, maxLen)
		if named {
			err = e.str(f.Name)
		}
		if err == nil {
			err = e.value(f.Value, 0)
		}
		if err == nil && len(e.buf) > e.limit {
			err = e.tooLarge()
		}
		if err != nil {
			return e.path.locate(f.Name, err)
		}
	}
	return nil
}

// AppendValue appends v in marshal format.
//
//	nil, nil pointers                  None
//	bool                               bool
//	ints, uints, *big.Int              int, exactly
//	json.Number                        int if it has no fraction or exponent, else float
//	float32, float64                   float; NaN and infinities are errors
//	string                             str; must be valid UTF-8
//	[]byte                             bytes
//	[]any, []string                    list; nil is empty
//	map[string]any, map[string]string  dict in the order of the sorted keys; nil is empty
//	json.RawMessage                    as Python's json.loads would read it
//	anything else                      json.Marshal, then as json.RawMessage
//
// If a key occurs twice in JSON text, the last one wins, as in json.loads.
func AppendValue(dst []byte, v any) ([]byte, error) {
	e := encoder{buf: dst, limit: len(dst) + MaxValue}
	err := e.value(v, 0)
	if err == nil && len(e.buf) > e.limit {
		err = e.tooLarge()
	}
	if err != nil {
		return dst, e.path.locate("value", err)
	}
	return e.buf, nil
}

type encoder struct {
	buf   []byte
	limit int // of len(buf)
	path  path
	work  longWork
}

func (e *encoder) at(step string, err error) error {
	e.path = append(e.path, step)
	return err
}

func (e *encoder) tooLarge() error {
	return &Error{Problem: fmt.Sprintf("exceeds the maximum of %d bytes", MaxValue), Class: ErrTooLarge}
}

// value appends v. Only values that can be large are checked against the limit before they
// are appended. A small value may exceed it by a few bytes, which the next value or the
// caller notices.
func (e *encoder) value(v any, depth int) error {
	if len(e.buf) > e.limit {
		return e.tooLarge()
	}
	switch v := v.(type) {
	case nil:
		e.buf = append(e.buf, typeNone)
	case bool:
		e.bool(v)
	case string:
		return e.str(v)
	case int:
		e.buf = appendInt(e.buf, int64(v))
	case int64:
		e.buf = appendInt(e.buf, v)
	case float64:
		return e.float(v)
	case json.Number:
		return appendNumber(e, v)
	case map[string]any:
		return encodeMap(e, v, depth)
	case []any:
		return encodeList(e, v, depth)
	case map[string]string:
		return encodeMap(e, v, depth)
	case []string:
		return encodeList(e, v, depth)
	case []byte:
		return e.sized(typeBytes, v)
	case json.RawMessage:
		if v == nil { // as json.Marshal does
			e.buf = append(e.buf, typeNone)
			return nil
		}
		return e.json(v, depth)
	case *big.Int:
		return e.big(v)
	default:
		return e.other(v, depth)
	}
	return nil
}

// other handles rare types, so that value stays small.
func (e *encoder) other(v any, depth int) error {
	switch v := v.(type) {
	case int8:
		e.buf = appendInt(e.buf, int64(v))
	case int16:
		e.buf = appendInt(e.buf, int64(v))
	case int32:
		e.buf = appendInt(e.buf, int64(v))
	case uint:
		e.buf = appendUint(e.buf, uint64(v))
	case uint8:
		e.buf = appendUint(e.buf, uint64(v))
	case uint16:
		e.buf = appendUint(e.buf, uint64(v))
	case uint32:
		e.buf = appendUint(e.buf, uint64(v))
	case uint64:
		e.buf = appendUint(e.buf, v)
	case uintptr:
		e.buf = appendUint(e.buf, uint64(v))
	case float32:
		// Convert by way of the shortest text, as JSON does: 0.1, not
		// 0.10000000149011612.
		f, err := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
		if err != nil {
			f = float64(v)
		}
		return e.float(f)
	default:
		text, err := json.Marshal(v)
		if err != nil {
			return &Error{Problem: fmt.Sprintf("(Go type %T) cannot be turned into JSON: %v", v, err), Class: ErrValue}
		}
		return e.json(text, depth)
	}
	return nil
}

func (e *encoder) bool(v bool) {
	if v {
		e.buf = append(e.buf, typeTrue)
	} else {
		e.buf = append(e.buf, typeFalse)
	}
}

func (e *encoder) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return &Error{Problem: fmt.Sprintf("is %v, which is not a JSON value", f), Class: ErrValue}
	}
	e.buf = binary.LittleEndian.AppendUint64(append(e.buf, typeFloat), math.Float64bits(f))
	return nil
}

func (e *encoder) big(x *big.Int) (err error) {
	if x == nil {
		e.buf = append(e.buf, typeNone)
		return nil
	}
	e.buf, err = appendBig(e.buf, x)
	return err
}

func (e *encoder) str(s string) error {
	if len(s) > e.limit-len(e.buf) {
		return e.tooLarge()
	}
	if !utf8.ValidString(s) {
		return &Error{Problem: "is a string that is not valid UTF-8", Class: ErrValue}
	}
	e.buf = binary.LittleEndian.AppendUint32(append(e.buf, typeStr), uint32(len(s)))
	e.buf = append(e.buf, s...)
	return nil
}

func (e *encoder) sized(t byte, b []byte) error {
	if len(b) > e.limit-len(e.buf) {
		return e.tooLarge()
	}
	e.buf = binary.LittleEndian.AppendUint32(append(e.buf, t), uint32(len(b)))
	e.buf = append(e.buf, b...)
	return nil
}

// open begins a container and limits nesting, also of a map that contains itself.
func (e *encoder) open(t byte, depth int) error {
	if depth >= run.MaxDepth {
		return &Error{Problem: fmt.Sprintf("is nested more than %d deep", run.MaxDepth), Class: ErrTooDeep}
	}
	e.buf = append(e.buf, t)
	return nil
}

func encodeList[T any](e *encoder, list []T, depth int) error {
	if err := e.open(typeList, depth); err != nil {
		return err
	}
	// Each element takes at least one byte, so this also keeps the count within the 31
	// bits that marshal has for it.
	if len(list) > e.limit-len(e.buf) {
		return e.tooLarge()
	}
	e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(len(list)))
	for i := range list {
		if err := encodeItem(e, &list[i], depth+1); err != nil {
			return e.at(indexStep(i), err)
		}
	}
	return nil
}

func encodeMap[T any](e *encoder, m map[string]T, depth int) error {
	if err := e.open(typeDict, depth); err != nil {
		return err
	}
	// The keys are sorted, so that the same request gives the guest the same dict.
	var few [16]string
	keys := few[:0]
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if err := e.str(k); err != nil {
			return e.at(hostStep(k), err)
		}
		v := m[k]
		if err := encodeItem(e, &v, depth+1); err != nil {
			return e.at(hostStep(k), err)
		}
	}
	e.buf = append(e.buf, typeEnd)
	return nil
}

// encodeItem avoids converting strings to an interface, which allocates.
func encodeItem[T any](e *encoder, v *T, depth int) error {
	if s, ok := any(v).(*string); ok {
		return e.str(*s)
	}
	return e.value(*v, depth)
}
