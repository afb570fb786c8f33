package requirement

import (
	"context"
	"strings"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/store/sqldb"
)

// Purposes stores what requesters state of the purposes of their requests.
type Purposes struct{ conn *sqldb.Conn }

// NewPurposes returns the store on a connection.
func NewPurposes(c *sqldb.Conn) Purposes { return Purposes{c} }

var purposeColumns = sqldb.WrittenColumns(requirement.PurposeFields)

// OfRequests reads the purposes of some requests, at most a few hundred, by the request.
func (st Purposes) OfRequests(ctx context.Context, requests ...int64) (map[int64]requirement.Purpose, error) {
	stated := map[int64]requirement.Purpose{}
	places, args := sqldb.In(nil, requests)
	_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, p *requirement.Purpose) error {
		var request int64
		err := r.Scan(append([]any{&request}, sqldb.ScannedInto(requirement.PurposeFields, p)...)...)
		stated[request] = *p
		return err
	}, "SELECT request, "+strings.Join(purposeColumns, ", ")+" FROM request_purposes WHERE request IN ("+places+")",
		args...)
	return stated, err
}

// Save saves the purpose of a request, which is locked.
func (st Purposes) Save(ctx context.Context, request int64, p requirement.Purpose) error {
	args, err := sqldb.AppendWritten([]any{request}, requirement.PurposeFields, &p)
	if err != nil {
		return err
	}
	written := append([]string{"request"}, purposeColumns...)
	written = append(written, "updated_at")
	_, err = st.conn.Exec(ctx, "INSERT INTO request_purposes ("+strings.Join(written, ", ")+") VALUES "+
		sqldb.Places(1, len(written))+" ON CONFLICT (request) DO UPDATE SET "+sqldb.Excluded(written[1:]),
		append(args, st.conn.Now)...)
	return err
}
