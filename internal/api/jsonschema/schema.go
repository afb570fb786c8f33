// Package jsonschema describes the types of bodies, answers and query parameters as JSON Schemas: their fields, the
// values that these may have, and what they mean.
package jsonschema

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/duty"
	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/agreement/term"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/datause"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// Object is a JSON object of the OpenAPI document.
type Object = map[string]any

// IDSchema is the schema of an id that is a number.
var IDSchema = Object{"type": "integer", "format": "int64", "minimum": 1}

// RefTo returns a reference to a schema of the components.
func RefTo(schema string) Object { return Object{"$ref": "#/components/schemas/" + schema} }

// Scalars are the types whose JSON does not follow from their Go structure.
var Scalars = map[reflect.Type]Object{
	reflect.TypeFor[shape.Time](): {"type": "string", "format": "timestamp",
		"pattern": `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$`, "examples": []string{"2020-05-11T14:13:39+0000"}},
	reflect.TypeFor[shape.Expiry](): {"type": "string", "format": "date-time",
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
	reflect.TypeFor[shape.Contract]():      {"type": "object"},
	reflect.TypeFor[exchange.SearchText](): {"type": "string", "maxLength": exchange.MaxSearchText},
	reflect.TypeFor[exchange.Action]():     {"type": "string", "examples": []string{"material.update"}},
	reflect.TypeFor[PageSize]():            {"type": "integer"},
	reflect.TypeFor[HitOffset](): {"type": "integer", "minimum": 0, "maximum": exchange.MaxOffset,
		"default": 0},
	reflect.TypeFor[CursorText](): {"type": "string", "minLength": 1, "maxLength": MaxCursorLength * 4 / 3,
		"pattern": "^[A-Za-z0-9_-]+$"},
}

// component is a named schema that does not follow from the fields of a type.
type component struct {
	name   string
	schema Object
}

var components = map[reflect.Type]component{
	reflect.TypeFor[exchange.Ref](): {"ID",
		Object{"description": "An id as 7, as \"7\" or as {\"id\": 7}.", "anyOf": []Object{
			{"type": "integer", "format": "int64", "minimum": 1}, {"type": "string", "pattern": idText},
			{"type": "object", "required": []string{"id"}, "properties": Object{"id": Object{"anyOf": []Object{
				{"type": "integer", "format": "int64", "minimum": 1}, {"type": "string", "pattern": idText}}}}}}}},
	reflect.TypeFor[exchange.UserRef](): {"UserID", Object{"description": "The id of a user as a UUID or as " +
		"{\"id\": UUID}.", "anyOf": []Object{
		{"type": "string", "format": "uuid"},
		{"type": "object", "required": []string{"id"},
			"properties": Object{"id": Object{"type": "string", "format": "uuid"}}}}}},
	reflect.TypeFor[material.IDText](): {"Identifier", Object{"description": "An accession, DOI or address, in any " +
		"format.",
		"anyOf": []Object{{"type": "string"}, {"type": "number"}}, "examples": []string{"GSE5859", "SRP009615"}}},
	reflect.TypeFor[material.Filters](): {"SearchFilters", savedFilters()},
	reflect.TypeFor[json.RawMessage]():  {"JSON", Object{"description": "Any JSON."}},
}

// idText is the pattern of an id that is written as text.
const idText = `^\s*\+?0*[1-9][0-9]{0,18}\s*$`

// Set holds the schemas of the components of the document, by their names; describing a type adds what it refers to.
type Set map[string]any

// enum adds an enumeration to the document and returns a reference to it.
func (d Set) enum(e enumeration) Object { return d.named(component{e.name, Enum(e.Words...)}) }

// metadata is the schema of additional_metadata.
var metadata = component{"Metadata",
	Object{"type": "object", "description": metadataKeys(), "additionalProperties": true,
		// more or longer keys do not fit
		"maxProperties": (material.MaxMetadata - len("{}")) / len(`"a":1,`),
		"propertyNames": Object{"maxLength": material.MaxMetadata - len(`{"":1}`)}}}

// credential is the schema of what a browser answers to a challenge.
var credential = component{"PasskeyAnswer", Object{"type": "object", "description": "A PublicKeyCredential, as its " +
	"toJSON() returns it (W3C, Web Authentication, section 5.1). At most 16 KiB."}}

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
func (d Set) named(c component) Object {
	d[c.name] = c.schema
	return RefTo(c.name)
}

// orNull allows null in addition to what a schema allows.
func orNull(schema Object) Object {
	kind, simple := schema["type"].(string)
	if !simple {
		return Object{"anyOf": []Object{schema, {"type": "null"}}}
	}
	nullable := maps.Clone(schema)
	nullable["type"] = []string{kind, "null"}
	return nullable
}

// Schema describes the JSON of a type; a struct is described once, as a component.
func (d Set) Schema(t reflect.Type) Object {
	if schema, ok := Scalars[t]; ok {
		return schema
	}
	if c, ok := components[t]; ok {
		return d.named(c)
	}
	if e, ok := enumerations[t]; ok {
		return d.enum(e)
	}
	if t == reflect.TypeFor[shape.Missing]() { // one of the two
		return Object{"anyOf": []Object{d.Schema(reflect.TypeFor[request.Need]()),
			d.Schema(reflect.TypeFor[letters.MissingField]())}}
	}
	switch t.Kind() {
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Float64:
		return Object{"type": "number", "format": "double"}
	case reflect.Int, reflect.Int64:
		return Object{"type": "integer", "format": "int64"}
	case reflect.Pointer:
		return orNull(d.Schema(t.Elem()))
	case reflect.Slice:
		return Object{"type": "array", "items": d.Schema(t.Elem())}
	case reflect.Map:
		return Object{"type": "object", "additionalProperties": d.Schema(t.Elem())}
	case reflect.Struct:
		if value, ok := t.FieldByName("Value"); ok { // Opt and Null
			return d.Schema(value.Type)
		}
		name, of, generic := strings.Cut(schemaName(t), "[")
		if generic { // Version[Material] is MaterialVersion
			name = strings.TrimSuffix(of[strings.LastIndexByte(of, '.')+1:], "]") + name
		}
		if d[name] == nil {
			d[name] = Object{} // breaks the cycle if its fields refer to it
			d[name] = d.structure(name, t, Shown(t),
				func(f reflect.StructField) bool { return !strings.Contains(f.Tag.Get("json"), ",omit") })
		}
		return RefTo(name)
	}
	panic("the document has no words for " + t.String())
}

// schemaNames are the names of schemas whose types are named differently in Go.
var schemaNames = map[reflect.Type]string{
	reflect.TypeFor[letter.DraftNew]():       "AgreementNew",
	reflect.TypeFor[letter.Question]():       "AgreementQuestion",
	reflect.TypeFor[letter.VersionNew]():     "AgreementVersionNew",
	reflect.TypeFor[letter.LinkNew]():        "AgreementLinkNew",
	reflect.TypeFor[letter.PasskeyAsk]():     "AgreementPasskeyAsk",
	reflect.TypeFor[signing.PasskeyAnswer](): "AgreementPasskeyAnswer",
	reflect.TypeFor[letter.SignatureNew]():   "AgreementSignatureNew",
	reflect.TypeFor[letter.WithdrawNew]():    "AgreementWithdrawNew",
	reflect.TypeFor[letters.MissingField]():  "AgreementMissingField",
	reflect.TypeFor[letters.Obstacle]():      "AgreementObstacle",
	reflect.TypeFor[mailing.Patch]():         "MailSettingsPatch",
	reflect.TypeFor[material.Patch]():        "MaterialPatch",
	reflect.TypeFor[request.EventDetail]():   "Detail",
	reflect.TypeFor[request.New]():           "RequestNew",
	reflect.TypeFor[request.NewGroup]():      "RequestGroupNew",
	reflect.TypeFor[request.Patch]():         "RequestPatch",
	reflect.TypeFor[letters.Uncovered]():     "AgreementUncovered",

	reflect.TypeFor[party.Patch[party.Institution]](): "InstitutionPatch",
	reflect.TypeFor[party.Patch[party.Lab]]():         "InstitutionLabPatch",
	reflect.TypeFor[party.Patch[party.Affiliation]](): "AffiliationPatch",
	reflect.TypeFor[party.Patch[party.Position]]():    "PositionPatch",
	reflect.TypeFor[party.Patch[party.Authority]]():   "AuthorityPatch",
	reflect.TypeFor[party.Patch[party.StandIn]]():     "StandInPatch",
	reflect.TypeFor[party.Patch[party.Master]]():      "MasterPatch",
	reflect.TypeFor[party.Patch[approval.Approval]](): "ApprovalPatch",
	reflect.TypeFor[approval.SignNew]():               "ApprovalSignNew",
	reflect.TypeFor[approval.AskNew]():                "ApprovalAskNew",
	reflect.TypeFor[datause.Term]():                   "DataUse",
	reflect.TypeFor[playbook.Patch]():                 "PlaybookPatch",
	reflect.TypeFor[playbook.Preference]():            "PlaybookPreference",
	reflect.TypeFor[playbook.Clause]():                "PlaybookClause",
	reflect.TypeFor[requirement.PermitPatch]():        "PermitPatch",
	reflect.TypeFor[requirement.PermitUse]():          "PermitUseNew",
	reflect.TypeFor[requirement.PurposePatch]():       "PurposePatch",
	reflect.TypeFor[instrument.Asking]():              "ResolutionPatch",
	reflect.TypeFor[requirement.Stating]():            "TransferFactsPatch",
	reflect.TypeFor[term.LineageStating]():            "LineagePatch",
	reflect.TypeFor[duty.Patch]():                     "AgreementDutyPatch",
	reflect.TypeFor[duty.Evidence]():                  "AgreementDutyEvidence",
	reflect.TypeFor[duty.Waiver]():                    "AgreementDutyWaiver",
}

// schemaName returns the name of the schema of a type.
func schemaName(t reflect.Type) string { return cmp.Or(schemaNames[t], t.Name()) }

// Input describes a request body, under the name of its type with an ending for its purpose; create: the body
// creates an object, so that some fields are required.
func (d Set) Input(t reflect.Type, ending string, create bool) string {
	name := schemaName(t)
	if base, ok := strings.CutSuffix(name, "Patch"); ok {
		name = base + ending
	}
	of := rulesOf(t, create)
	d[name] = d.structure(name, t, of, func(f reflect.StructField) bool {
		// If one of two names is required, neither is listed: JSON Schema has no simple way to say so.
		return f.Type.Kind() == reflect.String || create && of[f.Tag.Get("json")].Required && f.Tag.Get("alias") == ""
	})
	return name
}

func (d Set) structure(name string, t reflect.Type, of rules, needed func(reflect.StructField) bool) Object {
	properties, required := Object{}, []string{}
	d.fields(t, of, needed, properties, &required)
	schema := Object{"type": "object", "properties": properties}
	Explain(name, schema)
	if len(required) > 0 {
		slices.Sort(required)
		schema["required"] = slices.Compact(required)
	}
	return schema
}

func (d Set) fields(t reflect.Type, of rules, needed func(reflect.StructField) bool, properties Object,
	required *[]string) {
	for f := range shape.LayoutOf(t).Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && f.Type.Kind() == reflect.Pointer: // only shown to some callers
			d.fields(f.Type.Elem(), Shown(f.Type.Elem()), func(reflect.StructField) bool { return false }, properties,
				required)
			continue
		case f.Anonymous:
			own := Shown(f.Type)
			maps.Copy(own, of) // those of a body that has the fields of another
			d.fields(f.Type, own, needed, properties, required)
			continue
		case name == "-":
			continue
		}
		schema := d.Schema(f.Type)
		switch _, named := enumerations[f.Type]; {
		case name == "category" && !named:
			schema = d.enum(categories)
		case name == "additional_metadata":
			schema = d.named(metadata)
		case name == "credential":
			schema = d.named(credential)
		}
		switch {
		case f.Type.Kind() == reflect.Pointer && options == "omitempty":
			schema = d.Schema(f.Type.Elem())
		case f.Type == reflect.TypeFor[[]string]() && name == "organisms",
			f.Type == reflect.TypeFor[[]notify.EventType]():
			schema = orNull(schema)
		}
		if r, ok := of[name]; ok {
			schema = d.ruled(schema, r)
		}
		if name == "id" && f.Type.Kind() == reflect.Int64 {
			schema = Object{"type": "integer", "format": "int64", "minimum": 1}
		}
		schema = Limited(schema, f)
		properties[name] = schema
		if alias := f.Tag.Get("alias"); alias != "" {
			properties[alias] = Object{"description": "Another name of " + name + ".", "x-alias-of": name,
				"allOf": []Object{schema}}
		}
		if needed(f) {
			*required = append(*required, name)
		}
	}
}
