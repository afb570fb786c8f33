package seed

import (
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"

	"github.com/google/go-cmp/cmp"
)

func TestSeed_MaterialsAreValid(t *testing.T) {
	t.Parallel()
	m := newMaker(Size{Materials: 1_000_000})
	for number := 0; number < m.Materials; number += 997 {
		made := m.material(number)
		p := material.Patch{Category: exchange.Some(made.Category), URL: exchange.Some(made.URL),
			PubMedID: exchange.Some(made.PubMedID),
			Metadata: exchange.Some(made.Metadata), Title: exchange.Some(made.Title),
			NeedsMTA: exchange.Some(made.NeedsMTA), NeedsIRB: exchange.Some(made.NeedsIRB),
			NeedsAbstract: exchange.Some(made.NeedsAbstract), Imported: exchange.Some(made.Imported),
			ImportSource: exchange.Some(made.ImportSource),
			Organisms:    exchange.NullOf(exchange.Names(made.Organisms)),
			Organization: exchange.Some(exchange.Ref(made.OrganizationID)),
			Contact:      exchange.Some(exchange.UserRef(made.ContactID))}
		p.Reference.Set, p.Reference.Value = true, made.Reference
		p.PublicationTitle.Set, p.PublicationTitle.Value = true, made.PublicationTitle
		p.PrePrintDOI.Set, p.PrePrintDOI.Value = true, made.PrePrintDOI
		p.PrePrintTitle.Set, p.PrePrintTitle.Value = true, made.PrePrintTitle
		p.Citation.Set, p.Citation.Value = true, made.Citation
		p.AdditionalInfo.Set, p.AdditionalInfo.Value = true, made.AdditionalInfo
		p.EmbargoDate.Set, p.EmbargoDate.Value = true, made.EmbargoDate
		p.MTAAttachment.Set, p.MTAAttachment.Value = true, (*exchange.Ref)(made.MTAAttachmentID)
		p.Shipping.Set, p.Shipping.Value = true, (*exchange.Ref)(made.ShippingID)
		want, err := p.Create()
		if err != nil {
			t.Fatalf("%d: %+v", number, err)
		}
		want.ID, want.Archived, want.CreatedAt, want.UpdatedAt = made.ID, made.Archived, made.CreatedAt, made.UpdatedAt
		if diff := cmp.Diff(want, made); diff != "" {
			t.Fatalf("%d: %s", number, diff)
		}
		if doubts := made.Warnings(); doubts != nil {
			t.Fatalf("%d: %v", number, doubts)
		}
	}
}

func TestSeed_TextsAreAsLongAsRealOnes(t *testing.T) {
	t.Parallel()
	m := newMaker(Size{Materials: 100_000})
	words, titles, n := 0, 0, 0
	for number := 0; number < m.Materials; number += 97 {
		x := m.material(number)
		title := len(strings.Fields(x.Title))
		if title < 2 || title > 20 {
			t.Errorf("%q", x.Title)
		}
		all := []string{x.Title, string(x.Metadata)}
		for _, text := range []*string{x.PublicationTitle, x.Citation, x.AdditionalInfo} {
			if text != nil {
				all = append(all, *text)
			}
		}
		n, titles, words = n+1, titles+title, words+len(strings.Fields(strings.Join(all, " ")))
	}
	if mean := float64(titles) / float64(n); mean < 4 || mean > 12 {
		t.Errorf("%.1f words a title", mean)
	}
	if mean := float64(words) / float64(n); mean < 90 || mean > 150 {
		t.Errorf("%.1f words a material", mean)
	}
}

func TestSeed_PeopleHaveDistinctORCIDs(t *testing.T) {
	t.Parallel()
	m := newMaker(Size{Materials: 1000})
	seen := map[string]bool{}
	for number := range 2000 {
		u := m.person(number)
		if id, err := identifier.ORCID(u.RegistryID); err != nil || id != u.RegistryID || seen[id] {
			t.Fatalf("%s, %v", id, err)
		}
		seen[u.RegistryID] = true
	}
}
