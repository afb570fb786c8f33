package agreement

import (
	"context"

	"aliquot/internal/agreement/lint"
	"aliquot/internal/exchange/document"
	"aliquot/internal/store/sqldb"
)

// Papers stores what was found in papers that are documents of requests.
type Papers struct{ conn *sqldb.Conn }

// NewPapers returns the store on a connection.
func NewPapers(c *sqldb.Conn) Papers { return Papers{c} }

const paperColumns = "o.request, o.slot, o.attachment, o.state, o.problem, o.findings, o.checked_at"

func scanPaper(r sqldb.Row, p *lint.PaperCheck) error {
	return r.Scan(&p.Request, &p.Slot, &p.Attachment, &p.State, &p.Problem, sqldb.FromJSON(&p.Findings),
		sqldb.UTCOrNull(&p.CheckedAt))
}

// OfRequest reads what was found in the papers of a request.
func (st Papers) OfRequest(ctx context.Context, request int64) ([]lint.PaperCheck, error) {
	return sqldb.All(ctx, st.conn, scanPaper, "SELECT "+paperColumns+
		" FROM paper_checks o WHERE o.request = $1 ORDER BY o.id", request)
}

// OfAttachment reads what was found in an attachment, for each request of which it is or was the newest document.
func (st Papers) OfAttachment(ctx context.Context, attachment int64) ([]lint.PaperCheck, error) {
	return sqldb.All(ctx, st.conn, scanPaper, "SELECT "+paperColumns+
		" FROM paper_checks o WHERE o.attachment = $1 ORDER BY o.id", attachment)
}

// Expect notes that the document of a request in a slot is to be checked; what was found in an earlier one is deleted.
func (st Papers) Expect(ctx context.Context, request int64, slot document.Slot, attachment int64) error {
	_, err := st.conn.Exec(ctx, `INSERT INTO paper_checks (request, slot, attachment, state, problem, findings)
		VALUES ($1, $2, $3, $4, '', '[]') ON CONFLICT (request, slot) DO UPDATE SET attachment = $3, state = $4,
		problem = '', findings = '[]', checked_at = NULL`, request, string(slot), attachment, string(lint.Waiting))
	return err
}

// Save saves a check, unless the paper was replaced meanwhile.
func (st Papers) Save(ctx context.Context, p lint.PaperCheck) error {
	findings, err := sqldb.JSON(append([]lint.Finding{}, p.Findings...))
	if err != nil {
		return err
	}
	_, err = st.conn.Exec(ctx, `UPDATE paper_checks SET state = $1, problem = $2, findings = $3, checked_at = $4
		WHERE request = $5 AND slot = $6 AND attachment = $7`, string(p.State), p.Problem, findings, p.CheckedAt,
		p.Request, string(p.Slot), p.Attachment)
	return err
}
