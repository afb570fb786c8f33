package exchange

// Page is a part of a list: at most Limit rows (0: all) behind After (nil: from the beginning), of those that match
// Where. CountAll asks for the exact number of rows, however many there are.
type Page struct {
	Limit    int
	Order    Order
	After    *Position
	Where    []FieldEquals
	CountAll bool
}

// CountLimit is the largest number of rows that is always counted: see X-Total-Count in contract.md section 11.
const CountLimit = 10_000

// Count is a number of rows. If AtLeast is set, N is CountLimit and there are more.
type Count struct {
	N       int64
	AtLeast bool
}

// FieldEquals is a condition of a filter: a field by its JSON name, and the value that it must have.
type FieldEquals struct {
	Field string
	Value any // bool, int64, uuid.UUID or string
}

// Order is how a list is sorted: by a field, and rows of equal value by id in the same direction. The zero Order is
// newest first. Null comes last in both directions.
type Order struct {
	Field
	Ascending bool
}

// Position is the place of a row in an order: its value of the field of the order (nil if that is null or there is no
// field), and its id.
type Position struct {
	Value any // int64, time.Time or string, according to the Kind
	ID    int64
}

// ListPage is one page of a list, with the number of all rows and, if more follow, the position of the page's last row.
type ListPage[T any] struct {
	Items []T
	Total Count
	Next  *Position
}

// Field is a field that a list can be sorted by, under its JSON name.
type Field struct {
	Name     string
	Kind     Kind
	Nullable bool
}

// Kind is the type of a field's values.
type Kind int

// The kinds of fields.
const (
	Number Kind = iota
	Moment
	Word   // a constant, an identifier or a date: compared byte by byte
	Text   // entered by people: compared by its SortKey
	UserID // a UUID
)

var (
	byID      = Field{Name: "id"}
	byCreated = Field{Name: "created_at", Kind: Moment}
	byUpdated = Field{Name: "updated_at", Kind: Moment}
	byAt      = Field{Name: "at", Kind: Moment}
)

// The fields that the lists can be sorted by.
var (
	AddressFields = []Field{byID, {Name: "name", Kind: Text}, {Name: "institution", Kind: Text},
		{Name: "country", Kind: Text},
		byCreated, byUpdated}
	AttachmentFields = []Field{byID, {Name: "filename", Kind: Text}, {Name: "size", Nullable: true},
		{Name: "media_type", Kind: Word, Nullable: true}, byCreated, byUpdated}
	AuditFields    = []Field{byID, {Name: "action", Kind: Word}, {Name: "object", Kind: Word}, byAt}
	DeliveryFields = []Field{byID, {Name: "type", Kind: Word}, {Name: "state", Kind: Word}, byCreated,
		{Name: "ended_at", Kind: Moment, Nullable: true}}
	EventFields      = []Field{byID, {Name: "seq"}, {Name: "kind", Kind: Word}, byAt}
	GrantFields      = []Field{byID, {Name: "title", Kind: Text}, {Name: "funder_id", Kind: Text}, byCreated, byUpdated}
	InvitationFields = []Field{byID, {Name: "registry_id", Kind: Word, Nullable: true},
		{Name: "email", Kind: Word, Nullable: true},
		byCreated, {Name: "expires_at", Kind: Moment}, {Name: "sent_at", Kind: Moment}}
	IssueFields = []Field{byID, {Name: "opened_at", Kind: Moment}, {Name: "closed_at", Kind: Moment, Nullable: true}}
	JoinFields  = []Field{byID, {Name: "status", Kind: Word}, byCreated,
		{Name: "answered_at", Kind: Moment, Nullable: true}}
	InquiryFields = []Field{byID, byCreated, {Name: "answered_at", Kind: Moment, Nullable: true}}
	JobFields     = []Field{byID, {Name: "kind", Kind: Word}, {Name: "state", Kind: Word}, byCreated,
		{Name: "ended_at", Kind: Moment, Nullable: true}}
	MaterialFields = []Field{byID, {Name: "title", Kind: Text}, {Name: "category", Kind: Word}, {Name: "organization"},
		{Name: "embargo_date", Kind: Word, Nullable: true}, byCreated, byUpdated}
	MemberFields = []Field{{Name: "id", Kind: UserID}, {Name: "username", Kind: Word}, {Name: "first_name", Kind: Text},
		{Name: "last_name", Kind: Text}, byCreated, byUpdated}
	MessageFields      = []Field{byID, {Name: "sent_at", Kind: Moment}}
	NotificationFields = []Field{byID, {Name: "category", Kind: Word}, {Name: "kind", Kind: Word},
		{Name: "request", Nullable: true}, byCreated,
		{Name: "read_at", Kind: Moment, Nullable: true}}
	OrganizationEventFields = []Field{byID, {Name: "kind", Kind: Word}, byAt}
	OrganizationFields      = []Field{byID, {Name: "name", Kind: Text}, byCreated, byUpdated}
	RequestFields           = []Field{byID, {Name: "material"}, {Name: "status", Kind: Word}, byCreated, byUpdated}
	SavedSearchFields       = []Field{byID, {Name: "name", Kind: Text}, byCreated, byUpdated}
	SettingsFields          = []Field{byID, {Name: "organization"}, byCreated, byUpdated}
	ShippingFields          = []Field{byID, {Name: "organization"}, byCreated, byUpdated}
	TurnFields              = []Field{byID, {Name: "seq"}, {Name: "status", Kind: Word},
		{Name: "began_at", Kind: Moment},
		{Name: "ended_at", Kind: Moment, Nullable: true}}
	PasskeyFields = []Field{byID, byCreated}
	PermitFields  = []Field{byID}
	TokenFields   = []Field{byID, byCreated, {Name: "expires", Kind: Moment}}
	VersionFields = []Field{{Name: "version"}, {Name: "action", Kind: Word}, byAt}
	WebhookFields = []Field{byID, byCreated, byUpdated}

	InstitutionFields      = []Field{byID, {Name: "legal_name", Kind: Text}, byCreated, byUpdated}
	AgreementFields        = []Field{byID}
	AgreementLinkFields    = []Field{byID}
	AgreementVersionFields = []Field{{Name: "version"}}
	EntryFields            = []Field{byID} // of what is registered of institutions
)
