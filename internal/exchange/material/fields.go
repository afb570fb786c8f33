package material

import (
	"encoding/json"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"

	"github.com/google/uuid"
)

// Material is one transferable research material that an organization lists.
type Material struct {
	ID               int64
	OrganizationID   int64
	ListedBy         int64 `json:"-"` // the job that listed it, where it is inserted; 0: it is listed alone
	Category         string
	Reference        *string // the lab's own reference: unique within the organization
	Title            string
	URL              string
	PubMedID         string
	Metadata         json.RawMessage // additional_metadata: a JSON object, compact
	NeedsMTA         bool
	NeedsIRB         bool
	NeedsAbstract    bool
	MTAAttachmentID  *int64
	ShippingID       *int64
	Imported         bool
	ImportSource     string
	ImportIdentifier *string // canonical accession or DOI at the source; unique with ImportSource
	Organisms        []string
	PublicationTitle *string
	PrePrintDOI      *string
	PrePrintTitle    *string
	Citation         *string
	AdditionalInfo   *string
	EmbargoDate      *exchange.Date
	ContactID        uuid.UUID
	Archived         bool
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

// Descriptor describes one field of materials.
type Descriptor = field.Descriptor[Material]

// Descriptors are the fields of materials, in the order of answers. To add one, add it to Material and here, and its
// column to a migration.
var Descriptors = []Descriptor{
	{Name: "id", At: func(m *Material) any { return &m.ID }, ReadOnly: true,
		Label: "Aliquot id", Sheet: 1, Keeps: true, Also: []string{"material id"}, Read: unread,
		Help: "The id of a material already listed, as in the export. Leave empty for a new one."},
	{Name: "category", At: func(m *Material) any { return &m.Category }, Apart: true, Stays: true,
		Facet: "Category",
		Label: "Category", Sheet: 3, Keeps: true, Values: category.Codes(),
		Also: []string{"material category", "type of material"},
		Help: "The kind of material. It cannot be changed later.",
		Read: func(cell string, slot any) error {
			*slot.(*exchange.Opt[string]) = exchange.Some(categoryCode(cell))
			return nil
		}},
	{Name: "reference", At: func(m *Material) any { return &m.Reference }, Max: exchange.LineLength,
		Label: "Reference", Example: "LN2-3-B7", Sheet: 2, Keeps: true,
		Help: "Your own number or name for it, unique for each material. A row whose reference is already listed " +
			"changes that material.",
		Also: []string{"lab reference", "our reference", "internal id", "lab id", "inventory id", "inventory number",
			"barcode", "item id", "ref"}},
	{Name: "title", At: func(m *Material) any { return &m.Title }, Max: exchange.TitleLength, Linked: "name",
		Label: "Title", Example: "HT-29, passage 18", Sheet: 4, Keeps: true,
		Also: []string{"name", "material", "material name", "item", "item name"},
		Help: "What others see first, up to 500 characters."},
	{Name: "url", At: func(m *Material) any { return &m.URL }, Max: exchange.MaxURL, Linked: "sameAs",
		Label: "Web address", Example: "https://www.cellosaurus.org/CVCL_0320", Sheet: 6,
		Also: []string{"link", "website", "web page"}, Help: "A web page about it."},
	{Name: "organization_id", Shown: "organization", At: func(m *Material) any { return &m.OrganizationID },
		Stays: true, Facet: "Organization",
		Label: "Organization", Sheet: 24, Keeps: true, Also: []string{"organisation"}, Read: unread,
		Help: "Id of the organization that shares it; if given, it must be the one you import into."},
	{Name: "pubmed_id", At: func(m *Material) any { return &m.PubMedID },
		Canonical: identifier.PMID, Format: "pmid", Examples: []string{"31234567"}, Number: true,
		Label: "PubMed ID", Example: "32416070", Sheet: 7, Also: []string{"pmid", "pubmed"},
		Help: "PubMed ID of the paper that describes it.", Doc: "PubMed id of the publication."},
	{Name: "additional_metadata", At: func(m *Material) any { return &m.Metadata }, Apart: true},
	{Name: "contact_user_id", Shown: "contact_user", At: func(m *Material) any { return &m.ContactID },
		Label: "Contact", Example: "0000-0002-1825-0097", Sheet: 20, Keeps: true,
		Also: []string{"contact user", "contact person", "responsible"},
		Help: "Who answers requests: an ORCID iD or a user id. If empty, the person who imports.",
		Read: func(cell string, slot any) error {
			if id, err := uuid.Parse(cell); err == nil && len(cell) == 36 {
				*slot.(*exchange.Opt[exchange.UserRef]) = exchange.Some(exchange.UserRef(id))
			}
			return nil // otherwise it is a registry id, which RowTarget returns
		}},
	{Name: "needs_mta", At: func(m *Material) any { return &m.NeedsMTA }, Facet: "Needs an MTA",
		Label: "Needs an MTA", Sheet: 15, Also: []string{"mta", "mta required", "mta needed"},
		Help: "Whether a material transfer agreement must be signed.",
		Doc:  "A request needs a material transfer agreement."},
	{Name: "needs_irb", At: func(m *Material) any { return &m.NeedsIRB }, Facet: "Needs an IRB approval",
		Label: "Needs an IRB approval", Sheet: 16, Also: []string{"irb", "irb required"},
		Help: "Whether an ethics approval must be submitted.",
		Doc:  "A request needs the document of an ethics board."},
	{Name: "needs_abstract", At: func(m *Material) any { return &m.NeedsAbstract }, Facet: "Needs an abstract",
		Label: "Needs an abstract", Sheet: 17, Help: "Whether requesters must say what they plan.",
		Doc: "A request needs a research abstract."},
	{Name: "mta_attachment_id", Shown: "mta_attachment", At: func(m *Material) any { return &m.MTAAttachmentID },
		Apart: true,
		Label: "MTA document", Sheet: 18, Also: []string{"mta attachment"},
		Help: "Id of the attachment that is the blank agreement.",
		Doc:  "The agreement to sign; giving one makes needs_mta true."},
	{Name: "shipping_requirements_id", Shown: "shipping_requirements",
		At:    func(m *Material) any { return &m.ShippingID },
		Label: "Shipping requirements", Sheet: 19,
		Help: "Id of your organization's shipping requirements that apply to it.",
		Doc:  "What shipping needs: a record of the organization."},
	{Name: "imported", At: func(m *Material) any { return &m.Imported }, Facet: "Imported",
		Label: "Imported", Sheet: 22, Help: "Whether it was imported from a public source.",
		Doc: "It came from an external source."},
	{Name: "import_source", At: func(m *Material) any { return &m.ImportSource }, Max: exchange.LineLength,
		Facet: "Imported from",
		Label: "Import source", Example: SourceGEO, Sheet: 23, Help: "The public source.",
		Doc: "Where it was imported from, such as GEO."},
	{Name: "import_identifier", At: func(m *Material) any { return &m.ImportIdentifier }, ReadOnly: true, Hidden: true},
	{Name: "organisms", At: func(m *Material) any { return &m.Organisms }, Set: setOrganisms,
		Facet: "Organism",
		Label: "Organisms", Example: "Homo sapiens", Sheet: 5,
		Also: []string{"organism", "species", "source organism"},
		Help: "Scientific names; separate several with a semicolon.", Doc: "The species that it is of."},
	{Name: "publication_title", At: func(m *Material) any { return &m.PublicationTitle }, Max: exchange.TitleLength,
		Found: new(fulltext.About),
		Label: "Publication", Sheet: 8, Also: []string{"paper", "article"},
		Help: "Title of that paper.", Doc: "Title of the publication."},
	{Name: "pre_print_doi", At: func(m *Material) any { return &m.PrePrintDOI },
		Canonical: identifier.DOI, Format: "doi", Examples: []string{"10.1101/2020.05.11.089375"},
		Label: "Preprint DOI", Sheet: 9, Help: "DOI of a preprint that describes it.", Doc: "DOI of the pre-print."},
	{Name: "pre_print_title", At: func(m *Material) any { return &m.PrePrintTitle }, Max: exchange.TitleLength,
		Found: new(fulltext.About),
		Label: "Preprint", Sheet: 10, Help: "Title of that preprint.", Doc: "Title of the pre-print."},
	{Name: "citation", At: func(m *Material) any { return &m.Citation }, Found: new(fulltext.About),
		Label: "Citation", Sheet: 11, Also: []string{"cite as", "reference paper"}, Help: "How to cite it."},
	{Name: "additional_info", At: func(m *Material) any { return &m.AdditionalInfo }, Found: new(fulltext.Body),
		Label: "More information", Sheet: 12,
		Also: []string{"notes", "note", "comment", "comments", "remarks", "additional information"},
		Help: "Anything else others should know.", Doc: "What else to know."},
	{Name: "embargo_date", At: func(m *Material) any { return &m.EmbargoDate },
		Label: "Embargo until", Example: "2027-01-31", Sheet: 14, Also: []string{"embargo", "release date"},
		Help: "The date from which it is available. If empty, immediately.",
		Doc:  "The day from which the material is offered."},
	{Name: "grants", Doc: "The grants that paid for the material, by id."},
	{Name: "is_archived", At: func(m *Material) any { return &m.Archived }, Apart: true, Stays: true,
		Facet: "Archived",
		Label: "Archived", Sheet: 21, Help: "Whether it is no longer available.", Doc: "The material is no longer " +
			"available."},
	{Name: "created_at", At: func(m *Material) any { return &m.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(m *Material) any { return &m.UpdatedAt }, ReadOnly: true},
}

// unread reads nothing: the place of a row in a spreadsheet is known otherwise.
func unread(string, any) error { return nil }

// DescriptorOf returns the field with a name in bodies or answers.
func DescriptorOf(name string) (Descriptor, bool) {
	for _, d := range Descriptors {
		if d.Name == name || d.ShownName() == name {
			return d, true
		}
	}
	return Descriptor{}, false
}
