package publish

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
)

// LinkedDataType is the media type of linked data.
const LinkedDataType = "application/ld+json"

// node is an object of JSON-LD.
type node = map[string]any

// profile is how a kind of material is described: its types, and the Bioschemas profile that defines the properties of
// these types (bioschemas.org/profiles). Only a description with all the properties that the profile requires, its
// "minimum", claims to conform to it.
type profile struct {
	types    []string
	name     string
	required []string
}

// What is sent in a parcel is also a Product, since only a Product can have an offer. Of LabProtocol there are only
// drafts; the newest, 0.9, requires nothing, so the one before counts.
var (
	sample    = profile{[]string{"BioSample", "Product"}, "Sample/0.2-RELEASE-2018_11_10", []string{"identifier"}}
	substance = profile{[]string{"ChemicalSubstance", "Product"}, "ChemicalSubstance/0.4-RELEASE",
		[]string{"identifier", "name", "url"}}
	dataset = profile{[]string{"Dataset"}, "Dataset/1.0-RELEASE",
		[]string{"description", "identifier", "keywords", "license", "name", "url"}}
	protocol = profile{[]string{"LabProtocol"}, "LabProtocol/0.8-DRAFT",
		[]string{"bioSample", "intendedUse", "keywords", "labEquipment", "reagent"}}
)

func (d details) profile() profile {
	switch d.category.Code {
	case "DATASET":
		return dataset
	case "PROTOCOL":
		return protocol
	case "OTHER":
		if d.choice("material_type") == "compound" {
			return substance
		}
	}
	return sample
}

// LinkedData describes a material in JSON-LD, with the vocabulary of schema.org and Bioschemas. It is safe inside of a
// <script> element: it contains none of <, > and &, nor a line separator.
func LinkedData(l Listing) ([]byte, error) {
	d := l.details()
	p := d.profile()
	lab := fmt.Sprintf("%s/organizations/%d", l.Site, l.OrganizationID)
	n := node{
		"@context":      "https://schema.org/",
		"@id":           l.address(),
		"@type":         p.types,
		"alternateName": d.alternateNames(l.Title),
		"description":   l.description(d),
		"url":           l.page(),
		"identifier":    l.identifierNodes(d),
		"keywords":      l.keywords(d),
		"citation":      l.citationNodes(),
		"dateCreated":   day(l.CreatedAt),
		"dateModified":  day(l.UpdatedAt),
		"datePublished": day(l.published()),
		"offers":        l.offer(lab),
	}
	organization := node{
		"@type": "Organization", "@id": lab, "url": lab, "name": l.Organization.Name,
		"description": l.Organization.Description,
		"contactPoint": node{"@type": "ContactPoint", "contactType": "requests", "name": l.Contact.Name(),
			"url": l.page()},
	}
	fit(organization)
	switch p.types[0] {
	case "Dataset":
		l.work(n, d, organization)
		n["measurementTechnique"] = slices.Concat(d.get("data_type"), d.get("technology"), d.get("platform"))
		n["includedInDataCatalog"] = node{"@type": "DataCatalog", "name": site, "url": l.Site}
		if d.choice("access") == "open" {
			n["isAccessibleForFree"] = true
		}
	case "LabProtocol":
		l.work(n, d, organization)
		n["version"] = d.text("version")
		n["bioSample"] = d.get("sample_type")
		n["reagent"] = lines(d.text("materials"))
		n["labEquipment"] = lines(d.text("equipment"))
		n["protocolOutcome"] = d.text("expected_results")
		n["intendedUse"] = strings.Join(d.get("technique"), ", ")
		var steps []node
		for _, step := range lines(d.text("steps")) {
			steps = append(steps, node{"@type": "HowToStep", "text": step})
		}
		n["step"] = steps
	default:
		n["maintainer"] = organization
		n["accessConditions"] = l.conditions()
		n["taxonomicRange"] = l.taxa(d)
		n["associatedDisease"] = diseases(d)
		n["additionalProperty"] = append(l.properties(), d.properties()...)
	}
	for _, field := range material.Descriptors {
		if field.Linked != "" && field.Linked != characteristic {
			n[field.Linked] = field.Text(&l.Material)
		}
	}
	fit(n)
	if !slices.ContainsFunc(p.required, func(name string) bool { return n[name] == nil }) {
		n["http://purl.org/dc/terms/conformsTo"] = node{"@id": "https://bioschemas.org/profiles/" + p.name,
			"@type": "CreativeWork"}
	}
	return json.Marshal(n)
}

// work adds the properties that only a creative work has.
func (l Listing) work(n node, d details, organization node) {
	n["provider"] = organization
	n["conditionsOfAccess"] = l.conditions()
	n["about"] = append(l.taxa(d), diseases(d)...)
	if address := d.license(); address != "" {
		n["license"] = address
	} else if name := d.text("license"); name != "" {
		n["license"] = node{"@type": "CreativeWork", "name": name}
	}
}

// fit removes the properties without a value.
func fit(n node) {
	for key, value := range n {
		empty := false
		switch v := value.(type) {
		case string:
			empty = v == ""
		case []string:
			empty = len(v) == 0
		case []node:
			empty = len(v) == 0
		}
		if empty {
			delete(n, key)
		}
	}
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// lines returns the lines of a text that are not empty.
func lines(text string) []string {
	var list []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

func (d details) alternateNames(title string) []string {
	var list []string
	for _, key := range []string{"cell_line_name", "plasmid_name", "strain_name", "common_name", "submitter_pdx_id",
		"protocol_name"} {
		if name := d.text(key); name != "" && name != title && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// description returns the text that the lab entered, or a sentence if there is none: the profiles require one.
func (l Listing) description(d details) string {
	if text := d.text("description", "abstract"); text != "" {
		return text
	}
	if text := value(l.AdditionalInfo); text != "" {
		return text
	}
	return fmt.Sprintf("%s (%s), offered by %s.", l.Title, d.category.Label, l.Organization.Name)
}

// conditions returns one sentence about what a request needs (specification, "Materials").
func (l Listing) conditions() string {
	var list []string
	for _, need := range []struct {
		needed bool
		what   string
	}{
		{l.NeedsMTA, "a signed material transfer agreement"},
		{l.NeedsIRB, "the approval of an ethics board"},
		{l.NeedsAbstract, "an abstract of the planned work"},
	} {
		if need.needed {
			list = append(list, need.what)
		}
	}
	last := len(list) - 1
	if last < 0 {
		return "On request."
	}
	return "On request, with " + strings.TrimPrefix(strings.Join(list[:last], ", ")+" and ", " and ") + list[last] + "."
}

func (l Listing) offer(lab string) node {
	o := node{"@type": "Offer", "url": l.page(), "offeredBy": node{"@id": lab},
		"availability": "https://schema.org/InStock"}
	switch {
	case l.Archived:
		o["availability"] = "https://schema.org/Discontinued"
	case l.Embargoed(l.Now):
		o["availability"] = "https://schema.org/PreOrder"
		o["availabilityStarts"] = day(l.published())
	}
	return o
}

// namespaces holds the names of kinds of identifiers in the registry of identifiers.org.
var namespaces = map[identifier.Kind]string{
	"bioproject": "bioproject", "biosample": "biosample", "cellosaurus": "cellosaurus", "dbgap": "dbgap", "doi": "doi",
	"geo": "geo",
	"mgi": "mgi", "mmrrc": "mmrrc", "pmid": "pubmed", "rrid": "rrid", "sra": "insdc.sra",
}

func idNode(id identifier.ID) node {
	n := node{"@type": "PropertyValue", "name": id.Kind.Label(), "value": id.Canonical, "url": id.Address()}
	if name := namespaces[id.Kind]; name != "" {
		n["propertyID"] = "https://registry.identifiers.org/registry/" + name
	}
	fit(n)
	return n
}

// identifierNodes returns the identifiers of authorities and our own number, so that there is always one.
func (l Listing) identifierNodes(d details) []node {
	var list []node
	for _, id := range d.identifiers() {
		list = append(list, idNode(id))
	}
	return append(list, node{"@type": "PropertyValue", "name": site + " listing", "value": fmt.Sprint(l.ID),
		"url": l.address()})
}

// keywords returns the ontology terms and what people would search by. The label of a choice means little without the
// name of its field.
func (l Listing) keywords(d details) []any {
	list := []any{d.category.Label}
	for _, term := range d.get("ontology_terms") {
		n := node{"@type": "DefinedTerm", "termCode": term}
		if id, _, err := identifier.OBO(term); err == nil {
			n["@id"] = identifier.Kind("obo").Address(id)
		}
		list = append(list, n)
	}
	for _, organism := range l.Organisms {
		list = append(list, organism)
	}
	for _, f := range d.category.Fields {
		if f.Facet && (f.Type == category.Text || f.Type == category.List) {
			for _, word := range d.texts(f) {
				if !slices.Contains(list, any(word)) {
					list = append(list, word)
				}
			}
		}
	}
	return list
}

func (l Listing) citationNodes() []node {
	var list []node
	for _, a := range l.articles() {
		n := node{"@type": "ScholarlyArticle", "name": a.title}
		var ids []node
		for _, id := range a.ids() {
			ids = append(ids, idNode(id))
		}
		n["identifier"] = ids
		if len(ids) > 0 {
			n["@id"], n["url"] = ids[0]["url"], ids[0]["url"]
		}
		if a.text != a.title {
			n["description"] = a.text
		}
		if a.preprint {
			n["creativeWorkStatus"] = "Pre-print"
		}
		fit(n)
		list = append(list, n)
	}
	return list
}

// taxa returns the organisms: by number, by name, and as one node if there is one of each.
func (l Listing) taxa(d details) []node {
	var list []node
	for _, number := range d.get("organism_ids") {
		id, err := identifier.Taxonomy(number)
		if err != nil {
			continue
		}
		local := strings.TrimPrefix(id, "NCBITaxon:")
		list = append(list, node{"@type": "Taxon", "@id": "http://purl.obolibrary.org/obo/NCBITaxon_" + local,
			"identifier": id})
	}
	if len(list) == 1 && len(l.Organisms) == 1 {
		list[0]["name"] = l.Organisms[0]
		return list
	}
	for _, name := range l.Organisms {
		list = append(list, node{"@type": "Taxon", "name": name})
	}
	return list
}

func diseases(d details) []node {
	var list []node
	for _, name := range slices.Concat(d.get("disease"), d.get("diagnosis")) {
		list = append(list, node{"@type": "MedicalCondition", "name": name})
	}
	return list
}

// elsewhere lists fields that are not characteristics: they have a property of their own, or are the number of a
// patient, which must not reach a search engine.
var elsewhere = []string{"disease", "diagnosis", "submitter_patient_id"}

// characteristic is the property that names a characteristic and its value.
const characteristic = "additionalProperty"

// properties returns the characteristics of every category.
func (l Listing) properties() []node {
	var list []node
	for _, field := range material.Descriptors {
		if field.Linked != characteristic {
			continue
		}
		if text := field.Text(&l.Material); text != "" {
			list = append(list, node{"@type": "PropertyValue", "propertyID": field.Name, "name": field.Label,
				"value": text})
		}
	}
	return list
}

// properties returns the characteristics, without the long texts.
func (d details) properties() []node {
	var list []node
	for _, f := range d.category.Fields {
		texts := d.texts(f)
		if len(texts) == 0 || f.Type == category.Long || f.Vocabulary != "" || slices.Contains(elsewhere, f.Key) {
			continue
		}
		n := node{"@type": "PropertyValue", "propertyID": f.Key, "name": f.Label, "value": texts[0], "unitText": f.Unit}
		raw := d.values[f.Key]
		_, many := raw.([]any)
		_, truth := raw.(bool)
		switch {
		case many:
			n["value"] = texts
		case truth:
			n["value"] = raw
		// or a string of one
		case (f.Type == category.Number || f.Type == category.Integer) && json.Valid([]byte(texts[0])):
			n["value"] = json.RawMessage(texts[0])
		}
		fit(n)
		list = append(list, n)
	}
	return list
}
