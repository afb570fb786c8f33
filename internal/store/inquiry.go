package store

import (
	"context"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

const (
	inquiryColumns = "o.id, o.material_id, o.organization_id, o.user_id, o.question, o.created_at, o.answer, " +
		"o.answered_by, o.answered_at, o.request_id, m.title, g.name, " + userColumns
	inquiryJoins = "JOIN materials m ON m.id = o.material_id JOIN organizations g ON g.id = o.organization_id " +
		"JOIN users u ON u.id = o.user_id"
	inquirySelect = "SELECT " + inquiryColumns + " FROM inquiries o " + inquiryJoins
)

func scanInquiry(r sqldb.Row, i *request.ShownInquiry) error {
	return r.Scan(append([]any{&i.ID, &i.MaterialID, &i.OrganizationID, &i.UserID, &i.Question, sqldb.UTC(&i.CreatedAt),
		&i.Answer, &i.AnsweredBy, sqldb.UTCOrNull(&i.AnsweredAt), &i.RequestID, &i.Material, &i.Organization},
		userFields(&i.Asker)...)...)
}

// Get reads one inquiry.
func (st Inquiries) Get(ctx context.Context, id int64) (request.ShownInquiry, error) {
	return sqldb.One(ctx, st.conn, scanInquiry, inquirySelect+" WHERE o.id = $1", id)
}

// ForUpdate reads one inquiry and locks it until commit.
func (st Inquiries) ForUpdate(ctx context.Context, id int64) (request.ShownInquiry, error) {
	lock := st.conn.Dialect().ForUpdate
	if lock != "" {
		lock += " OF o"
	}
	return sqldb.One(ctx, st.conn, scanInquiry, inquirySelect+" WHERE o.id = $1"+lock, id)
}

// OfRequest reads the inquiry because of which a request was made; nil if there is none.
func (st Inquiries) OfRequest(ctx context.Context, id int64) (*request.ShownInquiry, error) {
	list, err := sqldb.All(ctx, st.conn, scanInquiry, inquirySelect+" WHERE o.request_id = $1", id)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// OfUser lists the inquiries of a person.
func (st Inquiries) OfUser(ctx context.Context, user uuid.UUID, f request.InquiryFilter,
	p exchange.Page) (exchange.ListPage[request.ShownInquiry], error) {
	return st.list(ctx, sqldb.Where("o.user_id = ?", user), f, p)
}

// OfLab lists the inquiries about the materials of an organization.
func (st Inquiries) OfLab(ctx context.Context, organization int64, f request.InquiryFilter,
	p exchange.Page) (exchange.ListPage[request.ShownInquiry], error) {
	return st.list(ctx, sqldb.Where("o.organization_id = ?", organization), f, p)
}

// OfMember lists the inquiries about the materials of all organizations that a person is a member of.
func (st Inquiries) OfMember(ctx context.Context, user uuid.UUID, f request.InquiryFilter,
	p exchange.Page) (exchange.ListPage[request.ShownInquiry], error) {
	return st.list(ctx, sqldb.Where("o.organization_id IN ("+membersOf+")", user), f, p)
}

func (st Inquiries) list(ctx context.Context, f *sqldb.Filter, v request.InquiryFilter,
	p exchange.Page) (exchange.ListPage[request.ShownInquiry], error) {
	if v.Answered != nil {
		f.And("(o.answered_at IS NOT NULL) = ?", *v.Answered)
	}
	l := sqldb.Listing[request.ShownInquiry]{Columns: inquiryColumns, Table: "inquiries", Joins: inquiryJoins,
		Scan: scanInquiry,
		ID:   func(i request.ShownInquiry) int64 { return i.ID },
		Filters: map[string]sqldb.Condition{"organization": sqldb.Equals("o.organization_id"),
			"material": sqldb.Equals("o.material_id"), "user": sqldb.Equals("o.user_id"),
			"request": sqldb.Equals("o.request_id")}}
	return l.Page(ctx, st.conn, p, f)
}

// ToAnswer counts the inquiries that wait for an answer of the organizations that a person is a member of, up to 100.
func (st Inquiries) ToAnswer(ctx context.Context, user uuid.UUID) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `SELECT COUNT(*) FROM (SELECT 1 FROM memberships m
		JOIN inquiries o ON o.organization_id = m.organization_id AND o.answered_at IS NULL
		WHERE m.user_id = $1 AND m.left_at IS NULL LIMIT `+maxCounted+") first", user)
}

// Unanswered reports whether a person waits for the answer to an inquiry about a material.
func (st Inquiries) Unanswered(ctx context.Context, user uuid.UUID, material int64) (bool, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[bool], `SELECT EXISTS (SELECT 1 FROM inquiries WHERE user_id = $1
		AND material_id = $2 AND answered_at IS NULL)`, user, material)
}

// MadeSince lists when a person made their inquiries since a moment, the first one first.
func (st Inquiries) MadeSince(ctx context.Context, user uuid.UUID, since time.Time) ([]time.Time, error) {
	return sqldb.All(ctx, st.conn, func(r sqldb.Row, t *time.Time) error { return r.Scan(sqldb.UTC(t)) },
		"SELECT created_at FROM inquiries WHERE user_id = $1 AND created_at > $2 ORDER BY created_at LIMIT $3",
		user, since, request.MaxInquiries)
}

// Insert adds an inquiry and returns its id.
func (st Inquiries) Insert(ctx context.Context, i request.Inquiry) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO inquiries (material_id, organization_id, user_id,
		question, created_at, answer) VALUES ($1, $2, $3, $4, $5, '') RETURNING id`,
		i.MaterialID, i.OrganizationID, i.UserID, i.Question, st.conn.Now)
}

// Save saves the answer to an inquiry, and the request that was made because of it.
func (st Inquiries) Save(ctx context.Context, i request.Inquiry) error {
	_, err := st.conn.Exec(ctx, `UPDATE inquiries SET answer = $2, answered_by = $3, answered_at = $4, request_id = $5
		WHERE id = $1`, i.ID, i.Answer, i.AnsweredBy, i.AnsweredAt, i.RequestID)
	return err
}

// Move lets the inquiries about a material follow it to an organization.
func (st Inquiries) Move(ctx context.Context, material, to int64) error {
	_, err := st.conn.Exec(ctx, "UPDATE inquiries SET organization_id = $2 WHERE material_id = $1", material, to)
	return err
}
