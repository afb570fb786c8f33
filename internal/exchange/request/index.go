package request

import (
	"strconv"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"

	"github.com/google/uuid"
)

// Text is the text by which a request is found, apart from its messages and issues.
type Text struct {
	ID           int64
	Requester    uuid.UUID
	Organization int64    // that owns the material
	Names        []string // the title of the material, the lab, requester and assignee
	Documents    []string // file names, of earlier versions too
	Parcel       []string // carrier and tracking number
	Notes        []string // quantity, note, research abstract, conditions of the shipment
}

// IndexRow is a row of the index of requests. A request has several, each with a part of its text: row 0 has its
// Text, and each message or issue has a row under the Seq of its event, so that adding one costs the same
// however many there are.
type IndexRow struct {
	Request, Seq int64
	Doc          fulltext.Doc
}

// IndexRow returns the row of t.
func (t Text) IndexRow() IndexRow {
	var fields []fulltext.Field
	add := func(w fulltext.Weight, texts []string) {
		for _, text := range texts {
			fields = append(fields, fulltext.Field{Weight: w, Text: text})
		}
	}
	add(fulltext.Name, t.Names)
	add(fulltext.Name, t.Documents)
	add(fulltext.Name, t.Parcel)
	add(fulltext.Body, t.Notes)
	return IndexRow{t.ID, 0, fulltext.New(fields, nil, nil, scopeOf(t.Requester, t.Organization))}
}

// IndexRow returns the row of a message or issue in a request of a requester to an organization; false: e is neither.
func (e Event) IndexRow(requester uuid.UUID, organization int64) (IndexRow, bool) {
	if e.Kind != Messaged && e.Kind != IssueOpened {
		return IndexRow{}, false
	}
	fields := []fulltext.Field{{Weight: fulltext.Body, Text: e.Detail.Text}}
	return IndexRow{e.RequestID, e.Seq, fulltext.New(fields, nil, nil, scopeOf(requester, organization))}, true
}

// The facets of each row, for who may see a request: its requester, and the members of its organization.
const (
	requesterFacet    = "requester"
	organizationFacet = "organization"
)

func scopeOf(requester uuid.UUID, organization int64) []string {
	return []string{requesterFacet + "=" + requester.String(), organizationFacet + "=" +
		strconv.FormatInt(organization, 10)}
}

// maxScopes is the maximum number of a viewer's organizations by which a search of requests is narrowed.
const maxScopes = 64

// SearchScope narrows a search to the rows of requests that viewer may see, so that a search does not have to read the
// requests of others. It grants no access: that is checked for each request found.
func SearchScope(viewer exchange.Actor) func(fulltext.Expr) fulltext.Expr {
	if viewer.Admin || len(viewer.Organizations) > maxScopes {
		return func(e fulltext.Expr) fulltext.Expr { return e }
	}
	scope := fulltext.Expr{Token: fulltext.Facet(requesterFacet, viewer.ID.String())}
	if len(viewer.Organizations) > 0 {
		any := []fulltext.Expr{scope}
		for _, id := range viewer.Organizations {
			any = append(any, fulltext.Expr{Token: fulltext.Facet(organizationFacet, strconv.FormatInt(id, 10))})
		}
		scope = fulltext.Expr{Or: any}
	}
	return func(e fulltext.Expr) fulltext.Expr { return fulltext.Expr{And: []fulltext.Expr{scope, e}} }
}

// Renaming names the object that was renamed and by whose name other objects are found: one of these.
type Renaming struct {
	Organization int64     `json:"organization,omitempty"`
	Material     int64     `json:"material,omitempty"`
	User         uuid.UUID `json:"user,omitzero"`
}

// SearchPosition is a position in the list of requests whose search text contains the renamed object.
type SearchPosition struct {
	Material int64 `json:"material"` // 0 for the requests of a user
	Request  int64 `json:"request"`
}
