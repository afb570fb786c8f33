package agreement

import (
	"context"
	"slices"
	"time"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/store/sqldb"
)

// Precedents reads by which instruments agreements between a provider and a recipient were executed before a moment,
// for each category of materials, the newest first: of those that a viewer may see, at most instrument.MaxPrecedents.
func (st Agreements) Precedents(ctx context.Context, v Viewer, provider, recipient int64,
	before time.Time) ([]instrument.Precedent, error) {
	seen, args := "", []any{provider, recipient, before, instrument.MaxPrecedents}
	if !v.All && !slices.Contains(v.Institutions, provider) && !slices.Contains(v.Institutions, recipient) {
		var places string
		args = append(args, v.Person)
		places, args = sqldb.In(args, v.Labs)
		seen = "AND (o.requester = $5 OR o.organization IN (" + places + ")) "
		st.conn = st.conn.WithoutStmtCache() // there are as many texts of it as numbers of labs
	}
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, p *instrument.Precedent) error {
		var l letter.Letter
		err := r.Scan(&p.Agreement, &p.Category, &p.Times, sqldb.UTC(&p.On), sqldb.FromJSON(&l))
		p.Instrument, p.Version, p.Text = l.Instrument, l.Edition, l.TextHash
		return err
	}, `WITH executed AS (SELECT o.id, o.instrument, o.ended_at FROM agreements o
			WHERE o.provider = $1 AND o.recipient = $2 AND o.state = 'EXECUTED' AND o.ended_at < $3 `+seen+`
			ORDER BY o.id DESC LIMIT $4),
		categorised AS (SELECT DISTINCT e.id, e.instrument, e.ended_at, m.category FROM executed e
			JOIN agreement_requests r ON r.agreement = e.id AND r.live
			JOIN material_requests q ON q.id = r.request JOIN materials m ON m.id = q.material_id),
		ranked AS (SELECT c.id, c.category, COUNT(*) OVER (PARTITION BY c.instrument, c.category) AS times,
			ROW_NUMBER() OVER (PARTITION BY c.instrument, c.category ORDER BY c.ended_at DESC, c.id DESC) AS place
			FROM categorised c)
		SELECT o.id, k.category, k.times, o.ended_at, v.content FROM ranked k JOIN agreements o ON o.id = k.id `+join+`
		WHERE k.place = 1 ORDER BY o.ended_at DESC, o.id DESC, k.category`, args...)
}
