package mcpclient

import (
	"maps"
	"slices"
)

// format is a kind of configuration file.
type format interface {
	// merge returns the text with an entry called name in the object at key. The rest of
	// the text stays as it is. Missing objects are created. A new file also gets the
	// fresh fields.
	merge(text []byte, key, name string, entry, fresh []field) ([]byte, error)
}

var (
	jsonFormat format = jsonFile{}
	tomlFormat format = tomlFile{}
)

type (
	jsonFile struct{}
	tomlFile struct{}
)

func sorted(m map[string]string) (fields []field) {
	for _, name := range slices.Sorted(maps.Keys(m)) {
		fields = append(fields, field{name, m[name]})
	}
	return fields
}
