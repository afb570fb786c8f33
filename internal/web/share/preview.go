package share

import (
	"fmt"
	"slices"
	"strings"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// listingPreview shows what others will see of a material, and how complete it is.
type listingPreview struct {
	Title     string
	ID        string // the material's identifier
	Organisms []string
	Level     string // of biosafety
	Lab       string
	MTA       string // the name of its document
	Payer     string // who pays shipping, in words
	Address   bool
	Filled    int
	Total     int
	Missing   int
	Alike     []similarLine
}

// similarLine is a material that may be the same.
type similarLine struct {
	ID    int64
	Title string
	Lab   string // "" for the same lab
}

func (p *listingPage) preview() listingPreview {
	v := listingPreview{Title: strings.TrimSpace(p.Get("title")), Lab: p.Options.Lab.Name}
	for i, f := range p.Category.Fields {
		value := strings.TrimSpace(p.Get(metadataName + f.Key))
		if f.Key == "title" || i == 0 && v.Title == "" && p.Named() {
			v.Title = value
		}
		if f.Type == category.Identifier && v.ID == "" {
			v.ID = value
		}
		if o, ok := f.Option(value); f.Key == "biosafety_level" && value != "" {
			if v.Level = value; ok {
				v.Level = o.Value
			}
		}
	}
	for organism := range strings.FieldsFuncSeq(p.Get("organisms"),
		func(r rune) bool { return strings.ContainsRune(";\r\n", r) }) {
		if organism = strings.TrimSpace(organism); organism != "" {
			v.Organisms = append(v.Organisms, organism)
		}
	}
	for _, t := range p.Options.Agreements {
		if fmt.Sprint(t.ID) == p.Get("mta_attachment_id") {
			v.MTA = t.Filename
		}
	}
	v.ship(p)
	for _, s := range p.Parts() {
		v.Filled += s.Filled
		v.Missing += s.Missing
	}
	v.Total = len(p.Category.Fields)
	for _, c := range commonSections {
		v.Total += len(c.fields)
	}
	v.Filled = min(v.Filled, v.Total)
	return v
}

// ship sets who pays, from the chosen requirements.
func (v *listingPreview) ship(p *listingPage) {
	r := lab.Shipping{NeedsAddress: p.On("shipping.needs_shipping_address"),
		NeedsPayment: p.On("shipping.needs_payment")}
	chosen := p.Get("shipping_requirements_id")
	if chosen != newShipping {
		i := slices.IndexFunc(p.Options.Shippings, func(s lab.Shipping) bool { return fmt.Sprint(s.ID) == chosen })
		if i >= 0 {
			r = p.Options.Shippings[i]
		} else if r = (lab.Shipping{NeedsAddress: !p.Category.Digital}); p.Category.Digital {
			return
		}
	}
	if v.Address = r.NeedsAddress; r.NeedsPayment {
		v.Payer = "You pay shipping"
	} else {
		v.Payer = "Lab pays shipping"
	}
}

// ShippingText describes shipping requirements in one line.
func (p *listingPage) ShippingText(s lab.Shipping) string { return ui.ShippingText(s) }

// alike finds materials that may be the same as the form's; the lab's own come first.
func (v *pageRequest) alike(p *listingPage, m material.Material) (own []similarLine, err error) {
	list, err := v.App.Materials.Alike(v.Context(), v.Who.Actor, m)
	if err != nil {
		return nil, err
	}
	var others []similarLine
	for _, other := range list {
		line := similarLine{ID: other.ID, Title: other.Title}
		if other.OrganizationID == m.OrganizationID {
			own = append(own, line)
			continue
		}
		line.Lab = other.Lab
		others = append(others, line)
	}
	if p.Preview.Alike = append(slices.Clone(own), others...); len(p.Preview.Alike) > maxAlikeShown {
		p.Preview.Alike = p.Preview.Alike[:maxAlikeShown]
	}
	return own, nil
}

const maxAlikeShown = 5
