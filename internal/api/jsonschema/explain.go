package jsonschema

import (
	"cmp"
	"maps"
	"strings"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
)

// tableMeanings describe fields as the tables of objects do, by their names.
var tableMeanings = func() map[string]string {
	all := map[string]string{}
	addMeanings(all, material.Descriptors)
	addMeanings(all, lab.Fields)
	addMeanings(all, lab.ShippingFields)
	addMeanings(all, person.AddressFields)
	ownMeanings(all, "Institution", party.InstitutionFields)
	ownMeanings(all, "InstitutionLab", party.LabFields)
	ownMeanings(all, "Affiliation", party.AffiliationFields)
	ownMeanings(all, "Position", party.PositionFields)
	ownMeanings(all, "Authority", party.AuthorityFields)
	ownMeanings(all, "StandIn", party.StandInFields)
	ownMeanings(all, "Master", party.MasterFields)
	ownMeanings(all, "Approval", approval.Fields)
	ownMeanings(all, "TransferFacts", requirement.FactFields)
	ownMeanings(all, "Permit", requirement.PermitFields)
	ownMeanings(all, "Purpose", requirement.PurposeFields)
	maps.Copy(all, agreementMeanings())
	return all
}()

// ownMeanings adds what fields mean in one kind of object alone.
func ownMeanings[T any](all map[string]string, kind string, table []field.Descriptor[T]) {
	for _, d := range table {
		all[kind+"."+d.Name] = cmp.Or(d.Doc, d.Help)
	}
}

func addMeanings[T any](all map[string]string, table []field.Descriptor[T]) {
	for _, d := range table {
		for _, name := range []string{d.Name, d.ShownName()} {
			all[name] = cmp.Or(all[name], d.Doc, d.Help)
		}
	}
}

// Explain puts the meanings of fields into the schema of an object.
func Explain(name string, schema Object) {
	kind := strings.TrimSuffix(strings.TrimSuffix(name, "New"), "Patch")
	properties := schema["properties"].(Object)
	for field, property := range properties {
		of := kind + "." + field
		text := cmp.Or(Meanings[of], tableMeanings[of], Meanings[field], tableMeanings[field])
		if is := property.(Object); text != "" && is["x-alias-of"] == nil {
			documented := maps.Clone(is)
			documented["description"] = text
			properties[field] = documented
		}
	}
}

// ParameterMeanings describe query parameters, by the name of their struct and theirs, that are too long for a tag.
var ParameterMeanings = map[string]string{
	"BulkQuery.mode": "What to do with the rows: store all or none (the default), only report what would be done, or " +
		"store the valid ones.",
	"BulkQuery.unknown": "Unrecognized columns: refuse (the default), or keep them as keys of additional_metadata.",
	"BulkQuery.mapping": "JSON object from headers to fields, such as {\"Box\": \"additional_metadata.storage\"}; an " +
		"empty text leaves a column out, null removes a remembered mapping. It is remembered for the " +
		"organization, unless mode is dry-run, except for the headers of templates and exports.",
	"Stream.last_event_id": "The same as the header Last-Event-ID, for clients that cannot send it.",
	"ListPage.limit":       "The maximum number of items on a page.",
	"ListPage.cursor":      "Where the page starts, from Link or next of the previous page.",
	"ListPage.count":       exactly,
	"SearchPage.offset":    "The number of items before the page. To go beyond the maximum, follow next.",
	"SearchPage.count":     exactly,
	"Filter.search": "Only requests that have all of these words somewhere: in the title of the material, " +
		"the lab, the names of requester and assignee, documents, note, quantity, abstract, shipment, messages or " +
		"issues. Phrases in double quotes; a minus before a word that must not occur.",
	"NotificationFilter.organization": "Only those of requests of this organization's materials.",
}

const exactly = "exact: All items are counted, however many there are, which takes time."
