package catalog

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/requirements"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/web/ui"
)

type materialPage struct {
	ui.Page
	catalog.MaterialView
	Category   category.Category
	Status     tag
	Lede       lede
	IDs        []idLink
	Address    string // permanent
	Canonical  string
	LinkedData json.RawMessage // "" if only some may see the material
	Metas      []publish.Meta  // likewise
	Sections   []factSection
	Transfer   transferFacts
	Usual      *requirements.Usual // under which agreement it is passed on; nil: its lab is of no institution
	Origins    []originLine        // for members of its lab
	Stated     bool                // its lab stated where it came from, for members
	Share      *sharingLine        // whether the visitor's institution may get it; nil: nothing forbids it
	With       []needLine          // what a request needs when it is sent
	After      []needLine          // what it needs once it is accepted
	Decision   string
	Receipt    string
	Offered    bool
	Own        bool   // the visitor is a member of the lab
	Movable    bool   // the visitor has another lab to which it can move
	Opens      string // when the embargo ends
	Source     string
	Papers     []paper
	Documents  []documentLink
	Reference  string
	Alike      []similarMaterial
}

// needLine is one requirement of a request.
type needLine struct {
	Icon, Name, Text string
	Template         bool // there is an MTA to read
}

type paper struct {
	publish.Article
	Links []idLink
}

type documentLink struct {
	Icon, Name, Text, Address string
	Map                       string // the page that shows a sequence map, "" for other files
	Scan                      document.Scan
	Withheld                  bool
}

// alike is a similar material.
type similarMaterial struct {
	ID      int64
	Title   string
	Number  string
	Lab     string
	Differs string
	Needs   []need
}

// material is the page of a material.
func (v *pageRequest) material(id int64) (ui.Response, error) {
	m, err := v.App.Materials.MaterialView(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	c, _ := category.Get(m.Category)
	p := &materialPage{
		Page: ui.Page{Section: "catalog"}, MaterialView: m, Category: c, Status: statusOf(m.Material, m.Now),
		Address:   m.Listing.Address(),
		Canonical: v.App.PublicURL + materialAt(id), Source: sourceLabel(m.Material), Reference: m.Reference(),
		Sections: sectionsOf(c, m.Shown), Transfer: transferFactsOf(c, m.Facts),
	}
	if p.Usual, err = v.App.Requirements.Usual(v.Context(), v.Who.Actor, m.Material, m.Facts); err != nil {
		return ui.Response{}, err
	}
	if err := v.lineageLines(p); err != nil {
		return ui.Response{}, err
	}
	embargoed := m.Embargoed(m.Now)
	p.Offered, p.Own = !m.Archived && !embargoed, v.Who.MemberOf(m.OrganizationID)
	p.Movable = m.MayUpdate && (len(v.Who.Organizations) > 1 || v.Who.Admin)
	if embargoed {
		end, _ := time.Parse(time.DateOnly, string(*m.EmbargoDate))
		p.Opens = end.Format("2 Jan 2006")
	}
	p.Title = m.Material.Title + ", " + strings.ToLower(c.Label) + ", " + strings.ToLower(p.Status.Text)
	for _, id := range m.Identifiers() {
		p.IDs = append(p.IDs, linkOf(id))
	}
	p.Lede = ledeOf(c, m.Shown)
	if !embargoed {
		p.Description = strings.TrimSpace(c.Label + " held by " + m.Organization.Name + ". " + p.Lede.String())
		if p.LinkedData, err = publish.LinkedData(m.Listing); err != nil {
			return ui.Response{}, err
		}
		p.Metas = m.Metas()
		for _, link := range m.Links() {
			v.W.Header().Add("Link", link.String())
		}
		for _, f := range m.Files {
			v.W.Header().Add("Link",
				publish.Link{Target: v.App.PublicURL + f.DownloadPath(), Relation: "item",
					Type: f.Content.MediaType}.String())
		}
	}
	p.need()
	if m.Pace.Decides() {
		p.Decision = paced(m.Pace.Decision)
	}
	if m.Pace.Receives() {
		p.Receipt = paced(m.Pace.Receipt)
	}
	for _, a := range m.Articles() {
		shown := paper{Article: a}
		for _, id := range a.IDs {
			shown.Links = append(shown.Links, linkOf(id))
		}
		p.Papers = append(p.Papers, shown)
	}
	p.documents()
	var own map[string]json.RawMessage
	_ = json.Unmarshal(p.Metadata, &own) // it is stored as an object
	for _, other := range m.Similar {
		p.Alike = append(p.Alike, p.alikeOf(other, own))
	}
	return ui.Show("material", p)
}

// need sets the requirements of a request, in the order in which they are due.
func (p *materialPage) need() {
	if p.NeedsAbstract {
		p.With = append(p.With, needLine{Icon: "abstract", Name: "Research abstract",
			Text: "What you plan to do with it, in a few sentences"})
	}
	if s := p.Shipping; s != nil {
		if s.NeedsAddress {
			p.With = append(p.With, needLine{Icon: "pin", Name: "Delivery address", Text: s.Restrictions})
		}
		if s.NeedsPayment {
			var ways []string
			for _, way := range []struct {
				accepted bool
				name     string
			}{{s.AcceptsShippingCode, "your courier account"}, {s.AcceptsReimbursement, "reimbursement"},
				{s.AcceptsOther, "another way"}} {
				if way.accepted {
					ways = append(ways, way.name)
				}
			}
			text := "You pay"
			if len(ways) > 0 {
				text += ": " + strings.Join(ways, " or ")
			}
			if s.PaymentDetails != "" {
				text += ". " + s.PaymentDetails
			}
			p.With = append(p.With, needLine{Icon: "truck", Name: "Shipping payment", Text: text})
		}
	} else if !p.Category.Digital {
		p.With = append(p.With, needLine{Icon: "pin", Name: "Delivery address"})
	}
	if p.NeedsMTA {
		hasTemplate := p.MTAAttachmentID != nil &&
			slices.ContainsFunc(p.Files, func(f document.Attachment) bool { return f.ID == *p.MTAAttachmentID })
		p.After = append(p.After,
			needLine{Icon: "mta", Name: "Signed MTA", Text: "By you and your institution", Template: hasTemplate})
	}
	if p.NeedsIRB {
		p.After = append(p.After,
			needLine{Icon: "irb", Name: "IRB approval", Text: "Your ethics board’s approval, or a letter that none " +
				"is needed"})
	}
}

func (p *materialPage) documents() {
	for _, f := range p.Files {
		d := documentLink{Icon: "file", Name: f.Description, Text: f.Filename + ", " + ui.Bytes(f.Content.Size),
			Address: f.DownloadPath(), Scan: f.Content.Scan, Withheld: f.Content.Withheld() != nil}
		switch {
		case p.MTAAttachmentID != nil && f.ID == *p.MTAAttachmentID:
			d.Icon, d.Name = "mta", "Material transfer agreement, to sign"
		case f.SequenceMapFor != nil:
			d.Icon, d.Name = "map", strings.TrimSuffix("Sequence map, "+f.Description, ", ")
		case d.Name == "":
			d.Name = f.Filename
		}
		if f.SequenceMapFor != nil {
			d.Map = mapAddress(p.ID, f)
			d.Address += "?redirect=true" // to the bucket, if the operator wants that
		}
		p.Documents = append(p.Documents, d)
	}
}

// lede is one sentence about a material, with the species apart, since their names are set in italics.
type lede struct {
	Begin   string
	Species []string
	End     string
}

func (l lede) String() string { return l.Begin + strings.Join(l.Species, " and ") + l.End }

// ledeOf returns the description of a material if it is short, otherwise its facets, if it has any.
func ledeOf(c category.Category, m material.Shown) lede {
	if text := shortDescription(m); text != "" {
		return lede{Begin: text}
	}
	l := lede{Begin: c.Label, Species: m.Organisms[:min(2, len(m.Organisms))], End: "."}
	if len(l.Species) > 0 {
		l.Begin += " of "
	}
	if facts := shortFacts(c, m.Material, 3); len(facts) > 0 {
		l.End = ": " + strings.Join(facts, ", ") + "."
	} else if len(l.Species) == 0 {
		return lede{}
	}
	return l
}

// shortDescription returns the description of a material if it fits below the title.
func shortDescription(m material.Shown) string {
	var values map[string]json.RawMessage
	_ = json.Unmarshal(m.Metadata, &values) // it is stored as an object
	for _, key := range []string{"description", "abstract"} {
		if items := category.Items(values[key]); len(items) == 1 && len(items[0]) <= 240 &&
			!strings.Contains(items[0], "\n") {
			return items[0]
		}
	}
	return ""
}

// alikeOf returns a similar material with the values that differ from that metadata.
func (p *materialPage) alikeOf(other material.Shown, own map[string]json.RawMessage) similarMaterial {
	a := similarMaterial{ID: other.ID, Title: other.Material.Title, Lab: p.Labs[other.OrganizationID].Name}
	if ids := (publish.Listing{Shown: other}).Identifiers(); len(ids) > 0 {
		a.Number = ids[0].Canonical
	}
	a.Needs = needsOf(other.Material, nil)[:3] // how it is shipped is on its own page
	var others map[string]json.RawMessage
	_ = json.Unmarshal(other.Metadata, &others)
	var differ []string
	for _, f := range p.Category.Fields {
		if f.Type == category.Long || f.Type == category.Boolean || f.Type == category.Date ||
			f.Type == category.Identifier || f.Vocabulary != "" ||
			strings.HasSuffix(f.Key, "_name") || strings.HasPrefix(f.Key, "submitter_") {
			continue
		}
		is := strings.Join(labelled(f, others[f.Key]), ", ")
		if is == "" || len(is) > 60 || is == strings.Join(labelled(f, own[f.Key]), ", ") {
			continue
		}
		if f.Type == category.Integer || f.Type == category.Number {
			is = f.Label + " " + is
		}
		if differ = append(differ, is); len(differ) == 3 {
			break
		}
	}
	a.Differs = strings.Join(differ, ", ")
	return a
}

// Ask returns the label of the button that leads to the request form.
func (p *materialPage) Ask() string {
	if len(p.Material.Title) > 40 {
		return "Request this material"
	}
	return "Request " + p.Material.Title
}

// Host returns the host of the material's record elsewhere.
func (p *materialPage) Host() string {
	if p.Source != "" {
		return p.Source
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "www.")
}

// Elsewhere returns the address of that record, "" if a link must not lead there.
func (p *materialPage) Elsewhere() string {
	if !webAddress(p.URL) {
		return ""
	}
	return p.URL
}

// archive archives a material, unless this is undone in time.
func (v *pageRequest) archive(id int64) (ui.Response, error) {
	action, err := v.App.Schedule(v.Context(), v.Who.Actor, transfer.PendingAction{Material: id}, nil)
	if exchange.CodeOf(err) == exchange.Conflict {
		return v.notArchived(id, err)
	}
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(materialAt(id)).Undoable("The material will be archived. It stays on record, but no one can "+
		"request it.", action), nil
}

// openPage shows the open requests because of which a material was not archived.
type openPage struct {
	ui.Page
	Material material.Shown
	Open     []ui.RequestRow
}

// notArchived shows what has to end before a material is archived, or refusal if that is not about open requests.
func (v *pageRequest) notArchived(id int64, refusal error) (ui.Response, error) {
	m, err := v.App.Materials.Material(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	p := &openPage{Page: ui.Page{Title: "Not archived: " + m.Title, Section: "lab"}, Material: m}
	if p.Open, err = v.OpenRequests(id); err != nil {
		return ui.Response{}, err
	}
	if len(p.Open) == 0 {
		return ui.Response{}, refusal
	}
	return ui.Response{Status: http.StatusConflict, Template: "material_open", Page: p}, nil
}

// offerAgain restores a material from the archive.
func (v *pageRequest) offerAgain(id int64) (ui.Response, error) {
	if _, err := v.App.Materials.UpdateMaterial(v.Context(), v.Who.Actor, id,
		material.Patch{Archived: exchange.Some(false)}, nil); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(materialAt(id)).Saying("Material available again."), nil
}

// linkIn returns the identifier of a field's item; one without a record is text.
func linkIn(kind identifier.Kind, item string) (idLink, bool) {
	canonical, _, err := identifier.Parse(kind, item)
	if err != nil {
		return idLink{}, false
	}
	l := linkOf(identifier.Same(identifier.ID{Kind: kind, Canonical: canonical})[0])
	return l, l.Address != ""
}
