package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// scalars are the types whose JSON does not follow from their Go structure.
var scalars = map[reflect.Type]object{
	reflect.TypeFor[Time](): {"type": "string", "format": "timestamp",
		"pattern": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$`, "examples": []string{"2020-05-11T14:13:39+0000"}},
	reflect.TypeFor[Expiry](): {"type": "string", "format": "date-time",
		"examples": []string{"2021-02-22T17:09:15.513Z"}},
	reflect.TypeFor[time.Time](): {"type": "string", "format": "date-time",
		"examples": []string{"2026-03-12T09:40:00.123456Z"}},
	reflect.TypeFor[uuid.UUID]():     {"type": "string", "format": "uuid"},
	reflect.TypeFor[exchange.Date](): {"type": "string", "format": "date", "pattern": `^(19|[2-9]\d)\d\d-\d\d-\d\d$`},
	reflect.TypeFor[exchange.Instant](): {"type": "string", "format": "timestamp",
		"description": "RFC 3339, or the format that GET returns.",
		"pattern":     `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)$`,
		"examples":    []string{"2020-05-11T14:13:39+0000"}},
	reflect.TypeFor[exchange.Until](): {"type": "string", "description": "A timestamp as of GET, one of RFC 3339, or " +
		"a date.",
		"pattern":  `^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d))?$`,
		"examples": []string{"2020-05-11"}},
	reflect.TypeFor[Contract]():            {"type": "object"},
	reflect.TypeFor[exchange.SearchText](): {"type": "string", "maxLength": exchange.MaxSearchText},
	reflect.TypeFor[exchange.Action]():     {"type": "string", "examples": []string{"material.update"}},
	reflect.TypeFor[pageSize]():            {"type": "integer"},
	reflect.TypeFor[hitOffset](): {"type": "integer", "minimum": 0, "maximum": exchange.MaxOffset,
		"default": 0},
	reflect.TypeFor[cursorText](): {"type": "string", "minLength": 1, "maxLength": maxCursorLength * 4 / 3,
		"pattern": "^[A-Za-z0-9_-]+$"},
}

// component is a named schema that does not follow from the fields of a type.
type component struct {
	name   string
	schema object
}

var components = map[reflect.Type]component{
	reflect.TypeFor[exchange.Ref](): {"ID",
		object{"description": "An id as 7, as \"7\" or as {\"id\": 7}.", "anyOf": []object{
			{"type": "integer", "format": "int64", "minimum": 1}, {"type": "string", "pattern": idText},
			{"type": "object", "required": []string{"id"}, "properties": object{"id": object{"anyOf": []object{
				{"type": "integer", "format": "int64", "minimum": 1}, {"type": "string", "pattern": idText}}}}}}}},
	reflect.TypeFor[exchange.UserRef](): {"UserID", object{"description": "The id of a user as a UUID or as " +
		"{\"id\": UUID}.", "anyOf": []object{
		{"type": "string", "format": "uuid"},
		{"type": "object", "required": []string{"id"},
			"properties": object{"id": object{"type": "string", "format": "uuid"}}}}}},
	reflect.TypeFor[material.IDText](): {"Identifier", object{"description": "An accession, DOI or address, in any " +
		"format.",
		"anyOf": []object{{"type": "string"}, {"type": "number"}}, "examples": []string{"GSE5859", "SRP009615"}}},
	reflect.TypeFor[material.Filters](): {"SearchFilters", savedFilters()},
	reflect.TypeFor[json.RawMessage]():  {"JSON", object{"description": "Any JSON."}},
}

// idText is the pattern of an id that is written as text.
const idText = `^\s*\+?0*[1-9][0-9]{0,18}\s*$`

func enum[T any](values ...T) object { return object{"type": "string", "enum": values} }

// enumeration is a text with few values.
type enumeration struct {
	name  string
	words []string
}

func enumerate[T ~string](name string, values ...T) enumeration {
	e := enumeration{name: name}
	for _, value := range values {
		e.words = append(e.words, string(value))
	}
	return e
}

var enumerations = map[reflect.Type]enumeration{
	reflect.TypeFor[mailing.Delivery]():  enumerate("MailDelivery", mailing.Deliveries...),
	reflect.TypeFor[CountIs]():           enumerate("CountIs", countExactly, countAtLeast),
	reflect.TypeFor[exchange.Code]():     enumerate("ErrorCode", slices.Sorted(maps.Keys(statuses))...),
	reflect.TypeFor[request.Status]():    enumerate("RequestStatus", request.Statuses...),
	reflect.TypeFor[request.EventKind](): enumerate("EventKind", request.EventKinds...),
	reflect.TypeFor[counting]():          enumerate("Counting", string(countExact)),
	reflect.TypeFor[exchange.Scope]():    enumerate("TokenScope", exchange.Scopes...),
	reflect.TypeFor[document.Slot]():     enumerate("DocumentName", document.Slots...),
	reflect.TypeFor[document.Review](): enumerate(
		"DocumentState", document.Delivered, document.Accepted, document.Returned, document.Superseded),
	reflect.TypeFor[request.Need](): enumerate(
		"RequirementName", request.NeedAbstract, request.NeedSignedMTA, request.NeedIRB,
		request.NeedAddress, request.NeedPayment, request.NeedExecutedMTA),
	reflect.TypeFor[request.Due](): enumerate(
		"RequirementState", request.NotNeeded, request.OwedByRequester, request.OwedByLab, request.Done),
	reflect.TypeFor[request.Side]():            enumerate("Party", request.RequesterSide, request.LabSide),
	reflect.TypeFor[mailing.Category]():        enumerate("NotificationCategory", mailing.AllCategories...),
	reflect.TypeFor[mailing.State]():           enumerate("MailState", mailing.States...),
	reflect.TypeFor[notify.NotificationKind](): enumerate("NotificationKind", notify.NotificationKinds...),
	reflect.TypeFor[lab.Role]():                enumerate("OrganizationRole", lab.OrganizationRoles...),
	reflect.TypeFor[lab.JoinStatus]():          enumerate("JoinStatus", lab.JoinStatuses...),
	reflect.TypeFor[publish.Format]():          enumerate("CitationFormat", publish.Formats...),
	reflect.TypeFor[exchange.JobState]():       enumerate("JobState", exchange.JobStates...),
	reflect.TypeFor[material.BulkMode]():       enumerate("BulkMode", material.BulkModes...),
	reflect.TypeFor[lab.InvitationStatus]():    enumerate("InvitationStatus", lab.InvitationStatuses...),
	reflect.TypeFor[notify.EventType](): enumerate(
		"EventType", append(slices.Clone(notify.EventTypes), notify.Ping)...),
	reflect.TypeFor[notify.DeliveryState](): enumerate("DeliveryState", notify.DeliveryStates...),
}

// categories are the values of every field and parameter that is called category.
var categories = enumerate("MaterialCategory", category.Codes()...)

// enumOf returns the enumeration of the values of a field or parameter by its name and type.
func enumOf(name string, t reflect.Type) (e enumeration, ok bool) {
	if e, ok = enumerations[t]; !ok && name == "category" && t.Kind() == reflect.String {
		e, ok = categories, true
	}
	return e, ok
}

// enum adds an enumeration to the document and returns a reference to it.
func (d description) enum(e enumeration) object { return d.named(component{e.name, enum(e.words...)}) }

// metadata is the schema of additional_metadata.
var metadata = component{"Metadata",
	object{"type": "object", "description": metadataKeys(), "additionalProperties": true,
		// more or longer keys do not fit
		"maxProperties": (material.MaxMetadata - len("{}")) / len(`"a":1,`),
		"propertyNames": object{"maxLength": material.MaxMetadata - len(`{"":1}`)}}}

// metadataKeys lists what additional_metadata may hold.
func metadataKeys() string {
	text := "Metadata of a material, as its category defines; other keys are kept too. At most 64 KiB as JSON. " +
		"Members of the lab, admins and requesters whose request the lab accepted see all of it; for others it has " +
		"neither " + strings.Join(category.PrivateKeys(), ", ") +
		" nor keys that the category does not have, unless they are in public_metadata_keys of the organization. A " +
		"change by who does not see them keeps them."
	for _, c := range category.All() {
		var keys []string
		for _, f := range c.Fields {
			keys = append(keys, f.Key)
		}
		text += "\n\n" + c.Code + ": " + strings.Join(keys, ", ") + "."
	}
	return text
}

// named adds a component to the document and returns a reference to it.
func (d description) named(c component) object {
	d.schemas[c.name] = c.schema
	return refTo(c.name)
}

// orNull allows null in addition to what a schema allows.
func orNull(schema object) object {
	kind, simple := schema["type"].(string)
	if !simple {
		return object{"anyOf": []object{schema, {"type": "null"}}}
	}
	nullable := maps.Clone(schema)
	nullable["type"] = []string{kind, "null"}
	return nullable
}

// schema describes the JSON of a type; a struct is described once, as a component.
func (d description) schema(t reflect.Type) object {
	if schema, ok := scalars[t]; ok {
		return schema
	}
	if c, ok := components[t]; ok {
		return d.named(c)
	}
	if e, ok := enumerations[t]; ok {
		return d.enum(e)
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float64:
		return object{"type": "number", "format": "double"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Pointer:
		return orNull(d.schema(t.Elem()))
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Struct:
		if value, ok := t.FieldByName("Value"); ok { // Opt and Null
			return d.schema(value.Type)
		}
		name, of, generic := strings.Cut(schemaName(t), "[")
		if generic { // Version[Material] is MaterialVersion
			name = strings.TrimSuffix(of[strings.LastIndexByte(of, '.')+1:], "]") + name
		}
		if d.schemas[name] == nil {
			d.schemas[name] = object{} // breaks the cycle if its fields refer to it
			d.schemas[name] = d.structure(name, t, shown(t),
				func(f reflect.StructField) bool { return !strings.Contains(f.Tag.Get("json"), ",omit") })
		}
		return refTo(name)
	}
	panic("the document has no words for " + t.String())
}

// schemaNames are the names of schemas whose types are named differently in Go.
var schemaNames = map[reflect.Type]string{
	reflect.TypeFor[mailing.Patch]():       "MailSettingsPatch",
	reflect.TypeFor[material.Patch]():      "MaterialPatch",
	reflect.TypeFor[request.EventDetail](): "Detail",
	reflect.TypeFor[request.New]():         "RequestNew",
	reflect.TypeFor[request.Patch]():       "RequestPatch",
}

// schemaName returns the name of the schema of a type.
func schemaName(t reflect.Type) string { return cmp.Or(schemaNames[t], t.Name()) }

// input describes a request body, under the name of its type with an ending for its purpose; create: the body
// creates an object, so that some fields are required.
func (d description) input(t reflect.Type, ending string, create bool) string {
	name := schemaName(t)
	if base, ok := strings.CutSuffix(name, "Patch"); ok {
		name = base + ending
	}
	of := rulesOf(t, create)
	d.schemas[name] = d.structure(name, t, of, func(f reflect.StructField) bool {
		// If one of two names is required, neither is listed: JSON Schema has no simple way to say so.
		return f.Type.Kind() == reflect.String || create && of[f.Tag.Get("json")].Required && f.Tag.Get("alias") == ""
	})
	return name
}

func (d description) structure(name string, t reflect.Type, of rules, needed func(reflect.StructField) bool) object {
	properties, required := object{}, []string{}
	d.fields(t, of, needed, properties, &required)
	schema := object{"type": "object", "properties": properties}
	explain(name, schema)
	if len(required) > 0 {
		slices.Sort(required)
		schema["required"] = slices.Compact(required)
	}
	return schema
}

func (d description) fields(t reflect.Type, of rules, needed func(reflect.StructField) bool, properties object,
	required *[]string) {
	for f := range layoutOf(t).Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Pointer: // only shown to some callers
			d.fields(f.Type.Elem(), shown(f.Type.Elem()), func(reflect.StructField) bool { return false }, properties,
				required)
			continue
		case f.Anonymous:
			d.fields(f.Type, shown(f.Type), needed, properties, required)
			continue
		case name == "-":
			continue
		}
		schema := d.schema(f.Type)
		switch _, named := enumerations[f.Type]; {
		case name == "category" && !named:
			schema = d.enum(categories)
		case name == "additional_metadata":
			schema = d.named(metadata)
		}
		switch {
		case f.Type.Kind() == reflect.Pointer && options == "omitempty":
			schema = d.schema(f.Type.Elem())
		case f.Type == reflect.TypeFor[[]string]() && name == "organisms",
			f.Type == reflect.TypeFor[[]notify.EventType]():
			schema = orNull(schema)
		}
		if r, ok := of[name]; ok {
			schema = d.ruled(schema, r)
		}
		if name == "id" && f.Type.Kind() == reflect.Int64 {
			schema = object{"type": "integer", "format": "int64", "minimum": 1}
		}
		schema = limited(schema, f)
		properties[name] = schema
		if alias := f.Tag.Get("alias"); alias != "" {
			properties[alias] = object{"description": "Another name of " + name + ".", "x-alias-of": name,
				"allOf": []object{schema}}
		}
		if needed(f) {
			*required = append(*required, name)
		}
	}
}
