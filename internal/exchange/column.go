package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/identifier"

	"github.com/google/uuid"
)

// Column is one column of a spreadsheet of materials: a writable field, or a key of additional_metadata as a category
// defines it.
type Column struct {
	Field   string // name in errors, such as title or additional_metadata.disease
	Label   string
	Help    string
	Example string
	Values  []string // options
	Closed  bool     // only the options are accepted
	also    []string // other headers that mean this column
	keeps   bool     // an empty cell keeps the value; in other columns it clears it
	show    func(Material) string
	read    func(cell string, p *MaterialPatch) error
}

const metadataPrefix = "additional_metadata."

// TooLong replaces a text that does not fit in a cell of a spreadsheet; on import it keeps the stored value.
const TooLong = "#too long for a cell of a spreadsheet; it stays as it is"

// materialColumns are the columns of every category, in the order of templates. The id and the reference identify the
// material of a row; RowTarget reads them.
var materialColumns = []Column{
	{Field: "id", Label: "Aliquot id", keeps: true, also: []string{"material id"},
		Help: "The id of a material already listed, as in the export. Leave empty for a new one.",
		show: func(m Material) string { return strconv.FormatInt(m.ID, 10) },
		read: func(string, *MaterialPatch) error { return nil }},
	{Field: "reference", Label: "Reference", Example: "LN2-3-B7", keeps: true,
		Help: "Your own number or name for it, unique for each material. A row whose reference is already listed " +
			"changes that material.",
		also: []string{"lab reference", "our reference", "internal id", "lab id", "inventory id", "inventory number",
			"barcode", "item id", "ref"},
		show: func(m Material) string { return orEmpty(m.Reference) },
		read: func(cell string, p *MaterialPatch) error { p.Reference = NullOf(cell); return nil }},
	{Field: "category", Label: "Category", keeps: true, Values: category.Codes(), Closed: true,
		also: []string{"material category", "type of material"},
		Help: "The kind of material. It cannot be changed later.",
		show: func(m Material) string { return m.Category },
		read: func(cell string, p *MaterialPatch) error { p.Category = Some(categoryCode(cell)); return nil }},
	{Field: "title", Label: "Title", Example: "HT-29, passage 18", keeps: true,
		also: []string{"name", "material", "material name", "item", "item name"},
		Help: "What others see first, up to 500 characters.",
		show: func(m Material) string { return m.Title },
		read: func(cell string, p *MaterialPatch) error { p.Title = Some(cell); return nil }},
	{Field: "organisms", Label: "Organisms", Example: "Homo sapiens",
		also: []string{"organism", "species", "source organism"},
		Help: "Scientific names; separate several with a semicolon.",
		show: func(m Material) string { return joinItems(m.Organisms) },
		read: func(cell string, p *MaterialPatch) error {
			if p.Organisms = Cleared[Names](); cell != "" {
				p.Organisms = NullOf(Names(splitItems(cell)))
			}
			return nil
		}},
	{Field: "url", Label: "Web address", Example: "https://www.cellosaurus.org/CVCL_0320",
		also: []string{"link", "website", "web page"},
		Help: "A web page about it.",
		show: func(m Material) string { return m.URL },
		read: func(cell string, p *MaterialPatch) error { p.URL = Some(cell); return nil }},
	{Field: "pubmed_id", Label: "PubMed ID", Example: "32416070", also: []string{"pmid", "pubmed"},
		Help: "PubMed ID of the paper that describes it.",
		show: func(m Material) string { return m.PubMedID },
		read: func(cell string, p *MaterialPatch) error { p.PubMedID = Some(whole(cell)); return nil }},
	nullable("publication_title", "Publication", "Title of that paper.", []string{"paper", "article"},
		func(m Material) *string { return m.PublicationTitle },
		func(p *MaterialPatch) *Null[string] { return &p.PublicationTitle }),
	nullable("pre_print_doi", "Preprint DOI", "DOI of a preprint that describes it.", nil,
		func(m Material) *string { return m.PrePrintDOI },
		func(p *MaterialPatch) *Null[string] { return &p.PrePrintDOI }),
	nullable("pre_print_title", "Preprint", "Title of that preprint.", nil,
		func(m Material) *string { return m.PrePrintTitle },
		func(p *MaterialPatch) *Null[string] { return &p.PrePrintTitle }),
	nullable("citation", "Citation", "How to cite it.", []string{"cite as", "reference paper"},
		func(m Material) *string { return m.Citation }, func(p *MaterialPatch) *Null[string] { return &p.Citation }),
	nullable("additional_info", "More information", "Anything else others should know.",
		[]string{"notes", "note", "comment", "comments", "remarks", "additional information"},
		func(m Material) *string { return m.AdditionalInfo },
		func(p *MaterialPatch) *Null[string] { return &p.AdditionalInfo }),
	{Field: "embargo_date", Label: "Embargo until", Example: "2027-01-31", also: []string{"embargo", "release date"},
		Help: "The date from which it is available. If empty, immediately.",
		show: func(m Material) string { return string(deref(m.EmbargoDate)) },
		read: func(cell string, p *MaterialPatch) error { return fromCell(cell, isoDate(cell), &p.EmbargoDate) }},
	flag("needs_mta", "Needs an MTA", "Whether a material transfer agreement must be signed.",
		[]string{"mta", "mta required", "mta needed"},
		func(m Material) bool { return m.NeedsMTA }, func(p *MaterialPatch) *Opt[bool] { return &p.NeedsMTA }),
	flag("needs_irb", "Needs an IRB approval", "Whether an ethics approval must be submitted.",
		[]string{"irb", "irb required"},
		func(m Material) bool { return m.NeedsIRB }, func(p *MaterialPatch) *Opt[bool] { return &p.NeedsIRB }),
	flag("needs_abstract", "Needs an abstract", "Whether requesters must say what they plan.", nil,
		func(m Material) bool { return m.NeedsAbstract },
		func(p *MaterialPatch) *Opt[bool] { return &p.NeedsAbstract }),
	reference("mta_attachment_id", "MTA document", "Id of the attachment that is the blank agreement.",
		[]string{"mta attachment"},
		func(m Material) *int64 { return m.MTAAttachmentID },
		func(p *MaterialPatch) *Null[Ref] { return &p.MTAAttachment }),
	reference("shipping_requirements_id", "Shipping requirements",
		"Id of your organization's shipping requirements that apply to it.", nil,
		func(m Material) *int64 { return m.ShippingID }, func(p *MaterialPatch) *Null[Ref] { return &p.Shipping }),
	{Field: "contact_user_id", Label: "Contact", Example: "0000-0002-1825-0097", keeps: true,
		also: []string{"contact user", "contact person", "responsible"},
		Help: "Who answers requests: an ORCID iD or a user id. If empty, the person who imports.",
		show: func(m Material) string { return m.ContactID.String() },
		read: func(cell string, p *MaterialPatch) error {
			id, err := uuid.Parse(cell)
			if err == nil && len(cell) == 36 {
				p.Contact = Some(UserRef(id))
			}
			return nil // otherwise it is a registry id, which RowTarget returns
		}},
	flag("is_archived", "Archived", "Whether it is no longer available.", nil,
		func(m Material) bool { return m.Archived }, func(p *MaterialPatch) *Opt[bool] { return &p.Archived }),
	flag("imported", "Imported", "Whether it was imported from a public source.", nil,
		func(m Material) bool { return m.Imported }, func(p *MaterialPatch) *Opt[bool] { return &p.Imported }),
	{Field: "import_source", Label: "Import source", Example: SourceGEO, Help: "The public source.",
		show: func(m Material) string { return m.ImportSource },
		read: func(cell string, p *MaterialPatch) error { p.ImportSource = Some(cell); return nil }},
	{Field: "organization_id", Label: "Organization", keeps: true, also: []string{"organisation"},
		Help: "Id of the organization that shares it; if given, it must be the one you import into.",
		show: func(m Material) string { return strconv.FormatInt(m.OrganizationID, 10) },
		read: func(string, *MaterialPatch) error { return nil }},
}

// readOnly lists the headers that exports or lists contain and that nobody can write.
var readOnly = []string{"createdat", "updatedat", "grants", "importidentifier", "warnings"}

func nullable(field, label, help string, also []string, get func(Material) *string,
	set func(*MaterialPatch) *Null[string]) Column {
	return Column{Field: field, Label: label, Help: help, also: also,
		show: func(m Material) string { return orEmpty(get(m)) },
		read: func(cell string, p *MaterialPatch) error {
			if *set(p) = Cleared[string](); cell != "" {
				*set(p) = NullOf(cell)
			}
			return nil
		}}
}

func flag(field, label, help string, also []string, get func(Material) bool,
	set func(*MaterialPatch) *Opt[bool]) Column {
	return Column{Field: field, Label: label, Help: help, also: also, keeps: true, Values: []string{"true", "false"},
		Closed: true,
		show:   func(m Material) string { return strconv.FormatBool(get(m)) },
		read: func(cell string, p *MaterialPatch) error {
			value, known := parseBool(cell)
			if !known {
				return errors.New("must be true or false")
			}
			*set(p) = Some(value)
			return nil
		}}
}

func reference(field, label, help string, also []string, get func(Material) *int64,
	set func(*MaterialPatch) *Null[Ref]) Column {
	return Column{Field: field, Label: label, Help: help, also: also,
		show: func(m Material) string {
			if id := get(m); id != nil {
				return strconv.FormatInt(*id, 10)
			}
			return ""
		},
		read: func(cell string, p *MaterialPatch) error { return fromCell(cell, whole(cell), set(p)) }}
}

// fromCell reads a cell as the JSON string text; an empty cell is null.
func fromCell[T any](cell, text string, into *Null[T]) error {
	if cell == "" {
		*into = Cleared[T]()
		return nil
	}
	raw, err := json.Marshal(text)
	if err != nil {
		return err
	}
	return into.UnmarshalJSON(raw)
}

// parseBool reads the words for yes and no.
func parseBool(cell string) (value, known bool) {
	switch strings.ToLower(cell) {
	case "true", "yes", "y", "1", "x":
		return true, true
	case "false", "no", "n", "0":
		return false, true
	}
	return false, false
}

// categoryCode returns the code of the category with that code, label or plural, or the cell unchanged if there is
// none.
func categoryCode(cell string) string {
	if _, ok := category.Get(cell); ok || cell == "" {
		return cell
	}
	for _, c := range category.All() {
		if f := fold(cell); f == fold(c.Code) || f == fold(c.Label) || f == fold(c.Plural) {
			return c.Code
		}
	}
	return cell
}

// fold returns the form in which headers are compared: letters and digits, without case and accents.
func fold(header string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, SortKey(header))
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func orEmpty(s *string) string { return deref(s) }

// Columns returns the columns of a category, in the order of its template.
func Columns(c category.Category) []Column {
	list := slices.Clone(materialColumns)
	for _, f := range c.Fields {
		list = append(list, metadataColumn(f))
	}
	return list
}

// metadataColumn returns the column of a key.
func metadataColumn(f category.Field) Column {
	c := Column{Field: metadataPrefix + f.Key, Label: f.Label, Help: f.Help, Example: f.Example, Closed: f.Closed}
	if f.Unit != "" {
		c.Help += fmt.Sprintf(" In %s.", f.Unit)
	}
	if f.Type == category.List {
		c.Help += " Separate several with a semicolon."
		return c // a cell holds several values, so a list of options does not apply
	}
	for _, o := range f.Options {
		c.Values = append(c.Values, o.Value)
	}
	if f.Type == category.Boolean {
		c.Values, c.Closed = []string{"true", "false"}, true
	}
	return c
}

// metadataSynonyms are other headers for keys; each occurs once.
var metadataSynonyms = map[string][]string{
	"cell_line_name":  {"cell line", "line"},
	"line_type":       {"kind of line"},
	"plasmid_type":    {"kind of plasmid"},
	"plasmid_name":    {"plasmid"},
	"strain_name":     {"strain"},
	"rrid":            {"cellosaurus", "cvcl", "cellosaurus accession"},
	"biosafety_level": {"bsl", "biosafety", "safety level"},
	"passage_number":  {"passage", "passage no"},
	"growth_medium":   {"medium", "media", "culture medium"},
	"supplier":        {"vendor", "provider"},
	"addgene_id":      {"addgene"},
	"accession_code":  {"accession number", "geo accession"},
	"num_samples":     {"samples", "sample count"},
	"sex":             {"gender"},
	"storage":         {"storage conditions"},
	"storage_medium":  {"freezing medium"},
}

// registryID returns the registry id in a cell that names a person: an ORCID iD in any form, or an id as the provider
// writes it.
func registryID(cell string) string {
	if id, err := identifier.ORCID(cell); err == nil {
		return id
	}
	return cell
}
