package mcpclient

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// merge returns the text of a new file. It does not edit TOML: the clients that use TOML
// have a command that adds a server.
func (tomlFile) merge(text []byte, key, name string, entry, _ []field) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "[%s.%s]\n", tomlKey(key), tomlKey(name))
	for _, f := range entry {
		fmt.Fprintf(&b, "%s = %s\n", tomlKey(f.name), tomlText(f.value))
	}
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return b.Bytes(), nil
	case bytes.Contains(text, b.Bytes()):
		return text, nil
	}
	return nil, errNotEdited
}

func tomlKey(name string) string {
	if isBareKey(name) {
		return name
	}
	return tomlText(name)
}

func tomlText(value any) string {
	switch v := value.(type) {
	case []field:
		var items []string
		for _, f := range v {
			items = append(items, tomlKey(f.name)+" = "+tomlText(f.value))
		}
		return "{ " + strings.Join(items, ", ") + " }"
	case []string:
		var items []string
		for _, item := range v {
			items = append(items, tomlText(item))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case bool:
		return strconv.FormatBool(v)
	case string:
		return tomlString(v)
	}
	return `""` // a field holds nothing else
}

// tomlString formats a basic string. TOML has fewer escapes than Go.
func tomlString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
