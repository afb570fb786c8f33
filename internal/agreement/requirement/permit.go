package requirement

import (
	"maps"
	"slices"
	"strings"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/identifier"

	"github.com/google/uuid"
)

// Permit is an official's decision that fulfils a requirement for a time. It is of a lab or an institution; without
// either, of the person who added it.
type Permit struct {
	ID        int64
	Regime    string // the kind of requirement that it fulfils
	Number    string
	Authority string
	Country   string
	From      exchange.Date
	Until     exchange.Date // the first day on which it is no longer valid; empty: without end

	// What it is limited to; an empty list is no limit.
	Materials    []int64
	Categories   []string
	Institutions []int64 // one of which provides or receives

	Document     *int64 // an attachment
	Organization *int64
	Institution  *int64
	Person       uuid.UUID
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// Regimes are the kinds of requirements that permits fulfil.
func Regimes() []string {
	kinds := maps.Clone(file.Kinds)
	maps.DeleteFunc(kinds, func(_ string, k kind) bool { return !k.Permit })
	return slices.Sorted(maps.Keys(kinds))
}

// PermitFields are the fields of permits, in the order of answers.
var PermitFields = []field.Descriptor[Permit]{
	{Name: "id", At: func(p *Permit) any { return &p.ID }, ReadOnly: true},
	field.OneOf(field.Descriptor[Permit]{Name: "regime", Label: "What it is",
		Help: "The requirement that it fulfils."}, "PermitRegime", Regimes(),
		func(p *Permit) *string { return &p.Regime }),
	{Name: "number", At: func(p *Permit) any { return &p.Number }, Max: exchange.LineLength, Label: "Number",
		Help: "As the authority gave it, such as IRB 2026-117."},
	{Name: "authority", At: func(p *Permit) any { return &p.Authority }, Max: exchange.LineLength, Label: "Given by",
		Help: "The board or office that decided."},
	{Name: "country", At: func(p *Permit) any { return &p.Country }, Canonical: identifier.Country, Format: "country",
		Examples: []string{"DE"}, Label: "Country", Help: "Of the authority: a name or a code, such as Germany or DE."},
	{Name: "from", Column: "from_day", At: func(p *Permit) any { return &p.From }, Label: "Valid from",
		Help: "The first day on which it is valid."},
	{Name: "until", Column: "until_day", At: func(p *Permit) any { return &p.Until }, Label: "Valid until",
		Help: "The first day on which it is no longer valid; empty: without end."},
	{Name: "materials", At: func(p *Permit) any { return &p.Materials }, Label: "Only for these materials",
		Doc:  "The ids of the materials that it is limited to; an empty list is all.",
		Help: "The numbers at the ends of their addresses, separated by semicolons; empty: all."},
	party.ListOf(field.Descriptor[Permit]{Name: "categories", Label: "Only for these categories",
		Doc:  "The categories of materials that it is limited to; an empty list is all.",
		Help: "Codes such as PLASMID, separated by semicolons; empty: all."}, party.Code,
		func(p *Permit) *[]string { return &p.Categories }),
	{Name: "institutions", At: func(p *Permit) any { return &p.Institutions }, Label: "Only with these institutions",
		Doc: "The ids of institutions, one of which has to provide or receive; an empty list is all.",
		Help: "The numbers at the ends of the addresses of their pages, separated by semicolons; empty: all. One of " +
			"them provides or receives."},
	{Name: "document", At: func(p *Permit) any { return &p.Document },
		Doc: "The attachment with the decision; null: none."},
	{Name: "organization", At: func(p *Permit) any { return &p.Organization },
		Doc: "The lab whose permit it is; null: of no lab. It stays as it is."},
	{Name: "institution", At: func(p *Permit) any { return &p.Institution },
		Doc: "The institution whose permit it is; null: of none. It stays as it is."},
	{Name: "person", At: func(p *Permit) any { return &p.Person }, ReadOnly: true,
		Doc: "Who added it; whose it is, if it is of no lab and no institution."},
	{Name: "created_at", At: func(p *Permit) any { return &p.CreatedAt }, ReadOnly: true},
	{Name: "updated_at", At: func(p *Permit) any { return &p.UpdatedAt }, ReadOnly: true},
}

// PermitPatch is the body of POST, PUT and PATCH of a permit.
type PermitPatch = party.Patch[Permit]

// Table implements party.Described.
func (p Permit) Table() []field.Descriptor[Permit] { return PermitFields }

// Faults implements party.Described.
func (p Permit) Faults(f *exchange.FieldErrors) {
	f.Must("regime", p.Regime != "", "is required: "+strings.Join(Regimes(), ", "))
	f.Need("number", p.Number)
	f.Need("authority", p.Authority)
	for _, c := range p.Categories {
		if !slices.Contains(category.Codes(), c) {
			f.Add("categories", "there is no category %s", c)
		}
	}
	if p.Until != "" && p.Until <= p.From {
		f.Add("until", "must be later than %s: it is the first day on which the permit is no longer valid", p.From)
	}
	if p.Organization != nil && p.Institution != nil {
		f.Add("institution", "a permit is of a lab or of an institution, not of both")
	}
}

// Valid reports whether the permit is valid on the day.
func (p Permit) Valid(day exchange.Date) bool {
	return p.Number != "" && p.From <= day && !p.Expired(day)
}

// Expired reports whether the permit was valid before the day and no longer is.
func (p Permit) Expired(day exchange.Date) bool { return p.Until != "" && p.Until <= day }

// ReminderDays are how many days before the end of a permit people are reminded of it, the last reminder first: of
// those that are due, it is the one that is sent.
var ReminderDays = []int{14, 60}

// EndsSoon reports whether the permit is valid on the day, and ends within the days of the first reminder.
func (p Permit) EndsSoon(day exchange.Date) bool {
	today, _ := day.Begin()
	soon := exchange.DayOf(today.AddDate(0, 0, slices.Max(ReminderDays)))
	return p.Valid(day) && p.Until != "" && p.Until <= soon
}

// Covers reports whether the permit covers all that another does, whatever their days.
func (p Permit) Covers(other Permit) bool {
	return party.Includes(p.Materials, other.Materials) && party.Includes(p.Categories, other.Categories) &&
		party.Includes(p.Institutions, other.Institutions)
}

// Outside returns the field of the permit whose limit the transfer is outside of; "": it covers the transfer.
func (p Permit) Outside(t Transfer) string {
	switch {
	case len(p.Materials) > 0 && !slices.Contains(p.Materials, t.Material):
		return "materials"
	case len(p.Categories) > 0 && !slices.Contains(p.Categories, t.Category):
		return "categories"
	case len(p.Institutions) > 0 && !slices.Contains(p.Institutions, t.Provider) &&
		!slices.Contains(p.Institutions, t.Recipient):
		return "institutions"
	}
	return ""
}

// PermitUse is the body of the use of a permit for a request.
type PermitUse struct {
	Permit exchange.Opt[exchange.Ref] `json:"permit"`
}

// Validate implements Body.
func (u PermitUse) Validate(bool) (f exchange.FieldErrors) {
	f.Must("permit", u.Permit.Value != 0, "is required: the id of a permit")
	return f
}

// PermitFilter is what a list of permits can be limited to.
type PermitFilter struct {
	Request *int64 `query:"request"`
}
