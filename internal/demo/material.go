package demo

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
)

//go:embed materials.json
var materialsJSON []byte

// Materials are the sample materials as bodies of POST /materials/, without organization and
// needs. All but the last are real.
func Materials() []material.Patch {
	var list []material.Patch
	if err := json.Unmarshal(materialsJSON, &list); err != nil {
		panic(err) // the file is part of the program, and every test reads it
	}
	return list
}

// mapped is the material that has a sequence map: the one that is made up, so that no real plasmid has a wrong
// sequence.
const mapped = "pSample-EGFP (made up)"

// terms are what a lab asks for one of its materials, and who answers for it.
type terms struct {
	contact            string
	mta, irb, abstract bool
}

// termsOf returns terms as varied as those of labs: human cells and mice need an MTA, stem cells and tumours also
// ethics approval, data of humans an abstract; other strains, plasmids and protocols need nothing.
func termsOf(p material.Patch) terms {
	from := func(organism string) bool {
		return p.Organisms.Value != nil && slices.Contains(*p.Organisms.Value, organism)
	}
	switch p.Category.Value {
	case "CELL_LINE":
		if strings.Contains(p.Title.Value, "hESC") {
			return terms{contact: owner, mta: true, irb: true, abstract: true}
		}
		return terms{contact: manager, mta: from("Homo sapiens")}
	case "PDX":
		return terms{contact: postdoc, mta: p.NeedsMTA.Value, irb: true, abstract: true}
	case "PLASMID":
		return terms{contact: member}
	case "MODEL_ORGANISM":
		mouse := from("Mus musculus")
		return terms{contact: neighbour, mta: mouse, abstract: mouse}
	case "DATASET":
		return terms{contact: holder, abstract: from("Homo sapiens")}
	default:
		return terms{contact: holder}
	}
}

// labMaterials are the defaults that the materials of one lab share.
type labMaterials struct {
	lab      exchange.Ref
	shipping exchange.Null[exchange.Ref]
	mta      exchange.Null[exchange.Ref] // the template
}

// listMaterials lists every material in the lab of its contact: most when the lab opens, the first ones of the list one
// by one since then.
func (f *filling) listMaterials() {
	cells := f.prepareLab(owner, lab.ShippingPatch{
		NeedsAddress: exchange.Some(true), NeedsPayment: exchange.Some(true),
		AcceptsShippingCode: exchange.Some(true), AcceptsReimbursement: exchange.Some(true),
		PaymentDetails: exchange.Some("Your courier account, or we send the courier's bill."),
		Restrictions:   exchange.Some("Dry ice; we send on Mondays and Tuesdays."),
	})
	genes := f.prepareLab(neighbour, lab.ShippingPatch{
		NeedsAddress: exchange.Some(true),
		Restrictions: exchange.Some("Animals by appointment; the recipient needs a permit."),
	})
	data := labMaterials{lab: f.labOf(holder)}
	for i, p := range slices.Backward(Materials()) { // lists show the newest first
		t := termsOf(p)
		s := map[string]labMaterials{owner: cells, manager: cells, postdoc: cells, neighbour: genes, member: genes,
			holder: data}[t.contact]
		p.Organization, p.Shipping = exchange.Some(s.lab), s.shipping
		p.NeedsIRB, p.NeedsAbstract = exchange.Some(t.irb), exchange.Some(t.abstract)
		if t.mta {
			p.MTAAttachment = s.mta
		}
		ago := min(4*day+time.Duration(i)*12*day, 125*day) + time.Duration(i)*minute
		f.at(ago, "list "+p.Title.Value, func() error {
			m, _, err := f.app.Materials.CreateMaterial(f.ctx, f.actors[t.contact], p)
			f.materials[p.Title.Value] = exchange.Ref(m.ID)
			return err
		})
	}
	f.at(124*day, "add a sequence map", func() error {
		_, err := f.attach(member, "psample-egfp.gb", document.AttachmentPatch{
			Description: exchange.Some("Made-up sequence"), SequenceMapFor: exchange.NullOf(f.materials[mapped]),
		})
		return err
	})
}

func (f *filling) labOf(head string) exchange.Ref {
	if f.err != nil {
		return 0
	}
	return exchange.Ref(f.actors[head].Owns[0])
}

// prepareLab gives a lab its shipping requirements and an MTA to sign.
func (f *filling) prepareLab(head string, p lab.ShippingPatch) labMaterials {
	s := labMaterials{lab: f.labOf(head)}
	f.do("set shipping requirements", func() error {
		p.Organization = exchange.Some(s.lab)
		made, err := f.app.Documents.CreateShipping(f.ctx, f.actors[head], p)
		s.shipping = exchange.NullOf(exchange.Ref(made.ID))
		return err
	})
	f.do("add an MTA", func() error {
		id, err := f.attach(head, "mta-template.pdf", document.AttachmentPatch{
			Description: exchange.Some("MTA to sign"), OwnedByOrg: exchange.NullOf(s.lab),
		})
		s.mta = exchange.NullOf(id)
		return err
	})
	return s
}
