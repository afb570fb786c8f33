package agreement

import (
	"context"
	"fmt"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// waits returns the condition that a letter waits for the signature of a role, which is the only one.
func waits(role string) string { return "o.state = 'SENT' AND o.waits LIKE '%" + role + "%'" }

// Waiting lists the letters that wait for the signature of a person: as the scientist of a side, or for one of their
// seats. Whether their authority covers all materials of one, its page says.
func (st Agreements) Waiting(ctx context.Context, person uuid.UUID, seats []party.Seat,
	p exchange.Page) (exchange.ListPage[letter.Agreement], error) {
	l := sqldb.Listing[letter.Agreement]{Columns: columns, Table: "agreements", Joins: join, Scan: scan,
		ID: func(a letter.Agreement) int64 { return a.ID },
		Scopes: []sqldb.Scope{
			{Condition: "o.requester = ? AND " + waits(party.RecipientScientist), Args: []any{person}},
			{Condition: "o.scientist = ? AND " + waits(party.ProviderScientist), Args: []any{person}}}}
	for _, seat := range seats {
		condition := "o.recipient = ? AND " + waits(party.RecipientOfficial)
		if seat.Direction == party.Provide {
			condition = "o.provider = ? AND " + waits(party.ProviderOfficial)
		}
		l.Scopes = append(l.Scopes, sqldb.Scope{Condition: condition, Args: []any{seat.Institution}})
	}
	st.conn = st.conn.WithoutStmtCache() // there are as many texts of it as sizes of seats
	return l.Page(ctx, st.conn, p, sqldb.Where("1 = 1"))
}

// on returns the condition that a letter of the institution $1 is on a desk.
func on(d letter.Desk) string {
	ours, theirs := "(o.provider = $1 AND %[1]s OR o.recipient = $1 AND %[2]s)",
		"(o.provider = $1 AND %[2]s OR o.recipient = $1 AND %[1]s)"
	switch d {
	case letter.OnUs:
		return fmt.Sprintf(ours, waits(party.ProviderOfficial), waits(party.RecipientOfficial))
	case letter.OnThem:
		return fmt.Sprintf(theirs, waits(party.ProviderOfficial), waits(party.RecipientOfficial))
	case letter.OnLab:
		return "(" + waits(party.ProviderScientist) + " OR " + waits(party.RecipientScientist) + ")"
	}
	return "1 = 1"
}

const ofInstitution = "(o.provider = $1 OR o.recipient = $1)"

// Desk reads some of the letters of an institution, and how many there are: those that wait from the longest waiting
// on, all from the newest on.
func (st Agreements) Desk(ctx context.Context, institution int64, by letter.DeskFilter, limit,
	offset int) (list []letter.Agreement, total int64, err error) {
	f := &sqldb.Filter{Args: []any{institution}}
	f.SQL.WriteString(ofInstitution + " AND " + on(by.Desk))
	sqldb.AndEqual(f, "o.organization", by.Organization)
	if by.Counterparty != nil {
		f.And("(o.provider = ? OR o.recipient = ?)", *by.Counterparty, *by.Counterparty)
	}
	if by.Instrument != "" {
		f.And("o.instrument = ?", by.Instrument)
	}
	if by.Category != "" {
		f.And(`EXISTS (SELECT 1 FROM agreement_requests r JOIN material_requests q ON q.id = r.request
			JOIN materials m ON m.id = q.material_id WHERE r.agreement = o.id AND m.category = ?)`, by.Category)
	}
	if by.SentBefore != nil {
		f.And("o.sent_at < ?", *by.SentBefore)
	}
	if total, err = sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT COUNT(*) FROM agreements o WHERE "+
		f.SQL.String(), f.Args...); err != nil {
		return nil, 0, err
	}
	order := " ORDER BY o.id"
	if by.Desk == letter.OnAll {
		order += " DESC"
	}
	list, err = sqldb.All(ctx, st.conn, scan, "SELECT "+columns+" FROM agreements o "+join+" WHERE "+f.SQL.String()+
		order+fmt.Sprintf(" LIMIT %d OFFSET %d", limit, offset), f.Args...)
	return list, total, err
}

// DeskCounts counts the letters of an institution, by desk.
func (st Agreements) DeskCounts(ctx context.Context, institution int64) (letter.DeskCounts, error) {
	counts, text := letter.DeskCounts{}, "SELECT COUNT(*)"
	for _, d := range []letter.Desk{letter.OnUs, letter.OnThem, letter.OnLab} {
		text += ", COALESCE(SUM(CASE WHEN " + on(d) + " THEN 1 ELSE 0 END), 0)"
	}
	_, err := sqldb.One(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
		var all, us, them, lab int64
		err := r.Scan(&all, &us, &them, &lab)
		counts[letter.OnAll], counts[letter.OnUs], counts[letter.OnThem], counts[letter.OnLab] = all, us, them, lab
		return err
	}, text+" FROM agreements o WHERE "+ofInstitution, institution)
	return counts, err
}

// Dealing is what letters of an institution have in common.
type Dealing struct {
	Organization, Counterparty int64
	Instrument                 string
}

// maxDealings is how many different dealings of an institution are read.
const maxDealings = 2000

// Dealings reads with whom, by which labs and in which forms an institution has letters.
func (st Agreements) Dealings(ctx context.Context, institution int64) ([]Dealing, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, d *Dealing) error {
		return r.Scan(&d.Organization, &d.Counterparty, &d.Instrument)
	}, fmt.Sprintf(`SELECT DISTINCT o.organization, CASE WHEN o.provider = $1 THEN o.recipient ELSE o.provider END,
		o.instrument FROM agreements o WHERE %s LIMIT %d`, ofInstitution, maxDealings), institution)
}

// OfInstitution reads those of some letters that an institution is a party of, by id.
func (st Agreements) OfInstitution(ctx context.Context, institution int64, ids []int64) ([]letter.Agreement, error) {
	places, args := sqldb.In([]any{institution}, ids)
	return sqldb.All(ctx, st.conn, scan, "SELECT "+columns+" FROM agreements o "+join+" WHERE "+ofInstitution+
		" AND o.id IN ("+places+") ORDER BY o.id", args...)
}
