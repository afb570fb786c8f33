package institution

import (
	"context"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/store/sqldb"
)

const playbookColumns = "p.provide, p.accept, p.clauses, p.changed_at"

func scanWithPlaybook(r sqldb.Row, i *party.Institution) error {
	b := &i.Playbook
	return r.Scan(append(sqldb.ScannedInto(party.InstitutionFields, i), &i.MadeBy, sqldb.FromJSON(&b.Provide),
		sqldb.FromJSON(&b.Accept), sqldb.FromJSON(&b.Clauses), sqldb.UTCOrNull(&b.ChangedAt))...)
}

// SavePlaybook saves the playbook of an institution, which is locked.
func (st Institutions) SavePlaybook(ctx context.Context, institution int64, b playbook.Playbook) error {
	args := []any{institution}
	for _, list := range []any{b.Provide, b.Accept, b.Clauses} {
		text, err := sqldb.JSON(list)
		if err != nil {
			return err
		}
		args = append(args, text)
	}
	_, err := st.conn.Exec(ctx, `INSERT INTO institution_playbooks (institution, provide, accept, clauses, changed_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (institution) DO UPDATE SET provide = excluded.provide,
		accept = excluded.accept, clauses = excluded.clauses, changed_at = excluded.changed_at`,
		append(args, b.ChangedAt)...)
	return err
}
