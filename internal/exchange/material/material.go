// Package material holds the rules of materials: in bodies, forms and spreadsheets, and in search.
package material

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/person"
)

// Shown is a material with what its page shows in addition. When read, its Metadata is what everybody may see;
// Revealed returns it with the rest.
type Shown struct {
	Material
	Contact person.User
	Grants  []int64

	Whole json.RawMessage `json:"-"` // additional_metadata with its private fields; nil: none is private
}

// Conceal removes the private fields from m's metadata; published are the keys that its lab publishes.
func (m *Shown) Conceal(published []string) {
	if shown, hidden := category.Public(m.Category, m.Metadata, published); hidden {
		m.Metadata, m.Whole = shown, m.Metadata
	}
}

// Conceals reports whether m leaves something out that Revealed includes.
func (m Shown) Conceals() bool { return m.Whole != nil }

// Revealed returns m with all of its metadata, for readers who may see private fields.
func (m Shown) Revealed() Shown {
	if m.Whole != nil {
		m.Metadata, m.Whole = m.Whole, nil
	}
	return m
}

// Embargoed reports whether the material is not offered yet at now: the embargo is lifted at
// 00:00 UTC of its date.
func (m Material) Embargoed(now time.Time) bool {
	return m.EmbargoDate != nil && string(*m.EmbargoDate) > now.UTC().Format(time.DateOnly)
}

// Arrives reports whether m may be on offer to people to whom it was not as old: it is back from the archive, or its
// embargo ends earlier.
func (m Material) Arrives(old Material) bool {
	return old.Archived && !m.Archived ||
		old.EmbargoDate != nil && (m.EmbargoDate == nil || *m.EmbargoDate < *old.EmbargoDate)
}

// Digital reports whether nothing is shipped, as for a dataset.
func (m Material) Digital() bool {
	c, _ := category.Get(m.Category)
	return c.Digital
}

// The sources that the specification names for import_source.
const (
	SourceSRA       = "SRA"
	SourceGEO       = "GEO"
	SourceProtocols = "PROTOCOLS_REPOSITORY"
)

// Patch is the body of POST, PUT and PATCH of materials. If the specification has one name for reading and
// another for writing, both are accepted; the name for writing wins.
type Patch struct {
	Category         exchange.Opt[string]           `json:"category"`
	URL              exchange.Opt[string]           `json:"url"`
	PubMedID         exchange.Opt[string]           `json:"pubmed_id"`
	Metadata         exchange.Opt[json.RawMessage]  `json:"additional_metadata"`
	Title            exchange.Opt[string]           `json:"title"`
	Reference        exchange.Null[string]          `json:"reference"`
	NeedsMTA         exchange.Opt[bool]             `json:"needs_mta"`
	NeedsIRB         exchange.Opt[bool]             `json:"needs_irb"`
	NeedsAbstract    exchange.Opt[bool]             `json:"needs_abstract"`
	Imported         exchange.Opt[bool]             `json:"imported"`
	ImportSource     exchange.Opt[string]           `json:"import_source"`
	Organisms        exchange.Null[exchange.Names]  `json:"organisms" alias:"organism"`
	PublicationTitle exchange.Null[string]          `json:"publication_title"`
	PrePrintDOI      exchange.Null[string]          `json:"pre_print_doi"`
	PrePrintTitle    exchange.Null[string]          `json:"pre_print_title"`
	Citation         exchange.Null[string]          `json:"citation"`
	AdditionalInfo   exchange.Null[string]          `json:"additional_info"`
	EmbargoDate      exchange.Null[exchange.Date]   `json:"embargo_date"`
	Contact          exchange.Opt[exchange.UserRef] `json:"contact_user_id" alias:"contact_user"`
	MTAAttachment    exchange.Null[exchange.Ref]    `json:"mta_attachment_id"`
	// the same, as a GET shows it
	MTAShown     exchange.Null[exchange.Ref] `json:"mta_attachment" same:"mta_attachment_id"`
	Organization exchange.Opt[exchange.Ref]  `json:"organization_id" alias:"organization"`
	Shipping     exchange.Null[exchange.Ref] `json:"shipping_requirements_id" alias:"shipping_requirements"`
	Archived     exchange.Opt[bool]          `json:"is_archived"`

	others map[string]any // the slots of the fields that have no member above, by name
}

// Others implements field.Body.
func (p *Patch) Others() map[string]any {
	if p.others == nil {
		p.others = field.Others[Patch](Descriptors)
	}
	return p.others
}

// Create makes a new material from p: category, title and organization_id are required (contract.md section 4).
func (p Patch) Create() (Material, error) {
	var f exchange.FieldErrors
	m := p.apply(&f, Material{Category: exchange.Tidy(p.Category.Value), Metadata: json.RawMessage("{}")})
	f.Rule("category", exchange.Rule{Words: category.Codes(), Name: "MaterialCategory"})
	f.Need("category", m.Category)
	f.Need("title", m.Title)
	f.Must("organization_id", p.Organization.Set, "is required: the id of the organization that shares the material")
	return m, f.Err()
}

// Patch applies p to m.
func (p Patch) Patch(m Material) (Material, error) {
	var f exchange.FieldErrors
	if p.Category.Set && exchange.Tidy(p.Category.Value) != m.Category {
		f.Add("category", "cannot be changed after creation; it is %s", m.Category)
	}
	m = p.apply(&f, m)
	m.Archived = p.Archived.Or(m.Archived)
	f.Need("title", m.Title)
	return m, f.Err()
}

// Validate implements Body.
func (p Patch) Validate(create bool) exchange.FieldErrors {
	var err error
	if create {
		_, err = p.Create()
	} else {
		_, err = p.Patch(Material{Category: p.Category.Value})
	}
	return exchange.FieldsOf(err)
}

// KeepPrivate keeps in p the values of additional_metadata of old that its sender may not see and does not set;
// published are the keys that the lab publishes. It returns the name of an identifying field that the sender sets
// without the right to, "" if there is none.
func (p *Patch) KeepPrivate(old Material, published []string) (forbidden string) {
	var sent map[string]json.RawMessage
	if !p.Metadata.Set || json.Unmarshal(p.Metadata.Value, &sent) != nil || sent == nil {
		return "" // Patch reports what is wrong with it
	}
	for _, key := range slices.Sorted(maps.Keys(sent)) {
		if slices.Contains(category.PrivateKeys(), key) {
			return metadataPrefix + key
		}
	}
	for key, value := range category.Private(old.Category, old.Metadata, published) {
		if _, set := sent[key]; !set {
			sent[key] = value
		}
	}
	if raw, err := category.Encode(sent); err == nil {
		p.Metadata.Value = raw
	}
	return ""
}

func (p Patch) apply(f *exchange.FieldErrors, m Material) Material {
	old, mta := m.MTAAttachmentID, p.MTAAttachment
	field.Apply(f, Descriptors, &p, &m)
	if m.Reference != nil && *m.Reference == "" {
		m.Reference = nil
	}
	f.Amend("url", func(r *exchange.Rule) {
		r.Pattern, r.Examples = addressPattern,
			[]string{"https://example.org/ht-29"}
	})
	if p.URL.Set && m.URL != "" {
		if u, err := url.Parse(m.URL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			f.Add("url", "must be a web address that starts with https:// or http://")
		}
	}
	if !mta.Set {
		mta = p.MTAShown
	}
	m.MTAAttachmentID = exchange.RefID(mta, old)
	// contract.md section 4: adding an MTA sets that one is needed; sending back what a GET showed changes nothing.
	if m.MTAAttachmentID != nil && (old == nil || *old != *m.MTAAttachmentID) &&
		(p.MTAAttachment.Set || !p.NeedsMTA.Set) {
		m.NeedsMTA = true
	}
	setMetadata(f, p.Metadata, &m)
	m.ImportIdentifier = m.importIdentifier()
	return m
}

const MaxOrganisms = 100

func setOrganisms(f *exchange.FieldErrors, slot any, m *Material) {
	o := *slot.(*exchange.Null[exchange.Names])
	f.Rule("organisms", exchange.Rule{Max: MaxOrganisms,
		Each: &exchange.Rule{Max: exchange.LineLength, Pattern: exchange.LinePattern}})
	if !o.Set {
		return
	}
	if o.Value == nil {
		m.Organisms = nil
		return
	}
	list := []string{}
	for _, s := range *o.Value {
		name := ""
		f.Line("organisms", exchange.Some(s), exchange.LineLength, &name)
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) > MaxOrganisms {
		f.Add("organisms", "must be at most %d names", MaxOrganisms)
	}
	m.Organisms = list
}

// MaxMetadata is the maximum length of additional_metadata, in bytes of JSON.
const MaxMetadata = 64 << 10

func setMetadata(f *exchange.FieldErrors, o exchange.Opt[json.RawMessage], m *Material) {
	c, ok := category.Get(m.Category)
	if !ok && m.Category != "" {
		f.Add("category", "must be one of %s", strings.Join(category.Codes(), ", "))
	}
	if !o.Set {
		return
	}
	var values map[string]json.RawMessage
	if err := json.Unmarshal(o.Value, &values); err != nil || values == nil {
		f.Add("additional_metadata", "must be a JSON object")
		return
	}
	if !ok {
		return
	}
	clean, faults, _ := c.Check(values)
	for key, list := range faults {
		for _, fault := range list {
			f.Add("additional_metadata."+key, "%s", fault)
		}
	}
	raw, err := category.Encode(clean)
	if err != nil || len(raw) > MaxMetadata {
		f.Add("additional_metadata", "must be at most 64 KiB as JSON")
		return
	}
	m.Metadata = raw
}

// Warnings returns doubts about values that were stored unchanged, by field: an identifier of an unknown authority, a
// word outside a vocabulary. It returns nil if there are none.
func (m Material) Warnings() map[string][]string {
	c, ok := category.Get(m.Category)
	var values map[string]json.RawMessage
	if !ok || json.Unmarshal(m.Metadata, &values) != nil {
		return nil
	}
	var list map[string][]string
	_, _, doubts := c.Check(values)
	for key, texts := range doubts {
		if list == nil {
			list = map[string][]string{}
		}
		list["additional_metadata."+key] = texts
	}
	return list
}

// importIdentifier returns the canonical identifier of the material at its source, by which duplicates are found; nil
// if it was not imported or the source is not known.
func (m Material) importIdentifier() *string {
	if !m.Imported {
		return nil
	}
	parse := map[string]func(string) (string, error){
		SourceGEO:       identifier.GEOSeries,
		SourceSRA:       identifier.SRAStudy,
		SourceProtocols: identifier.ProtocolsDOI,
	}[m.ImportSource]
	if parse == nil {
		return nil
	}
	var meta struct {
		Accession   string `json:"accession_code"`
		ProtocolDOI string `json:"protocol_doi"`
		DOI         string `json:"doi"`
	}
	// A key with a value of another type is not an identifier; the others still count.
	_ = json.NewDecoder(bytes.NewReader(m.Metadata)).Decode(&meta)
	for _, s := range []string{meta.Accession, meta.ProtocolDOI, meta.DOI, m.URL} {
		if id, err := parse(s); s != "" && err == nil {
			return &id
		}
	}
	return nil
}

// The filters below narrow a list; a nil field filters nothing. Their tags name the parameters.

// Filter narrows a list of materials.
type Filter struct {
	Organization *int64  `query:"organization"`
	Category     *string `query:"category"`
	Archived     *bool   `query:"is_archived"`
}

const addressPattern = `^([Hh][Tt][Tt][Pp][Ss]?:\/\/[^\x00-\x1f\x7f-\x9f]+)?$`

// Changed is when a material was last changed.
type Changed struct {
	ID        int64
	UpdatedAt time.Time
}
