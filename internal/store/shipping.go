package store

import (
	"context"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

var shippingColumns = sqldb.ColumnsOf("o.", lab.ShippingFields)

func scanShipping(r sqldb.Row, s *lab.Shipping) error {
	return r.Scan(sqldb.ScannedInto(lab.ShippingFields, s)...)
}

// Get reads one record of shipping requirements.
func (st Shippings) Get(ctx context.Context, id int64) (lab.Shipping, error) {
	return sqldb.One(ctx, st.conn, scanShipping, "SELECT "+shippingColumns+
		" FROM shipping_requirements o WHERE o.id = $1",
		id)
}

// ForUpdate reads one and locks it until commit.
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

// Insert adds shipping requirements and returns their id.
func (st Shippings) Insert(ctx context.Context, s lab.Shipping) (int64, error) {
	return sqldb.InsertOne(ctx, st.conn, "shipping_requirements", lab.ShippingFields, &s)
}

// Update saves shipping requirements.
func (st Shippings) Update(ctx context.Context, s lab.Shipping) error {
	return sqldb.UpdateOne(ctx, st.conn, "shipping_requirements", lab.ShippingFields,
		[]sqldb.Setter{{Column: "id", Value: s.ID}}, &s)
}

var addressColumns = sqldb.ColumnsOf("o.", person.AddressFields)

func scanAddress(r sqldb.Row, a *person.Address) error {
	return r.Scan(sqldb.ScannedInto(person.AddressFields, a)...)
}

// Get reads one address of a user.
func (st Addresses) Get(ctx context.Context, user uuid.UUID, id int64) (person.Address, error) {
	return sqldb.One(ctx, st.conn, scanAddress, "SELECT "+addressColumns+
		" FROM addresses o WHERE o.user_id = $1 AND o.id = $2",
		user, id)
}

// ForUpdate reads one and locks it until commit.
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

// Insert adds an address and returns its id.
func (st Addresses) Insert(ctx context.Context, a person.Address) (int64, error) {
	return sqldb.InsertOne(ctx, st.conn, "addresses", person.AddressFields, &a, addressKeys(a)...)
}

// Update saves an address; requests keep it as it was when it was sent.
func (st Addresses) Update(ctx context.Context, a person.Address) error {
	return sqldb.UpdateOne(ctx, st.conn, "addresses", person.AddressFields,
		[]sqldb.Setter{{Column: "user_id", Value: a.UserID}, {Column: "id", Value: a.ID}}, &a,
		addressKeys(a)...)
}

// addressKeys are the keys by which addresses are sorted.
func addressKeys(a person.Address) []sqldb.Setter {
	return []sqldb.Setter{{Column: "name_sort", Value: exchange.SortKey(a.Name)},
		{Column: "institution_sort", Value: exchange.SortKey(a.Institution)},
		{Column: "country_sort", Value: exchange.SortKey(a.Country)}}
}

// Delete deletes an address of a user; NotFound when there is none.
func (st Addresses) Delete(ctx context.Context, user uuid.UUID, id int64) error {
	n, err := st.conn.Exec(ctx, "DELETE FROM addresses WHERE user_id = $1 AND id = $2", user, id)
	if err == nil && n == 0 {
		err = &exchange.Error{Code: exchange.NotFound, Message: "There is no such address."}
	}
	return err
}
