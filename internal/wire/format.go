package wire

// The part of marshal version 2 that this package writes and reads. Sizes and counts are
// signed 32-bit, little-endian; a value is any of these rows.
//
//	N F T       None, False, True
//	i           int: 4 bytes
//	l           int: count, 16-bit digits (long.go)
//	g           float: 8 bytes, IEEE 754
//	u           str: size, UTF-8 in which surrogates are allowed
//	s           bytes: size, bytes
//	( [ < >     tuple, list, set, frozenset: count, values
//	{           dict: key value key value … 0
//	y           complex: 16 bytes
//	. S         Ellipsis, StopIteration
//	c           code: its layout depends on the Python version
//
// The rest is left out on purpose, though some of it would be easy to read. It belongs to
// other versions, which the worker does not use: whether version 4 marks an object as
// shared (bit 0x80) depends on its reference count, so a partial reader would work only
// sometimes.
const (
	typeNone      = 'N'
	typeFalse     = 'F'
	typeTrue      = 'T'
	typeInt       = 'i'
	typeLong      = 'l'
	typeFloat     = 'g'
	typeStr       = 'u'
	typeBytes     = 's'
	typeTuple     = '('
	typeList      = '['
	typeSet       = '<'
	typeFrozenset = '>'
	typeDict      = '{'
	typeEnd       = '0' // ends a dict
	typeComplex   = 'y'
	typeEllipsis  = '.'
	typeStop      = 'S'
	typeCode      = 'c'
)

// pythonType returns the Python name of a type, or "" for a byte that begins no version 2
// value.
func pythonType(t byte) string {
	switch t {
	case typeNone:
		return "None"
	case typeFalse, typeTrue:
		return "bool"
	case typeInt, typeLong:
		return "int"
	case typeFloat:
		return "float"
	case typeStr:
		return "str"
	case typeBytes:
		return "bytes"
	case typeTuple:
		return "tuple"
	case typeList:
		return "list"
	case typeSet:
		return "set"
	case typeFrozenset:
		return "frozenset"
	case typeDict:
		return "dict"
	case typeComplex:
		return "complex"
	case typeEllipsis:
		return "ellipsis"
	case typeStop:
		return "StopIteration"
	case typeCode:
		return "code"
	}
	return ""
}
