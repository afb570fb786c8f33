package store

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

const shippingColumns = `o.id, o.organization_id, o.needs_shipping_address, o.needs_payment, o.accepts_shipping_code,
	o.accepts_reimbursement, o.accepts_other_payment_methods, o.accepted_payment_details, o.restrictions, o.created_at,
	o.updated_at`

func scanShipping(r sqldb.Row, s *lab.Shipping) error {
	return r.Scan(&s.ID, &s.OrganizationID, &s.NeedsAddress, &s.NeedsPayment, &s.AcceptsShippingCode,
		&s.AcceptsReimbursement, &s.AcceptsOther, &s.PaymentDetails, &s.Restrictions, sqldb.UTC(&s.CreatedAt),
		sqldb.UTC(&s.UpdatedAt))
}

// Get reads one record of shipping requirements.
func (st Shippings) Get(ctx context.Context, id int64) (lab.Shipping, error) {
	return sqldb.One(ctx, st.conn, scanShipping, "SELECT "+shippingColumns+
		" FROM shipping_requirements o WHERE o.id = $1",
		id)
}

// ForUpdate reads one and keeps others from changing it until commit.
func (st Shippings) ForUpdate(ctx context.Context, id int64) (lab.Shipping, error) {
	return sqldb.One(ctx, st.conn, scanShipping, "SELECT "+shippingColumns+
		" FROM shipping_requirements o WHERE o.id = $1"+
		st.conn.Dialect().ForUpdate, id)
}

// List lists shipping requirements; organization nil is every one.
func (st Shippings) List(ctx context.Context, organization *int64,
	p exchange.Page) (exchange.ListPage[lab.Shipping], error) {
	l := sqldb.Listing[lab.Shipping]{Columns: shippingColumns, Table: "shipping_requirements", Scan: scanShipping,
		ID:      func(s lab.Shipping) int64 { return s.ID },
		Sorts:   map[string]string{"organization": "o.organization_id"},
		Filters: map[string]sqldb.Condition{"organization": sqldb.Equals("o.organization_id")}}
	f := sqldb.Where("1 = 1")
	sqldb.AndEqual(f, "o.organization_id", organization)
	return l.Page(ctx, st.conn, p, f)
}

// Insert adds shipping requirements and gives their id.
func (st Shippings) Insert(ctx context.Context, s lab.Shipping) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO shipping_requirements (organization_id,
		needs_shipping_address,
		needs_payment,
		accepts_shipping_code, accepts_reimbursement, accepts_other_payment_methods, accepted_payment_details,
		restrictions, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) RETURNING id`,
		s.OrganizationID, s.NeedsAddress, s.NeedsPayment, s.AcceptsShippingCode, s.AcceptsReimbursement, s.AcceptsOther,
		s.PaymentDetails, s.Restrictions, st.conn.Now)
}

// Update saves shipping requirements.
func (st Shippings) Update(ctx context.Context, s lab.Shipping) error {
	_, err := st.conn.Exec(ctx, `UPDATE shipping_requirements SET needs_shipping_address = $2, needs_payment = $3,
		accepts_shipping_code = $4,
		accepts_reimbursement = $5, accepts_other_payment_methods = $6, accepted_payment_details = $7,
		restrictions = $8, updated_at = $9
		WHERE id = $1`,
		s.ID, s.NeedsAddress, s.NeedsPayment, s.AcceptsShippingCode, s.AcceptsReimbursement, s.AcceptsOther,
		s.PaymentDetails, s.Restrictions, st.conn.Now)
	return err
}

const addressColumns = `o.id, o.user_id, o.name, o.institution, o.address_line_1, o.address_line_2, o.locality, o.state,
	o.country, o.postal_code, o.saved_for_reuse, o.created_at, o.updated_at`

func scanAddress(r sqldb.Row, a *person.Address) error {
	return r.Scan(&a.ID, &a.UserID, &a.Name, &a.Institution, &a.Line1, &a.Line2, &a.Locality, &a.State,
		&a.Country, &a.PostalCode, &a.SavedForUse, sqldb.UTC(&a.CreatedAt), sqldb.UTC(&a.UpdatedAt))
}

// Get reads one address of a user.
func (st Addresses) Get(ctx context.Context, user uuid.UUID, id int64) (person.Address, error) {
	return sqldb.One(ctx, st.conn, scanAddress, "SELECT "+addressColumns+
		" FROM addresses o WHERE o.user_id = $1 AND o.id = $2",
		user, id)
}

// ForUpdate reads one and keeps others from changing it until commit.
func (st Addresses) ForUpdate(ctx context.Context, user uuid.UUID, id int64) (person.Address, error) {
	return sqldb.One(ctx, st.conn, scanAddress, "SELECT "+addressColumns+
		" FROM addresses o WHERE o.user_id = $1 AND o.id = $2"+
		st.conn.Dialect().ForUpdate, user, id)
}

// List lists a user's addresses.
func (st Addresses) List(ctx context.Context, user uuid.UUID, p exchange.Page) (exchange.ListPage[person.Address],
	error) {
	l := sqldb.Listing[person.Address]{Columns: addressColumns, Table: "addresses", Scan: scanAddress,
		ID:      func(a person.Address) int64 { return a.ID },
		Filters: map[string]sqldb.Condition{"user": sqldb.Equals("o.user_id")}}
	return l.Page(ctx, st.conn, p, sqldb.Where("o.user_id = ?", user))
}

// Insert adds an address and gives its id.
func (st Addresses) Insert(ctx context.Context, a person.Address) (int64, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int64], `INSERT INTO addresses (user_id, name, institution,
		address_line_1,
		address_line_2, locality, state,
		country, postal_code, saved_for_reuse, created_at, updated_at, name_sort, institution_sort, country_sort)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, $13, $14) RETURNING id`,
		a.UserID, a.Name, a.Institution, a.Line1, a.Line2, a.Locality, a.State, a.Country, a.PostalCode, a.SavedForUse,
		st.conn.Now,
		exchange.SortKey(a.Name), exchange.SortKey(a.Institution), exchange.SortKey(a.Country))
}

// Update saves an address; requests keep it as it was when it was sent.
func (st Addresses) Update(ctx context.Context, a person.Address) error {
	_, err := st.conn.Exec(ctx, `UPDATE addresses SET name = $3, institution = $4, address_line_1 = $5,
		address_line_2 = $6,
		locality = $7,
		state = $8, country = $9, postal_code = $10, saved_for_reuse = $11, updated_at = $12, name_sort = $13,
		institution_sort = $14,
		country_sort = $15 WHERE user_id = $1 AND id = $2`,
		a.UserID, a.ID, a.Name, a.Institution, a.Line1, a.Line2, a.Locality, a.State, a.Country, a.PostalCode,
		a.SavedForUse, st.conn.Now,
		exchange.SortKey(a.Name), exchange.SortKey(a.Institution), exchange.SortKey(a.Country))
	return err
}

// Delete forgets an address of a user; NotFound when there is none.
func (st Addresses) Delete(ctx context.Context, user uuid.UUID, id int64) error {
	n, err := st.conn.Exec(ctx, "DELETE FROM addresses WHERE user_id = $1 AND id = $2", user, id)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "There is no such address."}
	}
	return err
}
