// Package institution is the SQL of institutions, and of what is registered of them.
package institution

import (
	"context"
	"slices"
	"strings"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/field"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Institutions stores institutions, and what is registered of them.
type Institutions struct {
	conn         *sqldb.Conn
	Labs         Rows[party.Lab]
	Affiliations Rows[party.Affiliation]
	Positions    Rows[party.Position]
	Authorities  Rows[party.Authority]
	StandIns     Rows[party.StandIn]
	Masters      Rows[party.Master]
	Approvals    Rows[approval.Approval]
}

// New returns the store on a connection.
func New(c *sqldb.Conn) Institutions {
	return Institutions{c, Rows[party.Lab]{c, "institution_labs"}, Rows[party.Affiliation]{c, "affiliations"},
		Rows[party.Position]{c, "positions"}, Rows[party.Authority]{c, "authorities"},
		Rows[party.StandIn]{c, "stand_ins"}, Rows[party.Master]{c, "masters"},
		Rows[approval.Approval]{c, "approvals"}}
}

const madeBy = "o.made_by"

func scan(r sqldb.Row, i *party.Institution) error {
	return r.Scan(append(sqldb.ScannedInto(party.InstitutionFields, i), &i.MadeBy)...)
}

var columns = sqldb.ColumnsOf("o.", party.InstitutionFields) + ", " + madeBy

// Get reads one institution with its playbook.
func (st Institutions) Get(ctx context.Context, id int64) (party.Institution, error) {
	return sqldb.One(ctx, st.conn, scanWithPlaybook, "SELECT "+columns+", "+playbookColumns+
		" FROM institutions o LEFT JOIN institution_playbooks p ON p.institution = o.id WHERE o.id = $1", id)
}

// ForUpdate reads one and locks it, with all that is registered of it, until commit.
func (st Institutions) ForUpdate(ctx context.Context, id int64) (party.Institution, error) {
	return sqldb.One(ctx, st.conn, scan, "SELECT "+columns+" FROM institutions o WHERE o.id = $1"+
		st.conn.Dialect().ForUpdate, id)
}

// ForShare reads one and keeps it as it is until commit, with all that is registered of it; others may do so at the
// same time.
func (st Institutions) ForShare(ctx context.Context, id int64) (party.Institution, error) {
	return sqldb.One(ctx, st.conn, scan, "SELECT "+columns+" FROM institutions o WHERE o.id = $1"+
		st.conn.Dialect().ForShare, id)
}

var institutions = sqldb.Listing[party.Institution]{Columns: columns, Table: "institutions", Scan: scan,
	ID: func(i party.Institution) int64 { return i.ID }}

// List lists institutions; name "" is every one, otherwise those whose legal name contains it.
func (st Institutions) List(ctx context.Context, name string,
	p exchange.Page) (exchange.ListPage[party.Institution], error) {
	f := sqldb.Where("1 = 1")
	if key := exchange.SortKey(name); key != "" {
		f.And(`o.legal_name_sort LIKE ? ESCAPE '\'`, "%"+likeText.Replace(key)+"%")
	}
	return institutions.Page(ctx, st.conn, p, f)
}

var likeText = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// Known reads the institutions that have a ROR ID or, in a country, a legal name, the oldest first.
func (st Institutions) Known(ctx context.Context, ror, country, name string) ([]party.Institution, error) {
	return sqldb.All(ctx, st.conn, scan, "SELECT "+columns+` FROM institutions o WHERE o.ror <> '' AND o.ror = $1
		OR o.legal_name_sort = $2 AND o.country = $3 ORDER BY o.id`, ror, exchange.SortKey(name), country)
}

// Names reads the legal names of those of the institutions that exist.
func (st Institutions) Names(ctx context.Context, ids []int64) (map[int64]string, error) {
	names := map[int64]string{}
	for some := range slices.Chunk(ids, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		_, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, _ *struct{}) error {
			var id int64
			var name string
			err := r.Scan(&id, &name)
			names[id] = name
			return err
		}, "SELECT id, legal_name FROM institutions WHERE id IN ("+places+")", args...)
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// UnconfirmedBy counts the institutions that a user made and that nobody confirmed.
func (st Institutions) UnconfirmedBy(ctx context.Context, user uuid.UUID) (int, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int],
		"SELECT COUNT(*) FROM institutions WHERE made_by = $1 AND NOT confirmed", user)
}

// Insert adds an institution and returns its id.
func (st Institutions) Insert(ctx context.Context, i party.Institution) (int64, error) {
	return sqldb.InsertOne(ctx, st.conn, "institutions", party.InstitutionFields, &i, sortKey(i),
		sqldb.Setter{Column: "made_by", Value: i.MadeBy})
}

// Update saves an institution.
func (st Institutions) Update(ctx context.Context, i party.Institution) error {
	return sqldb.UpdateOne(ctx, st.conn, "institutions", party.InstitutionFields,
		[]sqldb.Setter{{Column: "id", Value: i.ID}}, &i, sortKey(i))
}

func sortKey(i party.Institution) sqldb.Setter {
	return sqldb.Setter{Column: "legal_name_sort", Value: exchange.SortKey(i.LegalName)}
}

// Register reads who may sign for an institution, on any day.
func (st Institutions) Register(ctx context.Context, institution int64) (r party.Register, err error) {
	if r.Positions, err = st.Positions.Of(ctx, institution); err != nil {
		return r, err
	}
	if r.Authorities, err = st.Authorities.Of(ctx, institution); err != nil {
		return r, err
	}
	r.StandIns, err = st.StandIns.Of(ctx, institution)
	return r, err
}

// RegisterOf reads, of the register of an institution, what tells which authorities a user holds on a day.
func (st Institutions) RegisterOf(ctx context.Context, institution int64, user uuid.UUID) (r party.Register,
	err error) {
	const held = " FROM authorities h WHERE h.institution = $1 AND h.holder = $2)"
	if r.Authorities, err = sqldb.All(ctx, st.conn, scanRow[party.Authority], st.Authorities.query()+
		"o.institution = $1 AND (o.holder = $2 OR o.supersedes IN (SELECT h.id"+held+") ORDER BY o.id", institution,
		user); err != nil {
		return r, err
	}
	r.Positions, err = sqldb.All(ctx, st.conn, scanRow[party.Position], st.Positions.query()+
		"o.id IN (SELECT h.position"+held+" ORDER BY o.id", institution, user)
	return r, err
}

// ByIDs reads some institutions, without their playbooks, by id.
func (st Institutions) ByIDs(ctx context.Context, ids []int64) (map[int64]party.Institution, error) {
	places, args := sqldb.In(nil, ids)
	list, err := sqldb.All(ctx, st.conn, scan, "SELECT "+columns+" FROM institutions o WHERE o.id IN ("+places+")",
		args...)
	found := map[int64]party.Institution{}
	for _, i := range list {
		found[i.ID] = i
	}
	return found, err
}

// LabsOf reads to which institutions labs belong, or belonged, the oldest first.
func (st Institutions) LabsOf(ctx context.Context, organizations ...int64) ([]party.Lab, error) {
	places, args := sqldb.In(nil, organizations)
	return sqldb.All(ctx, st.conn, scanRow[party.Lab], st.Labs.query()+"o.organization IN ("+places+") ORDER BY o.id",
		args...)
}

// OfLab returns the institution of a lab on a day with its name, as party.InstitutionOf says; the zero value if there
// is none.
func (st Institutions) OfLab(ctx context.Context, organization int64, day exchange.Date) (of exchange.Named,
	err error) {
	found, err := sqldb.All(ctx, st.conn, func(r sqldb.Row, n *exchange.Named) error { return r.Scan(&n.ID, &n.Name) },
		`SELECT i.id, i.legal_name FROM institution_labs l JOIN institutions i ON i.id = l.institution
		WHERE l.organization = $1 AND l.confirmed AND l.from_day <= $2 AND (l.until_day = '' OR l.until_day > $2)
		ORDER BY l.from_day DESC, l.id LIMIT 1`, organization, day)
	if len(found) > 0 {
		of = found[0]
	}
	return of, err
}

// Rows stores what is registered of institutions in one table, whose columns are those of a table of fields.
type Rows[T party.Described[T]] struct {
	conn *sqldb.Conn
	name string
}

func table[T party.Described[T]]() []field.Descriptor[T] {
	var o T
	return o.Table()
}

func scanRow[T party.Described[T]](r sqldb.Row, o *T) error {
	return r.Scan(sqldb.ScannedInto(table[T](), o)...)
}

func (st Rows[T]) query() string {
	return "SELECT " + sqldb.ColumnsOf("o.", table[T]()) + " FROM " + st.name + " o WHERE "
}

// Of reads all of an institution, the oldest first.
func (st Rows[T]) Of(ctx context.Context, institution int64) ([]T, error) {
	return sqldb.All(ctx, st.conn, scanRow[T], st.query()+"o.institution = $1 ORDER BY o.id", institution)
}

// Get reads one of an institution. Who changes it has locked the institution.
func (st Rows[T]) Get(ctx context.Context, institution, id int64) (T, error) {
	return sqldb.One(ctx, st.conn, scanRow[T], st.query()+"o.institution = $1 AND o.id = $2", institution, id)
}

// Known returns NotFound unless there is one with an id, of any institution.
func (st Rows[T]) Known(ctx context.Context, id int64) error {
	_, err := sqldb.One(ctx, st.conn, sqldb.Value[int64], "SELECT id FROM "+st.name+" WHERE id = $1", id)
	return err
}

// List lists those of an institution; person uuid.Nil is all, otherwise those with that person.
func (st Rows[T]) List(ctx context.Context, institution int64, person uuid.UUID,
	p exchange.Page) (exchange.ListPage[T], error) {
	l := sqldb.Listing[T]{Columns: sqldb.ColumnsOf("o.", table[T]()), Table: st.name, Scan: scanRow[T],
		ID: func(o T) int64 { return *table[T]()[0].At(&o).(*int64) }, Filters: map[string]sqldb.Condition{}}
	for _, d := range table[T]() {
		if d.Column != "" {
			l.Filters[d.Name] = sqldb.Equals("o." + d.Column)
		}
	}
	f := sqldb.Where("o.institution = ?", institution)
	if person != uuid.Nil {
		f.And("o.person = ?", person)
	}
	return l.Page(ctx, st.conn, p, f)
}

// Count counts those of an institution.
func (st Rows[T]) Count(ctx context.Context, institution int64) (int, error) {
	return sqldb.One(ctx, st.conn, sqldb.Value[int], "SELECT COUNT(*) FROM "+st.name+" WHERE institution = $1",
		institution)
}

// Insert adds one and returns its id.
func (st Rows[T]) Insert(ctx context.Context, o T) (int64, error) {
	return sqldb.InsertOne(ctx, st.conn, st.name, table[T](), &o)
}

// Update saves the one with an id.
func (st Rows[T]) Update(ctx context.Context, id int64, o T) error {
	return sqldb.UpdateOne(ctx, st.conn, st.name, table[T](), []sqldb.Setter{{Column: "id", Value: id}}, &o)
}

// OfPerson reads the affiliations of people with all institutions, the oldest first.
func (st Institutions) OfPerson(ctx context.Context, people ...uuid.UUID) ([]party.Affiliation, error) {
	places, args := sqldb.In(nil, people)
	return sqldb.All(ctx, st.conn, scanRow[party.Affiliation], st.Affiliations.query()+"o.person IN ("+places+
		") ORDER BY o.id", args...)
}

// RegistersOf reads, of the registers of all institutions, what tells where a user may sign on a day.
func (st Institutions) RegistersOf(ctx context.Context, user uuid.UUID) (r party.Register, err error) {
	const theirs = "(SELECT h.id FROM authorities h WHERE h.holder = $1 UNION SELECT s.authority FROM stand_ins s " +
		"WHERE s.person = $1)"
	if r.Authorities, err = sqldb.All(ctx, st.conn, scanRow[party.Authority], st.Authorities.query()+"o.id IN "+theirs+
		" OR o.supersedes IN "+theirs+" ORDER BY o.id", user); err != nil {
		return r, err
	}
	if r.Positions, err = sqldb.All(ctx, st.conn, scanRow[party.Position], st.Positions.query()+
		"o.id IN (SELECT a.position FROM authorities a WHERE a.id IN "+theirs+") ORDER BY o.id", user); err != nil {
		return r, err
	}
	r.StandIns, err = st.StandingIn(ctx, user)
	return r, err
}

// HeldBy reads the authorities that a user holds, of any time, the oldest first.
func (st Institutions) HeldBy(ctx context.Context, user uuid.UUID) ([]party.Authority, error) {
	return sqldb.All(ctx, st.conn, scanRow[party.Authority], st.Authorities.query()+"o.holder = $1 ORDER BY o.id", user)
}

// SignedBy reads the standing approvals that a user signed or made, of any time, the oldest first.
func (st Institutions) SignedBy(ctx context.Context, user uuid.UUID) ([]approval.Approval, error) {
	return sqldb.All(ctx, st.conn, scanRow[approval.Approval], st.Approvals.query()+
		"o.officer = $1 ORDER BY o.id", user)
}

// StandingIn reads where a user stands in, at any time, the oldest first.
func (st Institutions) StandingIn(ctx context.Context, user uuid.UUID) ([]party.StandIn, error) {
	return sqldb.All(ctx, st.conn, scanRow[party.StandIn], st.StandIns.query()+"o.person = $1 ORDER BY o.id", user)
}

// Signatory is the entry of a master agreement with its institution and, of a bilateral one, the name of the other.
type Signatory struct {
	Institution  party.Institution
	Counterparty string
	Master       party.Master
}

// Signatories reads the signatories of a family of master agreements, or of all if it is "", by name.
func (st Institutions) Signatories(ctx context.Context, family string) ([]Signatory, error) {
	scan := func(r sqldb.Row, s *Signatory) error {
		into := append(sqldb.ScannedInto(party.MasterFields, &s.Master), &s.Institution.LegalName, &s.Institution.ROR,
			&s.Institution.Country, &s.Counterparty)
		return r.Scan(into...)
	}
	return sqldb.All(ctx, st.conn, scan, "SELECT "+sqldb.ColumnsOf("o.", party.MasterFields)+`, i.legal_name, i.ror,
		i.country, COALESCE(c.legal_name, '')
		FROM masters o JOIN institutions i ON i.id = o.institution LEFT JOIN institutions c ON c.id = o.counterparty
		WHERE $1 = '' OR o.family = $1 ORDER BY i.legal_name_sort, o.family, o.signed_on, o.id`, family)
}
