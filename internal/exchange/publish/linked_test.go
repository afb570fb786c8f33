package publish_test

import (
	"encoding/json"
	"maps"
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
	"LabProtocol": "CreativeWork bioSample intendedUse labEquipment protocolOutcome reagent step",
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

func TestLinkedData_FollowsSchemaOrgAndBioschemas(t *testing.T) {
	t.Parallel()
	for code, archive := range goldens(t) {
		raw := mustBeSafe(t, listing(t, archive.Files[0].Data))
		var v map[string]any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		if v["@context"] != "https://schema.org/" {
			t.Errorf("%s: %v", code, v["@context"])
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

// requiredBy holds the properties that each profile of bioschemas.org requires ("minimum").
var requiredBy = map[string]string{
	"Sample/0.2-RELEASE-2018_11_10": "identifier",
	"ChemicalSubstance/0.4-RELEASE": "identifier name url",
	"Dataset/1.0-RELEASE":           "description identifier keywords license name url",
	"LabProtocol/0.8-DRAFT":         "bioSample intendedUse keywords labEquipment reagent",
}

func TestLinkedData_ClaimsAProfileIfItHasAllThatTheProfileRequires(t *testing.T) {
	t.Parallel()
	claimed := map[string]bool{}
	for code, archive := range goldens(t) {
		l := listing(t, archive.Files[0].Data)
		var all map[string]any
		if err := json.Unmarshal(l.Metadata, &all); err != nil {
			t.Fatal(err)
		}
		all["sample_type"], all["technique"] = "Mouse brain", []string{"Single-nucleus RNA sequencing"}
		all["equipment"], all["materials"], all["license"] = "Centrifuge", "RNase inhibitor", "CC-BY-4.0"
		for _, without := range slices.Concat([]string{""}, slices.Sorted(maps.Keys(all))) {
			some := maps.Clone(all)
			delete(some, without)
			raw, err := json.Marshal(some)
			if err != nil {
				t.Fatal(err)
			}
			l.Metadata = raw
			var v map[string]any
			if err := json.Unmarshal(mustBeSafe(t, l), &v); err != nil {
				t.Fatal(err)
			}
			profile, _ := v["http://purl.org/dc/terms/conformsTo"].(map[string]any)
			id, claims := profile["@id"].(string)
			if !claims {
				if without == "" {
					t.Errorf("%s: complete, but claims no profile", code)
				}
				continue
			}
			name := strings.TrimPrefix(id, "https://bioschemas.org/profiles/")
			required, known := requiredBy[name]
			if !known {
				t.Errorf("%s claims the profile %s, which is not in requiredBy", code, id)
			}
			claimed[name] = true
			for _, property := range strings.Fields(required) {
				if v[property] == nil {
					t.Errorf("%s without %s has no %s, which %s requires", code, without, property, name)
				}
			}
		}
	}
	for name := range requiredBy {
		if !claimed[name] && !strings.HasPrefix(name, "ChemicalSubstance/") {
			t.Errorf("nothing claims %s", name)
		}
	}
}

func TestLinks_OfAnAddressThatALabEnteredStayOneLink(t *testing.T) {
	t.Parallel()
	l := listing(t, []byte(`{"category": "DATASET", "title": "A", "additional_metadata": {"accession_code": "GSE2122",
		"description": "B", "license": "https://example.org/a>; rel=\"item\"\r\nX: y"}}`))
	for _, link := range l.Links() {
		if text := link.String(); strings.ContainsAny(text, "\r\n") || strings.Count(text, ">") != 1 {
			t.Errorf("%q", text)
		}
	}
}

// TestPublish_OnlyTheNameOfTheContact: in every format.
func TestPublish_OnlyTheNameOfTheContact(t *testing.T) {
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

func TestOffer_SaysWhetherItCanBeRequested(t *testing.T) {
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
