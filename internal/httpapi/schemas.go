package httpapi

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cordon-sandbox/cordon/internal/plainjson"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// typeSchemas has the schemas of types whose JSON form differs from their Go type.
var typeSchemas = map[reflect.Type]huma.Schema{
	reflect.TypeFor[time.Duration]():          {Type: huma.TypeNumber}, // in the unit that the key names
	reflect.TypeFor[plainjson.Milliseconds](): {Type: huma.TypeNumber},
	reflect.TypeFor[policy.Bytes]():           {Type: huma.TypeInteger, Format: "int64"},
	reflect.TypeFor[policy.Count]():           {Type: huma.TypeInteger, Format: "int64"},
	reflect.TypeFor[policy.WallState]():       oneOf([]policy.WallState{policy.Enforced, policy.Missing}),
	reflect.TypeFor[policy.Tier]():            oneOf(policy.Tiers()),
	reflect.TypeFor[policy.Trust]():           oneOf(policy.Trusts()),
	reflect.TypeFor[policy.OutputAction]():    oneOf([]policy.OutputAction{policy.OutputTruncate, policy.OutputKill}),
	reflect.TypeFor[policy.LanguagePreset]():  oneOf(policy.LanguagePresets()),
	reflect.TypeFor[policy.JailBackend]():     oneOf(policy.JailBackends()),
	reflect.TypeFor[policy.Wall]():            oneOf(slices.Concat(policy.Walls(), policy.OtherWalls())),
	reflect.TypeFor[run.Status]():             oneOf([]run.Status{run.StatusOK, run.StatusError}),
	reflect.TypeFor[run.Outcome]():            oneOf(run.Outcomes()),
	reflect.TypeFor[run.ErrorType]():          oneOf(errorTypes()),
	reflect.TypeFor[run.Class]():              oneOf(run.Classes()),
	reflect.TypeFor[service.RunState]():       oneOf(service.RunStates()),
	reflect.TypeFor[run.FileKind]():           oneOf([]run.FileKind{run.FileLink, run.FileSpecial}),
}

// amounts has the schemas of limits as text, by kind.
var amounts = map[policy.LimitKind]huma.Schema{
	policy.KindDuration: {
		Type: huma.TypeString, Pattern: `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`, Examples: []any{"500ms", "2s", "1m30s"},
	},
	policy.KindBytes: {
		Type: huma.TypeString, Pattern: `^[0-9]+(\.[0-9]+)?(B|KiB|MiB|GiB|kB|KB|MB|GB|K|M|G|k|m|g)$`, Examples: []any{"64MiB", "1.5GiB", "1000B"},
	},
	policy.KindCount: {
		AnyOf:    []*huma.Schema{{Type: huma.TypeString, Pattern: `^[0-9]+(\.[0-9]+)?[kKmMgGtT]?$`}, {Type: huma.TypeInteger, Format: "int64"}},
		Examples: []any{"50M", 1000},
	},
	policy.KindNumber: {Type: huma.TypeInteger, Format: "int64"},
}

// limitProperties returns the properties of Limits. A limit with a unit has two: one is text
// with the unit, the other a number whose key names the unit.
func limitProperties() map[string]*huma.Schema {
	properties := map[string]*huma.Schema{}
	for _, limit := range policy.LimitTable() {
		text := amounts[limit.Kind]
		text.Description = limit.About
		properties[limit.Key] = &text
		if number := limit.NumberKey(); number != limit.Key {
			properties[number] = &huma.Schema{Type: huma.TypeNumber, Description: "The same as a number, instead of " + limit.Key + "."}
		}
	}
	return properties
}

// usageWords has the descriptions of the fields of a Usage, by their keys.
var usageWords = func() map[string]string {
	units := map[policy.LimitKind]string{policy.KindDuration: ", in milliseconds", policy.KindBytes: ", in bytes"}
	described := map[string]string{}
	for _, limit := range run.MeasuredLimits() {
		described[limit.NumberKey()] = limit.Name + " used" + units[limit.Kind]
	}
	return described
}()

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

// nullableFields are the fields that are null when they have no value.
var nullableFields = []string{
	"Result.error", "Result.error_type", "Result.exception", "Result.exit_code", "Result.signal", "Enforcement.jail", "Enforcement.third_party",
}

// completeSchemas adds to the schemas what the Go types do not express: the JSON forms of
// fields, which fields can be null, and descriptions.
func completeSchemas(schemas huma.Registry) {
	for name, schema := range schemas.Map() {
		schema.Description = words[name]
		of := schemas.TypeFromRef(schemaPrefix + name)
		if of == reflect.TypeFor[policy.Limits]() {
			schema.Properties = limitProperties()
			continue
		}
		if of == reflect.TypeFor[run.Result]() {
			schema.Properties["v"] = &huma.Schema{Type: huma.TypeInteger, Description: words["Result.v"], Enum: []any{run.Version}}
			schema.Required = append([]string{"v"}, schema.Required...)
		}
		for _, f := range reflect.VisibleFields(of) {
			property, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			field := schema.Properties[property]
			if field == nil {
				continue
			}
			applyType(field, f.Type)
			path := name + "." + property
			field.Description = words[path]
			if of == reflect.TypeFor[run.Usage]() {
				field.Description = usageWords[property]
			}
			if slices.Contains(nullableFields, path) {
				schema.Properties[property] = orNull(field)
			}
		}
	}
}

// applyType replaces a schema by that of its type in typeSchemas. It does the same for the
// items of a list and the keys of a map.
func applyType(s *huma.Schema, of reflect.Type) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if f, known := typeSchemas[of]; known {
		*s = f
		return
	}
	switch of.Kind() {
	case reflect.Slice:
		s.Nullable = false // cordon never sends null for a list, and reads null as absent
		if s.Items != nil {
			applyType(s.Items, of.Elem())
		}
	case reflect.Map:
		if f, known := typeSchemas[of.Key()]; known && len(f.Enum) > 0 {
			s.Extensions = map[string]any{"propertyNames": map[string]any{"enum": f.Enum}}
		}
	}
}

// orNull returns a schema that also allows null.
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

// schemaNames returns the names of the schemas in the order of the page.
func schemaNames(schemas huma.Registry) []string { return slices.Sorted(maps.Keys(schemas.Map())) }
