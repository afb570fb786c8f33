package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// Index describes the search index of one kind of object. The table NAME_index has a row for each object; its words are
// in NAME_words (SQLite) or in a column (PostgreSQL). The rank of a row does not depend on what the object contains:
// objects are spread evenly over the ranks, so that the first hits by rank are a fair sample of all hits. Only archived
// objects come after all others.
type Index struct {
	name     string
	table    string   // of the objects
	extra    []string // columns of the index that only this one has
	bits     int      // ranks are below 1<<bits, those of archived objects below 2<<bits
	visible  string   // the condition, on day and viewer, that the viewer may see the row x; "": everyone may
	hideable string   // the condition on x of the rows that visible may hide, which NAME_index_hideable has; "": any
	title    string   // the column of what is suggested, which is sorted by title_sort; "": nothing is
	archived string   // the column that reports whether an object is archived; "": objects cannot be
	sorts    map[exchange.SearchSort]sorting
}

var (
	Materials = Index{name: "material", table: "materials", extra: []string{"organization_id", "visible_from"},
		bits: 32,
		visible: "(x.visible_from <= ? OR x.organization_id IN (SELECT m.organization_id FROM memberships m " +
			"WHERE m.user_id = ? AND m.left_at IS NULL))", hideable: "x.visible_from <> ''",
		title: "o.title", archived: "o.is_archived", sorts: sortings("o.title_sort")}
	Organizations = Index{name: "organization", table: "organizations", bits: 32, title: "o.name",
		sorts: sortings("o.name_sort")}
	// SharingLabs is Organizations without those that everyone has from the beginning, made together with their owner,
	// as long as they have listed nothing; their members find them.
	SharingLabs = func(ix Index) Index {
		ix.visible = "EXISTS (SELECT 1 FROM organizations v JOIN users h ON h.id = v.owner_id WHERE v.id = x.id " +
			"AND (v.created_at <> h.created_at OR EXISTS (SELECT 1 FROM materials m WHERE m.organization_id = v.id " +
			"AND (m.embargo_date IS NULL OR m.embargo_date <= ?)) OR EXISTS (SELECT 1 FROM memberships m WHERE " +
			"m.organization_id = v.id AND m.user_id = ? AND m.left_at IS NULL)))"
		return ix
	}(Organizations)
	Users = Index{name: "user", table: "users", bits: 61, sorts: sortings("o.last_name_sort")}
)

// RankOf returns the rank of the object with an id: the fractional part of its multiple of the golden ratio, which
// spreads ids evenly, including those of every second or every hundredth object.
func RankOf(id int64, archived bool) (int64, error) {
	if id < 0 || id>>32 != 0 {
		return 0, fmt.Errorf("the index has no place for number %d", id)
	}
	rank := int64(uint32(id) * goldenRatio)
	if archived {
		rank += 1 << 32
	}
	return rank, nil
}

// goldenRatio is the fractional part of the golden ratio in 32 bits; unGolden is its inverse modulo 1<<32.
const (
	goldenRatio uint32 = 2654435769
	unGolden    uint32 = 340573321
)

// userRank returns the rank of a user. Two users practically never have the same one: with a million users the
// probability is one in a few million.
func userRank(id uuid.UUID) int64 {
	hash := sha256.Sum256(id[:])
	return int64(binary.BigEndian.Uint64(hash[:]) >> 3)
}

// entry is an index row to be written.
type entry struct {
	exchange.SearchDocument
	id    any
	rank  int64
	extra []any
	was   indexedRow
}

// indexedRow is the part of an index row that was read back; all fields are nil for an object that is not indexed yet.
type indexedRow struct {
	rank            *int64
	digest, weights *string
}

func (e entry) digest() string {
	hash := sha256.New()
	// such values are always JSON
	_ = json.NewEncoder(hash).Encode([]any{e.rank, e.extra, e.Facets, e.Doc.Weights, e.Doc.Tokens})
	return base64.RawStdEncoding.EncodeToString(hash.Sum(nil)[:15])
}

// Writer writes the indexes.
type Writer struct{ *sqldb.Conn }

// On returns the Writer on a connection.
func On(c *sqldb.Conn) Writer { return Writer{c} }

// writeIndex updates rows of an index; rows whose digest is unchanged are not written.
func (c Writer) writeIndex(ctx context.Context, ix Index, entries []entry) error {
	if l, loading := c.Loader.(*Loader); loading {
		l.hold(ix, entries)
		return nil
	}
	columns := c.indexColumns(ix)
	var moved []int64
	digests := map[int64]string{}
	entries = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool {
		digests[e.rank] = e.digest()
		if e.was.rank != nil && *e.was.rank != e.rank {
			moved = append(moved, *e.was.rank)
		}
		return e.was.digest != nil && *e.was.digest == digests[e.rank]
	})
	if err := c.forgetWords(ctx, ix, moved); err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.rank, b.rank) })
	for some := range sqldb.Batches(entries, c.Dialect().AtOnce) {
		var rows []any
		for _, e := range some {
			rows = append(rows, c.indexRow(ix, e, digests[e.rank])...)
		}
		if _, err := c.Exec(ctx, "INSERT INTO "+ix.name+"_index ("+strings.Join(columns, ", ")+") VALUES "+
			sqldb.Places(len(some), len(columns))+
			" ON CONFLICT (id) DO UPDATE SET "+sqldb.Excluded(append([]string{"rank"}, columns[2:]...)),
			rows...); err != nil {
			return err
		}
	}
	if c.Postgres() {
		return nil
	}
	// FTS5 writes to the disk after each statement of several rows, and whenever ranks go back.
	for _, e := range entries {
		if _, err := c.Exec(ctx, "INSERT OR REPLACE INTO "+ix.name+"_words (rowid, words) VALUES ($1, $2)", e.rank,
			FTSText(e.Doc.Tokens)); err != nil {
			return err
		}
	}
	return nil
}

// indexColumns returns the columns of an index that indexRow fills.
func (c Writer) indexColumns(ix Index) []string {
	columns := slices.Concat([]string{"rank", "id", "facets", "weights", "digest"}, ix.extra)
	if c.Postgres() {
		columns = append(columns, "words")
	}
	return columns
}

// indexRow returns the values of an index row.
func (c Writer) indexRow(ix Index, e entry, digest string) []any {
	row := append([]any{e.rank, e.id, strings.Join(e.Facets, "\n"), e.Doc.Weights, digest}, e.extra...)
	if c.Postgres() {
		tokens := slices.Clip(e.Doc.Tokens)
		for _, bits := range partBits {
			tokens = append(tokens, ix.slot(e.rank, bits).Token)
		}
		row = append(row, TSVector(tokens))
	}
	return row
}

// forgetWords deletes the words stored under ranks that objects no longer have.
func (c Writer) forgetWords(ctx context.Context, ix Index, ranks []int64) error {
	if c.Postgres() { // where the row has them
		return nil
	}
	for some := range slices.Chunk(ranks, sqldb.MaxIn) {
		places, args := sqldb.In(nil, some)
		if _, err := c.Exec(ctx, "DELETE FROM "+ix.name+"_words WHERE rowid IN ("+places+")", args...); err != nil {
			return err
		}
	}
	return nil
}

// kept reads the index row of one object.
func (c Writer) kept(ctx context.Context, ix Index, id any) (indexedRow, error) {
	list, err := sqldb.All(ctx, c.Conn,
		func(r sqldb.Row, k *indexedRow) error { return r.Scan(&k.rank, &k.digest, &k.weights) },
		"SELECT rank, digest, weights FROM "+ix.name+"_index WHERE id = $1", id)
	if err != nil || len(list) == 0 {
		return indexedRow{}, err
	}
	return list[0], nil
}

// newSpellings returns the spellings of the entry that the row before it did not have.
func (e *entry) newSpellings() []string {
	if e.was.digest == nil || *e.was.digest == "" {
		return fulltext.Spellings(e.Doc.Weights)
	}
	if *e.was.weights == e.Doc.Weights {
		return nil
	}
	known := fulltext.Spellings(*e.was.weights)
	return slices.DeleteFunc(fulltext.Spellings(e.Doc.Weights),
		func(word string) bool { return slices.Contains(known, word) })
}

// AddOrganization makes a new organization findable.
func (c Writer) AddOrganization(ctx context.Context, o lab.Organization) error {
	return c.organization(ctx, o, indexedRow{})
}

// UpdateOrganization updates the index row of an organization.
func (c Writer) UpdateOrganization(ctx context.Context, o lab.Organization) error {
	was, err := c.kept(ctx, Organizations, o.ID)
	if err != nil {
		return err
	}
	return c.organization(ctx, o, was)
}

func (c Writer) organization(ctx context.Context, o lab.Organization, was indexedRow) error {
	rank, err := RankOf(o.ID, false)
	if err != nil {
		return err
	}
	return c.writeIndex(ctx, Organizations,
		[]entry{{SearchDocument: o.SearchDocument(), id: o.ID, rank: rank, was: was}})
}

// AddUser makes a new user findable.
func (c Writer) AddUser(ctx context.Context, u person.User) error {
	return c.user(ctx, u, indexedRow{})
}

// UpdateUser updates the index row of a user.
func (c Writer) UpdateUser(ctx context.Context, u person.User) error {
	was, err := c.kept(ctx, Users, u.ID)
	if err != nil {
		return err
	}
	return c.user(ctx, u, was)
}

func (c Writer) user(ctx context.Context, u person.User, was indexedRow) error {
	return c.writeIndex(ctx, Users,
		[]entry{{SearchDocument: u.SearchDocument(), id: u.ID, rank: userRank(u.ID), was: was}})
}

// Compact has SQLite drop some of the words of deleted rows from the index of words, where no search reads them, and
// reports whether there may be more. PostgreSQL has them in the rows themselves.
func (c Writer) Compact(ctx context.Context, first bool) (more bool, err error) {
	if c.Postgres() {
		return false, nil
	}
	pages := 500 // of what is merged at once, some ten milliseconds
	if first {
		pages = -pages // begins to merge all parts
	}
	for _, name := range []string{"user", "organization", "material", "request"} {
		before, err := sqldb.One(ctx, c.Conn, sqldb.Value[int64], "SELECT total_changes()")
		if err != nil {
			return false, err
		}
		if _, err := c.Exec(ctx, fmt.Sprintf("INSERT INTO %[1]s_words (%[1]s_words, rank) VALUES ('merge', %d)", name,
			pages)); err != nil {
			return false, err
		}
		after, err := sqldb.One(ctx, c.Conn, sqldb.Value[int64], "SELECT total_changes()")
		if err != nil {
			return false, err
		}
		more = more || after-before >= 2 // as SQLite documents
	}
	return more, nil
}

// RemoveUser makes a user unfindable.
func (c Writer) RemoveUser(ctx context.Context, id uuid.UUID) error {
	if err := c.forgetWords(ctx, Users, []int64{userRank(id)}); err != nil {
		return err
	}
	_, err := c.Exec(ctx, "DELETE FROM user_index WHERE id = $1", id)
	return err
}

// The lengths of words that a mistyped one is compared with; shorter words resemble too many others.
const shortestWord, longestWord = 4, 20

// addWords stores the words that are candidates for correcting a mistyped one.
func (c Writer) addWords(ctx context.Context, spelt []string) error {
	spelt = slices.DeleteFunc(spelt, func(word string) bool {
		n := 0
		for _, r := range word {
			if !unicode.IsLetter(r) {
				return true
			}
			n++
		}
		return n < shortestWord || n > longestWord
	})
	if len(spelt) == 0 {
		return nil
	}
	slices.Sort(spelt) // who adds the same at the same time waits, and never for each other
	list, err := sqldb.JSON(slices.Compact(spelt))
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, "INSERT INTO search_words (word) SELECT value FROM "+c.Dialect().List+
		" WHERE TRUE ORDER BY value ON CONFLICT DO NOTHING", list)
	return err
}
