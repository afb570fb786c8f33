package request

import (
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
)

func TestNewGroup_NamesEachMaterialThatIsWrong(t *testing.T) {
	t.Parallel()
	refs := func(ids ...exchange.Ref) exchange.Opt[[]exchange.Ref] { return exchange.Some(ids) }
	many := make([]exchange.Ref, MaxGroup+1)
	for i := range many {
		many[i] = exchange.Ref(i + 1)
	}
	for _, c := range []struct {
		name        string
		n           NewGroup
		field, text string
	}{
		{"no material", NewGroup{}, "materials", "is required"},
		{"one twice", NewGroup{Materials: refs(7, 8, 7)}, "materials", "[2] 7 is there twice"},
		{"too many", NewGroup{Materials: refs(many...)}, "materials", "at most 50; there are 51"},
		{"too few quantities", NewGroup{Materials: refs(7, 8), Quantities: exchange.Some(exchange.Names{"2 vials"})},
			"quantities", "must be as many as materials: 2, not 1"},
		{"a long quantity", NewGroup{Materials: refs(7, 8),
			Quantities: exchange.Some(exchange.Names{"", strings.Repeat("x", 256)})}, "quantities", "[1] "},
		{"a payment that is none", NewGroup{Materials: refs(7), Submission: Submission{Payment: exchange.Some("GOLD")}}, "payment_method",
			"must be SHIPPING_CODE"},
	} {
		if texts := c.n.Validate(true)[c.field]; len(texts) == 0 || !strings.Contains(texts[0], c.text) {
			t.Errorf("%s: %s is %q, want %q", c.name, c.field, texts, c.text)
		}
	}
	list, err := NewGroup{Materials: refs(7, 8), Quantities: exchange.Some(exchange.Names{"2 vials", ""}),
		Submission: Submission{Note: exchange.Some("For a screen.")}}.Each()
	if err != nil || len(list) != 2 || list[0].Quantity.Value != "2 vials" || list[1].Material.Value != 8 ||
		list[1].Note.Value != "For a screen." {
		t.Errorf("the requests are %+v, %v", list, err)
	}
}

func TestTermsOfAll_AsksOnceForWhatAllMaterialsNeed(t *testing.T) {
	t.Parallel()
	cells := Asked{Material: material.Material{Title: "HeLa", Category: "CELL_LINE", NeedsMTA: true},
		Shipping: &lab.Shipping{NeedsAddress: true, NeedsPayment: true, AcceptsShippingCode: true,
			AcceptsReimbursement: true, Restrictions: "Not to P.O. boxes."}}
	plasmid := Asked{Material: material.Material{Title: "pBR322", Category: "PLASMID", NeedsAbstract: true},
		Shipping: &lab.Shipping{NeedsAddress: true, NeedsPayment: true, AcceptsReimbursement: true,
			Restrictions: "Not to P.O. boxes."}}
	data := Asked{Material: material.Material{Title: "GSE1", Category: "DATASET"}}
	terms, s, err := TermsOfAll([]Asked{cells, plasmid, data})
	if err != nil || terms != (Terms{MTA: true, Abstract: true, Address: true, Payment: true}) {
		t.Fatalf("the terms are %+v, %v", terms, err)
	}
	if got := s.Payments(); !slices.Equal(got, []string{lab.ByReimbursement}) || s.Restrictions != "Not to P.O. boxes." {
		t.Errorf("the shipping requirements are %v, %q", got, s.Restrictions)
	}
	plasmid.Shipping = &lab.Shipping{NeedsPayment: true, AcceptsOther: true}
	if _, _, err := TermsOfAll([]Asked{cells, plasmid, data}); exchange.CodeOf(err) != exchange.Conflict ||
		!strings.Contains(err.Error(), "HeLa and pBR322") {
		t.Errorf("without a payment in common: %v", err)
	}
	if _, s, err := TermsOfAll([]Asked{data}); s != nil || err != nil {
		t.Errorf("a dataset asks for %+v, %v", s, err)
	}
}

func TestNew_OnlyLeavesOutWhatItsMaterialDoesNotAskFor(t *testing.T) {
	t.Parallel()
	n := New{Submission: Submission{Address: exchange.NullOf(exchange.Ref(1)), Payment: exchange.Some(lab.ByOtherMeans),
		Notes: exchange.Some("x"), SignedMTA: exchange.NullOf(exchange.Ref(2)), IRB: exchange.NullOf(exchange.Ref(3))}}
	all := Terms{MTA: true, IRB: true, Address: true, Payment: true}
	if got := n.Only(Terms{}, all); got.Address.Set || got.Payment.Set || got.Notes.Set || got.SignedMTA.Set || got.IRB.Set {
		t.Errorf("nothing is asked for, but it has %+v", got)
	}
	if got := n.Only(Terms{}, Terms{}); got != n {
		t.Errorf("none of the group asks for anything, and %+v is left", got)
	}
	if got := n.Only(Terms{Address: true, IRB: true}, all); !got.Address.Set || got.Payment.Set || !got.IRB.Set {
		t.Errorf("address and approval are asked for, and it has %+v", got)
	}
}
