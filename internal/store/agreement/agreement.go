// Package agreement is the SQL of agreements: letters, their versions, the requests that they are for, and who signed.
package agreement

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Agreements stores agreements.
type Agreements struct{ conn *sqldb.Conn }

// New returns the store on a connection.
func New(c *sqldb.Conn) Agreements { return Agreements{c} }

const columns = `o.id, o.state, o.requester, o.organization, o.scientist, o.purpose, o.choice, o.typed, o.basis,
	o.reason, o.waits, o.attachment, o.made_by, o.created_at, o.updated_at, o.sent_at, o.ended_at, o.closed_at,
	v.content, v.sha256`

const join = "JOIN agreement_versions v ON v.agreement = o.id AND v.version = o.version"

func scan(r sqldb.Row, a *letter.Agreement) error {
	var waits string
	err := r.Scan(&a.ID, &a.State, &a.Requester, &a.Organization, &a.Scientist, &a.Purpose, &a.Choice,
		sqldb.FromJSON(&a.Typed), sqldb.FromJSON(&a.Basis), &a.Reason, &waits, &a.Attachment, &a.MadeBy,
		sqldb.UTC(&a.CreatedAt), sqldb.UTC(&a.UpdatedAt), sqldb.UTCOrNull(&a.SentAt), sqldb.UTCOrNull(&a.EndedAt),
		sqldb.UTCOrNull(&a.ClosedAt),
		sqldb.FromJSON(&a.Letter), &a.SHA256)
	a.Waits = strings.Fields(waits)
	return err
}

// Get reads one agreement.
func (st Agreements) Get(ctx context.Context, id int64) (letter.Agreement, error) {
	return sqldb.One(ctx, st.conn, scan, "SELECT "+columns+" FROM agreements o "+join+" WHERE o.id = $1", id)
}

// ForUpdate reads one and locks it until commit.
func (st Agreements) ForUpdate(ctx context.Context, id int64) (letter.Agreement, error) {
	if _, err := sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT o.id FROM agreements o WHERE o.id = $1"+
		st.conn.Dialect().ForUpdate, id); err != nil {
		return letter.Agreement{}, err
	}
	return st.Get(ctx, id)
}

// Viewer is whose letters a list has: their own, and those of their labs and institutions.
type Viewer struct {
	Person       uuid.UUID
	Labs         []int64
	Institutions []int64
	All          bool // an admin's: every letter
}

// scopes returns the conditions of the letters that a viewer sees; none: all of them.
func (v Viewer) scopes() (list []sqldb.Scope) {
	if v.All {
		return nil
	}
	list = []sqldb.Scope{{Condition: "o.requester = ?", Args: []any{v.Person}}}
	for _, lab := range v.Labs {
		list = append(list, sqldb.Scope{Condition: "o.organization = ?", Args: []any{lab}})
	}
	for _, institution := range v.Institutions {
		list = append(list, sqldb.Scope{Condition: "o.provider = ?", Args: []any{institution}},
			sqldb.Scope{Condition: "o.recipient = ?", Args: []any{institution}})
	}
	return list
}

// List lists the letters of a viewer.
func (st Agreements) List(ctx context.Context, v Viewer, by letter.Filter,
	p exchange.Page) (exchange.ListPage[letter.Agreement], error) {
	l := sqldb.Listing[letter.Agreement]{Columns: columns, Table: "agreements", Joins: join, Scan: scan,
		ID: func(a letter.Agreement) int64 { return a.ID }, Scopes: v.scopes()}
	f := sqldb.Where("1 = 1")
	sqldb.AndEqual(f, "o.state", by.State)
	if by.Institution != nil {
		f.And("(o.provider = ? OR o.recipient = ?)", *by.Institution, *by.Institution)
	}
	st.conn = st.conn.WithoutStmtCache() // there are as many texts of it as sizes of viewers
	return l.Page(ctx, st.conn, p, f)
}

// partiesOf is how many letters of each scope Parties looks at, the newest first.
const partiesOf = 500

// Parties reads the ids of the institutions that are parties of the newest letters of a viewer, some of them twice.
func (st Agreements) Parties(ctx context.Context, v Viewer) (ids []int64, err error) {
	scopes := v.scopes()
	if v.All {
		scopes = []sqldb.Scope{{Condition: "1 = 1"}}
	}
	f := &sqldb.Filter{}
	for i, scope := range scopes {
		if i > 0 {
			f.SQL.WriteString(" UNION ")
		}
		f.Begin("SELECT provider, recipient FROM (SELECT o.provider, o.recipient FROM agreements o")
		f.And(scope.Condition, scope.Args...)
		fmt.Fprintf(&f.SQL, " ORDER BY o.id DESC LIMIT %d) part", partiesOf)
	}
	_, err = sqldb.All(ctx, st.conn.WithoutStmtCache(), func(r sqldb.Row, _ *struct{}) error {
		var provider, recipient int64
		err := r.Scan(&provider, &recipient)
		ids = append(ids, provider, recipient)
		return err
	}, f.SQL.String(), f.Args...)
	return ids, err
}

// Beside reads the letters of the other agreements between the same institutions that are open, the newest first, at
// most 50.
func (st Agreements) Beside(ctx context.Context, a letter.Agreement) ([]letter.Letter, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, l *letter.Letter) error { return r.Scan(sqldb.FromJSON(l)) },
		"SELECT v.content FROM agreements o "+join+" WHERE o.provider = $1 AND o.recipient = $2 AND o.requester = $3 "+
			"AND o.organization = $4 AND o.state IN ('DRAFT', 'SENT') AND o.id <> $5 ORDER BY o.id DESC LIMIT 50",
		a.Letter.Provider, a.Letter.Recipient, a.Requester, a.Organization, a.ID)
}

// Insert adds an agreement, without its first version, and returns its id.
func (st Agreements) Insert(ctx context.Context, a letter.Agreement) (int64, error) {
	typed, basis, err := texts(a)
	if err != nil {
		return 0, err
	}
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO agreements (state, requester, organization,
		scientist, provider, recipient, purpose, choice, typed, basis, reason, version, made_by, created_at, updated_at,
		instrument) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, '', 1, $11, $12, $12, $13) RETURNING id`,
		string(a.State), a.Requester, a.Organization, a.Scientist, a.Letter.Provider, a.Letter.Recipient, a.Purpose,
		a.Choice, typed, basis, a.MadeBy, st.conn.Now, a.Letter.Instrument)
}

// Update saves an agreement.
func (st Agreements) Update(ctx context.Context, a letter.Agreement) error {
	typed, basis, err := texts(a)
	if a.State != letter.Sent {
		a.Waits = nil
	}
	if err == nil {
		_, err = st.conn.Exec(ctx, `UPDATE agreements SET state = $2, scientist = $3, purpose = $4, choice = $5,
			typed = $6, basis = $7, reason = $8, version = $9, attachment = $10, sent_at = $11, ended_at = $12,
			updated_at = $13, instrument = $14, waits = $15 WHERE id = $1`, a.ID, string(a.State), a.Scientist,
			a.Purpose, a.Choice, typed, basis, a.Reason, a.Letter.Version, a.Attachment, a.SentAt, a.EndedAt,
			st.conn.Now, a.Letter.Instrument, strings.Join(a.Waits, " "))
	}
	return err
}

// SetWaits saves the roles that have not signed an agreement that was sent.
func (st Agreements) SetWaits(ctx context.Context, id int64, roles []string) error {
	_, err := st.conn.Exec(ctx, "UPDATE agreements SET waits = $2 WHERE id = $1", id, strings.Join(roles, " "))
	return err
}

func texts(a letter.Agreement) (typed, basis string, err error) {
	if typed, err = sqldb.JSON(a.Typed); err != nil {
		return "", "", err
	}
	basis, err = sqldb.JSON(a.Basis)
	return typed, basis, err
}

// AddVersion adds the version that the letter of an agreement has now; by uuid.Nil is Aliquot. It returns its hash.
func (st Agreements) AddVersion(ctx context.Context, id int64, l letter.Letter, by uuid.UUID) (sha256 string,
	err error) {
	content, err := letter.Canonical(l)
	if err != nil {
		return "", err
	}
	if sha256, err = l.SHA256(); err != nil {
		return "", err
	}
	_, err = st.conn.Exec(ctx, `INSERT INTO agreement_versions (agreement, version, content, sha256, made_by,
		created_at) VALUES ($1, $2, $3, $4, $5, $6)`, id, l.Version, string(content), sha256,
		uuid.NullUUID{UUID: by, Valid: by != uuid.Nil}, st.conn.Now)
	return sha256, err
}

// Versions lists the versions of an agreement.
func (st Agreements) Versions(ctx context.Context, id int64,
	p exchange.Page) (exchange.ListPage[letter.Version], error) {
	l := sqldb.Listing[letter.Version]{Columns: "o.id, o.content, o.sha256, o.made_by, o.created_at",
		Table: "agreement_versions", ID: func(v letter.Version) int64 { return v.ID },
		Scan: func(r sqldb.Row, v *letter.Version) error {
			var by uuid.NullUUID
			err := r.Scan(&v.ID, sqldb.FromJSON(&v.Letter), &v.SHA256, &by, sqldb.UTC(&v.CreatedAt))
			v.MadeBy = by.UUID
			return err
		}}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.agreement = ?", id))
}

// Join puts requests into a letter; Conflict, naming the letter, if one of them is in another.
func (st Agreements) Join(ctx context.Context, id int64, requests []int64) error {
	for some := range slices.Chunk(requests, sqldb.MaxIn) {
		var args []any
		for _, request := range some {
			args = append(args, id, request, true)
		}
		if _, err := st.conn.Exec(ctx, "INSERT INTO agreement_requests (agreement, request, live) VALUES "+
			sqldb.Places(len(some), 3)+" ON CONFLICT (agreement, request) DO UPDATE SET live = TRUE",
			args...); err != nil {
			return err
		}
	}
	return nil
}

// InLetter is that a request is in a letter.
type InLetter struct {
	Request, Agreement int64
	State              letter.State
}

// Holding reads in which letters requests are now.
func (st Agreements) Holding(ctx context.Context, requests []int64) (list []InLetter, err error) {
	for some := range slices.Chunk(requests, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		found, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, in *InLetter) error {
			return r.Scan(&in.Request, &in.Agreement, &in.State)
		}, `SELECT r.request, r.agreement, a.state FROM agreement_requests r JOIN agreements a ON a.id = r.agreement
			WHERE r.live AND r.request IN (`+places+") ORDER BY r.request", args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// Leave takes requests out of the letters that they are in.
func (st Agreements) Leave(ctx context.Context, requests ...int64) error {
	for some := range slices.Chunk(requests, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		if _, err := st.conn.Exec(ctx, "UPDATE agreement_requests SET live = FALSE WHERE live AND request IN ("+places+
			")", args...); err != nil {
			return err
		}
	}
	return nil
}

// Signatures reads the signatures on all versions of an agreement, the oldest first.
func (st Agreements) Signatures(ctx context.Context, id int64) ([]signing.Kept, error) {
	return sqldb.All(ctx, st.conn, scanSignature, "SELECT "+signatureColumns+
		" FROM agreement_signatures o WHERE o.agreement = $1 ORDER BY o.id", id)
}

// Sign adds a signature and returns its id.
func (st Agreements) Sign(ctx context.Context, s signing.Kept) (int64, error) {
	p := s.Signer.Person
	var authority *int64
	if s.Signer.Authority != 0 {
		authority = &s.Signer.Authority
	}
	var approval *int64
	var version *int
	if s.Approval != nil {
		approval, version = &s.Approval.ID, &s.Approval.Version
	}
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO agreement_signatures (agreement, version, sha256,
		role, signer, name, title, mail, authority, position, represents, level, evidence, signed_at, approval,
		approval_version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
		RETURNING id`, s.Agreement,
		s.Document.Version, s.Document.SHA256, s.Role, uuid.NullUUID{UUID: p.User, Valid: p.User != uuid.Nil}, p.Name,
		p.Title, p.Mail, authority, s.Signer.Position.Title, s.Represents, string(s.Level), string(s.Evidence), s.At,
		approval, version)
}

// SignaturesOf reads what a person signed, the oldest first.
func (st Agreements) SignaturesOf(ctx context.Context, user uuid.UUID) ([]signing.Kept, error) {
	return sqldb.All(ctx, st.conn, scanSignature, "SELECT "+signatureColumns+
		" FROM agreement_signatures o WHERE o.signer = $1 ORDER BY o.id", user)
}

const signatureColumns = `o.id, o.agreement, o.version, o.sha256, o.role, o.signer, o.name, o.title, o.mail,
	o.authority, o.position, o.represents, o.level, o.evidence, o.signed_at, o.approval,
	o.approval_version`

func scanSignature(r sqldb.Row, s *signing.Kept) error {
	var signer uuid.NullUUID
	var authority, approval *int64
	var version *int
	var evidence string
	err := r.Scan(&s.ID, &s.Agreement, &s.Document.Version, &s.Document.SHA256, &s.Role, &signer, &s.Signer.Person.Name,
		&s.Signer.Person.Title, &s.Signer.Person.Mail, &authority, &s.Signer.Position.Title, &s.Represents, &s.Level,
		&evidence, sqldb.UTC(&s.At), &approval, &version)
	s.Document.Letter, s.Signer.Person.User = letter.Number(s.Agreement), signer.UUID
	if authority != nil {
		s.Signer.Authority = *authority
	}
	if approval != nil && version != nil {
		s.Approval = &signing.ByApproval{ID: *approval, Version: *version}
	}
	s.Evidence = json.RawMessage(evidence)
	return err
}

// Idle reads the open agreements that nobody has changed since a moment, some of them, the oldest first.
func (st Agreements) Idle(ctx context.Context, since time.Time, limit int) ([]letter.Agreement, error) {
	return sqldb.All(ctx, st.conn, scan, "SELECT "+columns+" FROM agreements o "+join+
		" WHERE o.state IN ('DRAFT', 'SENT', 'DECLINED') AND o.updated_at < $1 ORDER BY o.updated_at LIMIT $2", since,
		limit)
}

// ByIDs reads those of some agreements that exist, by id.
func (st Agreements) ByIDs(ctx context.Context, ids []int64) (list []letter.Agreement, err error) {
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		found, err := sqldb.All(ctx, st.conn, scan, "SELECT "+columns+" FROM agreements o "+join+" WHERE o.id IN ("+
			places+") ORDER BY o.id", args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}
