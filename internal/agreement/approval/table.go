package approval

import (
	"encoding/json"
	"slices"
	"strings"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"

	"github.com/google/uuid"
)

// maxDays is how long an approval holds at most.
const maxDays = 366

// Fields are the fields of standing approvals, in the order of answers.
var Fields = []field.Descriptor[Approval]{
	{Name: "id", At: func(a *Approval) any { return &a.ID }, ReadOnly: true},
	{Name: "institution", At: func(a *Approval) any { return &a.Institution }, ReadOnly: true,
		Doc: "The institution that it is registered of."},
	{Name: "version", At: func(a *Approval) any { return &a.Version }, ReadOnly: true,
		Doc: "Counts its changes until it is signed, from 1."},
	field.OneOf(field.Descriptor[Approval]{Name: "direction", Label: "Direction",
		Help: "Whether it signs what your labs provide, or what they receive."}, "ApprovalDirection",
		[]string{string(party.Provide), string(party.Receive)},
		func(a *Approval) *string { return (*string)(&a.Direction) }),
	party.ListOf(field.Descriptor[Approval]{Name: "families", Label: "Kinds of agreements",
		Doc:  "Families of instruments; an empty list is refused.",
		Help: "Codes such as UBMTA_LETTER, separated by semicolons."}, party.Code,
		func(a *Approval) *[]string { return &a.Families }),
	party.ListOf(field.Descriptor[Approval]{Name: "categories", Label: "Categories of materials",
		Doc:  "Categories of materials; an empty list is refused.",
		Help: "Materials of other categories are signed one by one."}, party.Code,
		func(a *Approval) *[]string { return &a.Categories }),
	{Name: "largest_bsl", At: func(a *Approval) any { return &a.LargestBSL }, From: 1, To: 4,
		Unit: "biosafety levels", Label: "Highest biosafety level",
		Help: "From 1 to 4. A material whose level nobody stated is signed one by one."},
	field.OneOf(field.Descriptor[Approval]{Name: "human", Label: "Material of human origin",
		Help: "Material of identifiable people is always signed one by one."}, "ApprovalHuman",
		[]string{string(requirement.NotHuman), string(requirement.HumanAnonymised)},
		func(a *Approval) *string { return (*string)(&a.Human) }),
	party.ListOf(field.Descriptor[Approval]{Name: "members", Label: "For whom",
		Doc:  "The ids of people at the institution; an empty list is everybody there.",
		Help: "ORCID iDs, separated by semicolons; empty: everybody at the institution."}, userID,
		func(a *Approval) *[]string { return &a.Members }),
	{Name: "counterparties", At: func(a *Approval) any { return &a.Counterparties }, Label: "With which institutions",
		Doc: "The ids of other institutions; an empty list is all that have the master agreement of the " +
			"instrument in force.",
		Help: "The numbers at the ends of the addresses of their pages, separated by semicolons; empty: all that " +
			"have the master agreement in force."},
	{Name: "from", Column: "from_day", At: func(a *Approval) any { return &a.From }, Label: "Start",
		Help: "The first day on which it holds."},
	{Name: "until", Column: "until_day", At: func(a *Approval) any { return &a.Until }, Label: "End",
		Help: "The first day on which it no longer holds: at most a year later."},
	{Name: "officer", At: func(a *Approval) any { return &a.Officer }, ReadOnly: true,
		Doc: "Who signed it; before, who changed it last."},
	{Name: "signed_on", At: func(a *Approval) any { return &a.SignedOn }, ReadOnly: true,
		Doc: "When it was signed; null before. From then on only withdrawn_on changes."},
	{Name: "level", At: func(a *Approval) any { return (*string)(&a.Level) }, ReadOnly: true,
		Doc: "The level of its signature; empty before."},
	{Name: "identified", At: func(a *Approval) any { return &a.Identified }, ReadOnly: true,
		Doc: "Who the provider of identities said the officer is, when they signed."},
	{Name: "texts", At: func(a *Approval) any { return &a.Texts }, ReadOnly: true,
		Doc: "The SHA-256 of the texts that its families had when it was signed. Letters with another text are " +
			"signed by people."},
	{Name: "evidence", At: func(a *Approval) any { return &a.Evidence }, ReadOnly: true,
		Doc: "JSON with what a passkey signed (document) and the proof of it (passkey), which can be checked without " +
			"this server; empty if it was signed otherwise."},
	{Name: "withdrawn_on", At: func(a *Approval) any { return &a.WithdrawnOn }, Label: "Withdrawn on",
		Help: "The first day on which it no longer holds: today, or later. What it signed stays signed."},
	{Name: "created_at", At: func(a *Approval) any { return &a.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(a *Approval) any { return &a.UpdatedAt }, ReadOnly: true},
}

func userID(text string) (string, error) {
	id, err := uuid.Parse(text)
	return id.String(), err
}

// Table implements party.Described.
func (a Approval) Table() []field.Descriptor[Approval] { return Fields }

// Faults implements party.Described.
func (a Approval) Faults(f *exchange.FieldErrors) {
	f.Must("direction", a.Direction != "", "is required: "+string(party.Provide)+" or "+string(party.Receive))
	f.Must("families", len(a.Families) > 0, "must name at least one, such as UBMTA_LETTER")
	f.Must("categories", len(a.Categories) > 0, "must name at least one: "+strings.Join(category.Codes(), ", "))
	for _, c := range a.Categories {
		if !slices.Contains(category.Codes(), c) {
			f.Add("categories", "there is no category %s", c)
		}
	}
	from, begins := a.From.Begin()
	until, ends := a.Until.Begin()
	f.Must("from", begins, "is required: the first day on which it holds")
	f.Must("until", ends && (!begins || until.After(from) && !until.After(from.AddDate(0, 0, maxDays))),
		"must be after from, by at most a year")
	if slices.Contains(a.Counterparties, a.Institution) {
		f.Add("counterparties", "must be other institutions")
	}
}

// AskNew is the body of POST /institutions/:id/approvals/:approval/sign/options.
type AskNew struct {
	Version exchange.Opt[int64] `json:"version"`
}

// Validate implements Body.
func (n AskNew) Validate(bool) (f exchange.FieldErrors) {
	const most = 1 << 31
	f.Rule("version", exchange.Rule{From: 1, To: most})
	f.Must("version", n.Version.Value >= 1 && n.Version.Value <= most,
		"is required: the number of the version that you sign")
	return f
}

// SignNew is the body of POST /institutions/:id/approvals/:approval/sign. What a passkey answered makes it a signature
// of the level PASSKEY.
type SignNew struct {
	Version    exchange.Opt[int64]           `json:"version"`
	Credential exchange.Opt[json.RawMessage] `json:"credential"`
}

// Validate implements Body.
func (n SignNew) Validate(create bool) exchange.FieldErrors {
	f := AskNew{n.Version}.Validate(create)
	signing.CheckAnswer(&f, n.Credential)
	return f
}
