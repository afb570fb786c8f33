package jsonschema

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"

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
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
)

// Facet returns the schema of a value of a facet.
func (d Set) Facet(f exchange.FacetName) Object {
	switch {
	case f.Name == "category":
		return d.enum(categories)
	case f.IDs:
		return IDSchema
	case f.Flag:
		return Object{"type": "boolean"}
	case f.Values != nil:
		return Enum(f.Values...)
	}
	return Object{"type": "string", "maxLength": exchange.MaxSearchText, "pattern": controlFree}
}

// ParameterSchema returns the schema of a parameter by name and type.
func (d Set) ParameterSchema(name string, t reflect.Type) Object {
	schema := d.Schema(t)
	switch {
	case schema["type"] != "string" || schema["maxLength"] != nil || schema["pattern"] != nil ||
		schema["format"] != nil:
	case name == "category":
		return d.enum(categories)
	default:
		schema = maps.Clone(schema)
		schema["maxLength"], schema["pattern"] = exchange.MaxSearchText, controlFree
	}
	return schema
}

// controlFree is the pattern of a text without control characters.
const controlFree = `^[^\x00-\x1f\x7f-\x9f]*$`

// rules are the rules of the fields of an object, by their JSON names.
type rules map[string]exchange.Rule

// bodyKind is a type of body, and whether it creates an object.
type bodyKind struct {
	body   reflect.Type
	create bool
}

// bodyRules holds the rules of all bodies of package exchange, taken from the checks themselves.
var bodyRules = func() map[bodyKind]rules {
	all := map[bodyKind]rules{}
	for _, body := range []exchange.Body{
		person.Credentials{}, person.Registration{}, person.UserPatch{}, lab.OrganizationPatch{},
		lab.SwitchesPatch{}, lab.ShippingPatch{}, person.AddressPatch{}, person.GrantPatch{},
		material.FundingBody{}, lab.InvitationNew{}, lab.InvitationToken{}, lab.JoinNew{},
		lab.JoinDecline{}, notify.WebhookPatch{}, material.SavedSearchPatch{}, material.ImportName{},
		material.ImportNew{}, material.BatchImportBody{}, material.Patch{}, document.AttachmentPatch{},
		request.New{}, request.NewGroup{}, request.Patch{}, request.ShipmentPatch{}, request.TextBody{},
		party.Patch[party.Institution]{}, party.Patch[party.Lab]{}, party.Patch[party.Affiliation]{},
		party.Patch[party.Position]{}, party.Patch[party.Authority]{}, party.Patch[party.StandIn]{},
		party.Patch[party.Master]{}, party.Patch[approval.Approval]{}, approval.SignNew{}, approval.AskNew{},
		playbook.Patch{},
		requirement.Stating{}, requirement.PermitPatch{}, requirement.PermitUse{},
		requirement.PurposePatch{}, instrument.Asking{},
		term.LineageStating{},
		duty.Patch{}, duty.Evidence{}, duty.Waiver{},
		request.MessageBody{}, request.ReasonBody{}, request.SnoozeNew{}, mailing.Patch{}, person.TokenNew{},
		person.ErasureNew{}, signing.PasskeyNew{}, letter.DraftNew{}, letter.VersionNew{}, letter.WithdrawNew{},
		letter.SignatureNew{}, letter.LinkNew{}, letter.PasskeyAsk{},
		signing.PasskeyAnswer{},
	} {
		for _, create := range []bool{false, true} {
			all[bodyKind{reflect.TypeOf(body), create}] = exchange.NoteRules(body, create)
		}
	}
	return all
}()

// rulesOf returns the rules of a request body; create: the body creates an object. A body of this package has them in
// its tags.
func rulesOf(body reflect.Type, create bool) rules {
	if list, known := bodyRules[bodyKind{body, create}]; known {
		return list
	}
	for f := range body.Fields() {
		value, _ := f.Type.FieldByName("Value")
		if f.Tag.Get("least") == "" && (value.Type == nil || value.Type.Kind() != reflect.Bool) {
			panic("the document has no rules of " + body.String() + ": put it into bodyRules")
		}
	}
	return nil
}

// shownAs maps an answered object to the request bodies that its texts came from.
var shownAs = map[reflect.Type][]any{
	reflect.TypeFor[shape.Award]():          {person.GrantPatch{}},
	reflect.TypeFor[shape.Organization]():   {lab.OrganizationPatch{}},
	reflect.TypeFor[shape.Lab]():            {lab.OrganizationPatch{}},
	reflect.TypeFor[shape.Shipping]():       {lab.ShippingPatch{}},
	reflect.TypeFor[shape.Address]():        {person.AddressPatch{}},
	reflect.TypeFor[shape.OwnAddress]():     {person.AddressPatch{}},
	reflect.TypeFor[shape.Material]():       {material.Patch{}},
	reflect.TypeFor[shape.Attachment]():     {document.AttachmentPatch{}},
	reflect.TypeFor[shape.Request]():        {request.Patch{}, request.New{}},
	reflect.TypeFor[shape.Shipment]():       {request.ShipmentPatch{}},
	reflect.TypeFor[shape.Document]():       {request.ReasonBody{}},
	reflect.TypeFor[shape.Message]():        {request.MessageBody{}},
	reflect.TypeFor[shape.Issue]():          {request.TextBody{}},
	reflect.TypeFor[shape.Webhook]():        {notify.WebhookPatch{}},
	reflect.TypeFor[shape.SavedSearch]():    {material.SavedSearchPatch{}},
	reflect.TypeFor[shape.MailSettings]():   {mailing.Patch{}},
	reflect.TypeFor[shape.Institution]():    {party.Patch[party.Institution]{}},
	reflect.TypeFor[shape.InstitutionLab](): {party.Patch[party.Lab]{}},
	reflect.TypeFor[shape.Affiliation]():    {party.Patch[party.Affiliation]{}},
	reflect.TypeFor[shape.Position]():       {party.Patch[party.Position]{}},
	reflect.TypeFor[shape.Authority]():      {party.Patch[party.Authority]{}},
	reflect.TypeFor[shape.StandIn]():        {party.Patch[party.StandIn]{}},
	reflect.TypeFor[shape.Master]():         {party.Patch[party.Master]{}},
	reflect.TypeFor[shape.Approval]():       {party.Patch[approval.Approval]{}},
	reflect.TypeFor[shape.Playbook]():       {playbook.Patch{}},
	reflect.TypeFor[shape.TransferFacts]():  {requirement.Stating{}},
	reflect.TypeFor[shape.Lineage]():        {term.LineageStating{}},
	reflect.TypeFor[shape.Permit]():         {requirement.PermitPatch{}},
	reflect.TypeFor[shape.Purpose]():        {requirement.PurposePatch{}},
	reflect.TypeFor[shape.JoinRequest]():    {lab.JoinNew{}, lab.JoinDecline{}},
}

// Shown returns the rules of an answered object: maximum lengths and possible values. Stored values may be empty, and
// are in canonical form.
func Shown(t reflect.Type) rules {
	list := rules{}
	for _, body := range shownAs[t] {
		for name, r := range bodyRules[bodyKind{reflect.TypeOf(body), false}] {
			if list[name].Max < r.Max || r.Words != nil || r.To > 0 {
				list[name] = exchange.Rule{Max: r.Max, From: r.From, To: r.To, Words: r.Words, Name: r.Name}
			}
		}
	}
	for name, pattern := range map[string]string{"sha256": `^[0-9a-f]{64}$`, "hash": `^[0-9a-f]{64}$`,
		"prev_hash": `^([0-9a-f]{64})?$`} {
		list[name] = exchange.Rule{Pattern: pattern}
	}
	return list
}

// ruled adds a rule to the schema of a field, unless the field refers to a component, which has its own.
func (d Set) ruled(schema Object, r exchange.Rule) Object {
	if r.Words != nil {
		words := d.enum(enumeration{r.Name, r.Words})
		if _, plain := schema["type"].(string); plain || schema["$ref"] != nil {
			return words
		}
		return orNull(words)
	}
	add := Object{}
	kind, _ := schema["type"].(string)
	if kinds, ok := schema["type"].([]string); ok {
		kind = kinds[0]
	}
	switch kind {
	case "array":
		bound(add, "minItems", r.Min)
		bound(add, "maxItems", r.Max)
		if r.Each != nil {
			add["items"] = d.ruled(schema["items"].(Object), *r.Each)
		}
	case "string":
		bound(add, "minLength", r.Min)
		bound(add, "maxLength", r.Max)
		for word, text := range map[string]string{"pattern": r.Pattern, "format": r.Format} {
			if text != "" {
				add[word] = text
			}
		}
		if r.Examples != nil {
			add["examples"] = r.Examples
		}
	case "integer":
		bound(add, "minimum", r.From)
		bound(add, "maximum", r.To)
	}
	if len(add) == 0 {
		return schema
	}
	schema = maps.Clone(schema)
	maps.Copy(schema, add)
	return schema
}

func bound(schema Object, word string, n int) {
	if n > 0 {
		schema[word] = n
	}
}

// Limited adds the limits in the tags of a field of a body or query.
func Limited(schema Object, f reflect.StructField) Object {
	for word, tag := range map[string]string{"minimum": "least", "maximum": "most", "default": "default"} {
		if value := f.Tag.Get(tag); value != "" {
			schema = maps.Clone(schema)
			schema[word] = json.RawMessage(value)
		}
	}
	return schema
}

// savedFilters returns the filters of a saved search: those that a search accepts.
func savedFilters() Object {
	properties, names := Object{}, []string{}
	for _, f := range material.Facets {
		properties[f.Name] = Object{"type": "array", "maxItems": material.MaxFilterValues, "items": facetValue(f),
			"description": f.Label + ", one of several."}
		names = append(names, f.Name)
	}
	return Object{"type": "object", "properties": properties, "additionalProperties": false,
		"description": "Filters as a search of materials takes them: " + strings.Join(names, ", ") + "."}
}

// facetValue returns the schema of one value of a facet, as text.
func facetValue(f exchange.FacetName) Object {
	switch {
	case f.IDs:
		return Object{"type": "string", "pattern": "^[1-9][0-9]{0,18}$"}
	case f.Flag:
		return Enum("true", "false")
	case f.Values != nil:
		return Enum(f.Values...)
	}
	return Object{"type": "string", "minLength": 1, "maxLength": exchange.LineLength}
}
