package exchange

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"
)

// ShownMaterial is a material with what its page shows beside it. When read, its Metadata is what everybody may see;
// Revealed returns it with the rest.
type ShownMaterial struct {
	Material
	Contact User
	Grants  []int64

	Whole json.RawMessage `json:"-"` // additional_metadata with its private fields; nil: none is private
}

// Conceal removes the private fields from m's metadata; published are the keys that its lab publishes.
func (m *ShownMaterial) Conceal(published []string) {
	if shown, hidden := category.Public(m.Category, m.Metadata, published); hidden {
		m.Metadata, m.Whole = shown, m.Metadata
	}
}

// Conceals reports whether m leaves something out that Revealed includes.
func (m ShownMaterial) Conceals() bool { return m.Whole != nil }

// Revealed returns m with all of its metadata, for readers who may see private fields.
func (m ShownMaterial) Revealed() ShownMaterial {
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

// The sources that the specification names for import_source.
const (
	SourceSRA       = "SRA"
	SourceGEO       = "GEO"
	SourceProtocols = "PROTOCOLS_REPOSITORY"
)

// MaterialPatch is the body of POST, PUT and PATCH of materials. If the specification has one name for reading and
// another for writing, both are accepted; the name for writing wins.
type MaterialPatch struct {
	Category         Opt[string]          `json:"category"`
	URL              Opt[string]          `json:"url"`
	PubMedID         Opt[string]          `json:"pubmed_id"`
	Metadata         Opt[json.RawMessage] `json:"additional_metadata"`
	Title            Opt[string]          `json:"title"`
	Reference        Null[string]         `json:"reference"`
	NeedsMTA         Opt[bool]            `json:"needs_mta"`
	NeedsIRB         Opt[bool]            `json:"needs_irb"`
	NeedsAbstract    Opt[bool]            `json:"needs_abstract"`
	Imported         Opt[bool]            `json:"imported"`
	ImportSource     Opt[string]          `json:"import_source"`
	Organisms        Null[Names]          `json:"organisms" alias:"organism"`
	PublicationTitle Null[string]         `json:"publication_title"`
	PrePrintDOI      Null[string]         `json:"pre_print_doi"`
	PrePrintTitle    Null[string]         `json:"pre_print_title"`
	Citation         Null[string]         `json:"citation"`
	AdditionalInfo   Null[string]         `json:"additional_info"`
	EmbargoDate      Null[Date]           `json:"embargo_date"`
	Contact          Opt[UserRef]         `json:"contact_user_id" alias:"contact_user"`
	MTAAttachment    Null[Ref]            `json:"mta_attachment_id"`
	MTAShown         Null[Ref]            `json:"mta_attachment" same:"mta_attachment_id"` // the same, as a GET shows it
	Organization     Opt[Ref]             `json:"organization_id" alias:"organization"`
	Shipping         Null[Ref]            `json:"shipping_requirements_id" alias:"shipping_requirements"`
	Archived         Opt[bool]            `json:"is_archived"`

	others map[string]any // the slots of the fields that no rule names, by name
}

// patchFields are the indexes of MaterialPatch's own fields, by their JSON names.
var patchFields = func() map[string]int {
	indexes := map[string]int{}
	for f := range reflect.TypeFor[MaterialPatch]().Fields() {
		indexes[f.Tag.Get("json")] = f.Index[0]
	}
	return indexes
}()

// slot returns where p has a field: a pointer to an Opt or a Null.
func (p *MaterialPatch) slot(d Descriptor[Material]) any {
	if i, own := patchFields[d.Name]; own {
		return reflect.ValueOf(p).Elem().Field(i).Addr().Interface()
	}
	slot := p.others[d.Name]
	if slot == nil {
		if slot = d.newSlot(); p.others == nil {
			p.others = map[string]any{}
		}
		p.others[d.Name] = slot
	}
	return slot
}

// Others returns the slots of the fields that p has no Go field for, by their JSON names.
func (p *MaterialPatch) Others() map[string]any {
	for _, d := range MaterialDescriptors {
		if _, own := patchFields[d.Name]; !own && d.newSlot() != nil {
			p.slot(d)
		}
	}
	return p.others
}

// Create makes a new material from p: category, title and organization_id are required (contract.md section 4).
func (p MaterialPatch) Create() (Material, error) {
	var f FieldErrors
	m := p.apply(&f, Material{Category: tidy(p.Category.Value), Metadata: json.RawMessage("{}")})
	f.rule("category", Rule{Words: category.Codes(), Name: "MaterialCategory"})
	f.need("category", m.Category)
	f.need("title", m.Title)
	f.must("organization_id", p.Organization.Set, "is required: the id of the organization that shares the material")
	return m, f.Err()
}

// Patch applies p to m.
func (p MaterialPatch) Patch(m Material) (Material, error) {
	var f FieldErrors
	if p.Category.Set && tidy(p.Category.Value) != m.Category {
		f.Add("category", "cannot be changed after creation; it is %s", m.Category)
	}
	m = p.apply(&f, m)
	m.Archived = p.Archived.Or(m.Archived)
	f.need("title", m.Title)
	return m, f.Err()
}

// Validate implements Body.
func (p MaterialPatch) Validate(create bool) FieldErrors {
	var err error
	if create {
		_, err = p.Create()
	} else {
		_, err = p.Patch(Material{Category: p.Category.Value})
	}
	return fieldsOf(err)
}

// KeepPrivate keeps in p the values of additional_metadata of old that its sender may not see and does not set;
// published are the keys that the lab publishes. It returns the name of an identifying field that the sender sets
// without the right to, "" if there is none.
func (p *MaterialPatch) KeepPrivate(old Material, published []string) (forbidden string) {
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

func (p MaterialPatch) apply(f *FieldErrors, m Material) Material {
	old, mta := m.MTAAttachmentID, p.MTAAttachment
	for _, d := range MaterialDescriptors {
		if !d.ReadOnly && !d.Apart && d.At != nil {
			d.apply(f, p.slot(d), &m)
		}
	}
	if m.Reference != nil && *m.Reference == "" {
		m.Reference = nil
	}
	f.amend("url", func(r *Rule) { r.Pattern, r.Examples = addressPattern, []string{"https://example.org/ht-29"} })
	if p.URL.Set && m.URL != "" {
		if u, err := url.Parse(m.URL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			f.Add("url", "must be a web address that starts with https:// or http://")
		}
	}
	if !mta.Set {
		mta = p.MTAShown
	}
	m.MTAAttachmentID = refID(mta, old)
	// contract.md section 4: adding an MTA sets that one is needed; sending back what a GET showed changes nothing.
	if m.MTAAttachmentID != nil && (old == nil || *old != *m.MTAAttachmentID) &&
		(p.MTAAttachment.Set || !p.NeedsMTA.Set) {
		m.NeedsMTA = true
	}
	f.metadata(p.Metadata, &m)
	m.ImportIdentifier = m.importIdentifier()
	return m
}

func refID(o Null[Ref], old *int64) *int64 {
	if !o.Set {
		return old
	}
	return (*int64)(o.Value)
}

// canonical stores an identifier in its canonical form; "" clears it.
func (f *FieldErrors) canonical(field string, o Opt[string], parse func(string) (string, error), dst *string) {
	if !o.Set {
		return
	}
	s := tidy(o.Value)
	if s == "" {
		*dst = ""
		return
	}
	id, err := parse(s)
	if err != nil {
		f.Add(field, "%v", err)
		return
	}
	*dst = id
}

const maxOrganisms = 100

func (f *FieldErrors) organisms(o Null[Names], dst *[]string) {
	f.rule("organisms", Rule{Most: maxOrganisms, Each: &Rule{Most: lineLength, Pattern: linePattern}})
	if !o.Set {
		return
	}
	if o.Value == nil {
		*dst = nil
		return
	}
	list := []string{}
	for _, s := range *o.Value {
		name := ""
		f.line("organisms", Some(s), lineLength, &name)
		if name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if len(list) > maxOrganisms {
		f.Add("organisms", "must be at most %d names", maxOrganisms)
	}
	*dst = list
}

// MaxMetadata is the maximum length of additional_metadata, in bytes of JSON.
const MaxMetadata = 64 << 10

func (f *FieldErrors) metadata(o Opt[json.RawMessage], m *Material) {
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
