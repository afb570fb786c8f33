package publish_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/publish"
)

// vocabulary holds the properties of each type: schema.org 29 and the types and profiles of Bioschemas that our
// profiles name. The properties that a type inherits are listed under the type that it inherits from.
var vocabulary = map[string]string{
	"Thing": "name alternateName description identifier sameAs url",
	"CreativeWork": "about citation conditionsOfAccess creativeWorkStatus dateCreated dateModified " +
		"datePublished isAccessibleForFree keywords license maintainer offers provider version",
	"Dataset":     "CreativeWork measurementTechnique includedInDataCatalog",
	"LabProtocol": "CreativeWork bioSample labEquipment protocolOutcome reagent step",
	"BioSample": "BioChemEntity accessConditions additionalProperty citation dateCreated dateModified " +
		"datePublished keywords maintainer",
	"ChemicalSubstance": "BioSample",
	"BioChemEntity":     "associatedDisease taxonomicRange",
	"Product":           "additionalProperty keywords offers",
	"Organization":      "contactPoint",
	"ContactPoint":      "contactType",
	"Offer":             "availability availabilityStarts offeredBy",
	"PropertyValue":     "propertyID unitText value",
	"DefinedTerm":       "termCode",
	"ScholarlyArticle":  "CreativeWork",
	"HowToStep":         "text",
	"DataCatalog":       "CreativeWork", "Taxon": "", "MedicalCondition": "",
}

// mays returns the properties of a type, including inherited ones.
func mays(kind string) []string {
	list := strings.Fields(vocabulary["Thing"])
	for _, word := range strings.Fields(vocabulary[kind]) {
		if _, parent := vocabulary[word]; parent {
			list = append(list, mays(word)...)
		}
		list = append(list, word)
	}
	return list
}

// mustBeLinked fails if a value is not JSON-LD of the vocabulary.
func mustBeLinked(t *testing.T, where string, v any) {
	t.Helper()
	switch v := v.(type) {
	case nil, string, bool, json.Number, float64:
		if v == nil || v == "" {
			t.Errorf("%s says nothing", where)
		}
	case []any:
		for _, item := range v {
			mustBeLinked(t, where, item)
		}
		if len(v) == 0 {
			t.Errorf("%s is empty", where)
		}
	case map[string]any:
		var allowed []string
		kinds, many := v["@type"].([]any)
		if !many && v["@type"] != nil {
			kinds = []any{v["@type"]}
		}
		for _, kind := range kinds {
			if _, known := vocabulary[kind.(string)]; !known {
				t.Errorf("%s is a %s", where, kind)
			}
			allowed = append(allowed, mays(kind.(string))...)
		}
		id, named := v["@id"].(string)
		if address, err := url.Parse(id); named && (err != nil || address.Host == "") || !named && len(kinds) == 0 {
			t.Errorf("%s has the @id %q", where, id)
		}
		for name, value := range v {
			if !strings.HasPrefix(name, "@") && !slices.Contains(allowed, name) {
				t.Errorf("%s, a %v, has no %s", where, kinds, name)
			}
			if name != "@type" {
				mustBeLinked(t, where+"."+name, value)
			}
		}
	}
}

// mustBeSafe fails if linked data could end a script element, or is not JSON.
func mustBeSafe(t *testing.T, l publish.Listing) []byte {
	t.Helper()
	raw, err := publish.LinkedData(l)
	if err != nil || !json.Valid(raw) || strings.ContainsAny(string(raw), "<>&\u2028\u2029") {
		t.Fatalf("%s: %v", raw, err)
	}
	return raw
}

func TestLinkedDataSpeaksSchemaOrgAndBioschemas(t *testing.T) {
	t.Parallel()
	for code, archive := range goldens(t) {
		raw := mustBeSafe(t, listing(t, archive.Files[0].Data))
		var v map[string]any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		profile, _ := v["http://purl.org/dc/terms/conformsTo"].(map[string]any)
		if id, _ := profile["@id"].(string); !strings.HasPrefix(id, "https://bioschemas.org/profiles/"+
			v["@type"].([]any)[0].(string)+"/") &&
			(v["@type"].([]any)[0] != "BioSample" ||
				!strings.HasPrefix(id, "https://bioschemas.org/profiles/Sample/")) {
			t.Errorf("%s: %v conforms to %v", code, v["@type"], profile)
		}
		if v["@context"] != "https://schema.org/" || profile["@type"] != "CreativeWork" {
			t.Errorf("%s: %v %v", code, v["@context"], profile)
		}
		for _, minimum := range []string{"name", "description", "identifier", "keywords", "url", "offers"} {
			if v[minimum] == nil {
				t.Errorf("%s has no %s", code, minimum)
			}
		}
		delete(v, "http://purl.org/dc/terms/conformsTo")
		mustBeLinked(t, code, v)
	}
}

// TestNothingOfPeopleIsPublishedButTheNameOfTheContact: in every format.
func TestNothingOfPeopleIsPublishedButTheNameOfTheContact(t *testing.T) {
	t.Parallel()
	for code, archive := range goldens(t) {
		l := listing(t, archive.Files[0].Data)
		all := mustBeSafe(t, l)
		for _, f := range publish.Formats {
			raw, err := publish.Citation(l, f)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, raw...)
		}
		for _, secret := range []string{l.Contact.Email, "PT-0123", "stays inside"} {
			if strings.Contains(string(all), secret) {
				t.Errorf("%s shows %s", code, secret)
			}
		}
	}
}

func TestAnOfferSaysWhetherOneCanAskForIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		embargo  string
		archived bool
		want     string
		starts   any
	}{
		{"", false, "InStock", nil}, {"2026-11-21", false, "InStock", nil},
		{"2026-11-22", false, "PreOrder", "2026-11-22"}, {"2026-11-22", true, "Discontinued", nil},
	} {
		l := listing(t, []byte(`{"category": "OTHER", "title": "A"}`))
		if l.Archived = test.archived; test.embargo != "" {
			l.EmbargoDate = new(exchange.Date(test.embargo))
		}
		var v struct{ Offers map[string]any }
		if err := json.Unmarshal(mustBeSafe(t, l), &v); err != nil {
			t.Fatal(err)
		}
		if v.Offers["availability"] != "https://schema.org/"+test.want ||
			v.Offers["availabilityStarts"] != test.starts {
			t.Errorf("%+v: %v", test, v.Offers)
		}
	}
}
