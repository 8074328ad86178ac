package httpapi

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// forms are the schemas of types that are more than text in Go, and text in JSON.
var forms = map[reflect.Type]huma.Schema{
	reflect.TypeFor[policy.Duration](): {
		Type: huma.TypeString, Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`, Examples: []any{"500ms", "2s", "1m30s"},
	},
	reflect.TypeFor[policy.Bytes](): {
		Type: huma.TypeString, Pattern: `^[0-9]+(\.[0-9]+)?(B|KiB|MiB|GiB|kB|KB|MB|GB|K|M|G|k|m|g)$`, Examples: []any{"64MiB", "1.5GiB", "1000B"},
	},
	reflect.TypeFor[policy.Count]():          {Type: huma.TypeString, Pattern: `^[0-9]+(\.[0-9]+)?[kKmMgGtT]?$`, Examples: []any{"50M"}},
	reflect.TypeFor[policy.Tier]():           oneOf(policy.Tiers()),
	reflect.TypeFor[policy.Trust]():          oneOf(policy.Trusts()),
	reflect.TypeFor[policy.OutputAction]():   oneOf([]policy.OutputAction{policy.OutputTruncate, policy.OutputKill}),
	reflect.TypeFor[policy.LanguagePreset](): oneOf(policy.LanguagePresets()),
	reflect.TypeFor[policy.JailBackend]():    oneOf([]policy.JailBackend{policy.JailNative, policy.JailBwrap}),
	reflect.TypeFor[policy.Wall]():           oneOf(slices.Concat(policy.Walls(), policy.OtherWalls())),
	reflect.TypeFor[run.Status]():            oneOf([]run.Status{run.StatusOK, run.StatusError}),
	reflect.TypeFor[run.Outcome]():           oneOf(run.Outcomes()),
	reflect.TypeFor[run.ErrorType]():         oneOf(errorTypes()),
	reflect.TypeFor[run.Class]():             oneOf(run.Classes()),
}

func oneOf[T ~string](names []T) huma.Schema {
	s := huma.Schema{Type: huma.TypeString}
	for _, name := range names {
		s.Enum = append(s.Enum, string(name))
	}
	return s
}

func errorTypes() (all []run.ErrorType) {
	for _, o := range run.Outcomes() {
		if word := o.ErrorType(); word != "" && !slices.Contains(all, word) {
			all = append(all, word)
		}
	}
	return all
}

// empty are the fields that JSON shows as null when there is nothing in them.
var empty = []string{
	"Result.error", "Result.error_type", "Result.exception", "Result.exit_code", "Result.signal", "Enforcement.jail",
}

// give puts into the schemas of the registry what the types themselves cannot say: the
// forms of their fields, what can be null, and words.
func give(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		of := schemas.TypeFromRef(schemaPrefix + name)
		for i := range of.NumField() {
			property, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			field := schema.Properties[property]
			if field == nil {
				continue
			}
			form(field, of.Field(i).Type)
			path := name + "." + property
			field.Description = words[path]
			if limit, is := policy.LimitNamed(property); is && of == reflect.TypeFor[policy.Limits]() {
				field.Description = limit.About
			}
			if slices.Contains(empty, path) {
				schema.Properties[property] = orNull(field)
			}
		}
		schema.Description = words[name]
	}
}

// form gives a schema the form of its type, or of the type of its items.
func form(s *huma.Schema, of reflect.Type) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if f, known := forms[of]; known {
		*s = f
		return
	}
	switch of.Kind() {
	case reflect.Slice:
		s.Nullable = false // ours are never null, and a null that is sent is as if nothing were
		if s.Items != nil {
			form(s.Items, of.Elem())
		}
	case reflect.Map:
		if f, known := forms[of.Key()]; known && len(f.Enum) > 0 {
			s.Extensions = map[string]any{"propertyNames": map[string]any{"enum": f.Enum}}
		}
	}
}

// orNull allows null beside what the schema allows.
func orNull(s *huma.Schema) *huma.Schema {
	if s.Ref != "" {
		return &huma.Schema{Description: s.Description, AnyOf: []*huma.Schema{{Ref: s.Ref}, {Type: "null"}}}
	}
	nullable := *s
	nullable.Nullable = true
	if len(s.Enum) > 0 {
		nullable.Enum = append(slices.Clone(s.Enum), nil)
	}
	return &nullable
}

// schemaNames in the order in which people read them.
func schemaNames(schemas huma.Registry) []string { return slices.Sorted(maps.Keys(schemas.Map())) }
