package bench

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/api/shape"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store/storetest"

	"github.com/google/uuid"
)

// The texts of the statements are those of internal/store.
const (
	selectMaterials = `SELECT o.id, o.organization_id, o.category, o.reference, o.title, o.url, o.pubmed_id, o.additional_metadata,
		o.needs_mta, o.needs_irb, o.needs_abstract, o.mta_attachment_id, o.shipping_requirements_id,
		o.imported, o.import_source, o.import_identifier, o.organisms, o.publication_title, o.pre_print_doi, o.pre_print_title,
		o.citation, o.additional_info, o.embargo_date, o.contact_user_id, o.is_archived, o.created_at, o.updated_at,
		u.id, u.username, u.first_name, u.last_name, u.email, u.registry_id, u.is_admin, u.created_at, u.updated_at,
		u.verified_email, u.closed_at IS NOT NULL,
		(SELECT string_agg(CAST(g.grant_id AS TEXT), ',' ORDER BY g.grant_id) FROM grant_materials g WHERE g.material_id = o.id),
		(SELECT n.public_metadata_keys FROM organizations n WHERE n.id = o.organization_id)
		FROM materials o JOIN users u ON u.id = o.contact_user_id WHERE `
	published      = `(o.staged_in IS NULL OR o.staged_in IN (SELECT b.job_id FROM bulks b WHERE b.stored))`
	selectMaterial = selectMaterials + "o.id = $1 AND " + published
	seenMaterials  = published +
		` AND (o.embargo_date IS NULL OR o.embargo_date <= $1 OR o.organization_id IN (SELECT m.organization_id FROM memberships m
		WHERE m.user_id = $2 AND m.left_at IS NULL))`
	countMaterials = "SELECT COUNT(*) FROM materials o WHERE " + seenMaterials
	listMaterials  = selectMaterials + seenMaterials + " AND o.id < $3 ORDER BY o.id DESC LIMIT $4"
	selectActor    = `SELECT t.id, t.scope, COALESCE(t.organization_id, 0), t.used_at, u.id, u.is_admin,
		(SELECT string_agg(CAST(m.organization_id AS TEXT), ',' ORDER BY m.organization_id) FROM memberships m WHERE m.user_id = u.id AND m.left_at IS NULL),
		(SELECT string_agg(CAST(o.id AS TEXT), ',' ORDER BY o.id) FROM organizations o WHERE o.owner_id = u.id)
		FROM tokens t JOIN users u ON u.id = t.user_id WHERE t.expires_at > $2 AND u.closed_at IS NULL
		AND t.hash = $1`
	selectRequest = `SELECT o.id, o.material_id, o.requester_id, o.assigned_to, o.status, o.is_active, o.quantity, o.note,
		o.requester_abstract, o.address, o.payment_method, o.payment_method_notes, o.rejection_reason, o.override_reason, o.correction,
		o.carrier, o.tracking, o.conditions, o.sent_at, o.open_issues, o.put_back, o.party, o.step, o.waiting_since, o.reminded,
		o.escalates, o.snoozed_until, o.clock, o.created_at, o.updated_at, o.mta_attachment_id, o.mta_version,
		o.last_seq, o.last_hash, m.title, m.organization_id, m.needs_mta, m.needs_irb, m.needs_abstract,
		COALESCE(s.needs_shipping_address, FALSE), COALESCE(s.needs_payment, FALSE), g.decide_days, g.countersign_days, g.ship_days
		FROM material_requests o JOIN materials m ON m.id = o.material_id JOIN organizations g ON g.id = m.organization_id
		LEFT JOIN shipping_requirements s ON s.id = m.shipping_requirements_id WHERE o.id = $1 AND o.deleted_at IS NULL`
	selectDocuments = `SELECT id, request_id, slot, attachment_id, state, reason, added_by, added_at, reviewed_at
		FROM request_documents WHERE request_id IN ($1) ORDER BY id`
	insertEvent = `INSERT INTO request_events (request_id, seq, kind, actor_id, at, detail, prev_hash, hash, material_id, organization_id)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING id`
	updateRequest = `UPDATE material_requests SET assigned_to = $1, status = $2, is_active = $3, requester_abstract = $4, address = $5,
		payment_method = $6, payment_method_notes = $7, rejection_reason = $8, override_reason = $9, correction = $10,
		carrier = $11, tracking = $12, conditions = $13, sent_at = $14, open_issues = $15, put_back = $16, waiting_since = $17,
		updated_at = $18, reminded = $19, escalates = $20, snoozed_until = $21, clock = $22, party = $23, step = $24,
		deleted_at = $25, last_seq = $26, last_hash = $27
		WHERE id = $28`
	insertTurn = "INSERT INTO request_turns (request_id, seq, status, party, what, began_at, organization_id) " +
		"VALUES ($1, $2, $3, $4, $5, $6, $7)"
	tellRequester = `INSERT INTO notifications (event_id, category, created_at, mail, user_id) SELECT $1, $2, $3, 'NEW', m.user_id
		FROM (SELECT id AS user_id FROM users WHERE id = $6) m WHERE CAST($5 AS BIGINT) > 0 AND m.user_id <> $4 ON CONFLICT (user_id, event_id) DO NOTHING`
	tellMembers = `INSERT INTO notifications (event_id, category, created_at, mail, user_id) SELECT $1, $2, $3, 'NEW', m.user_id
		FROM (SELECT 1 AS one WHERE (SELECT COUNT(*) FROM (SELECT 1 FROM memberships o WHERE o.organization_id = $5 AND o.left_at IS NULL LIMIT 26) few) <= 25) small
		CROSS JOIN memberships m WHERE m.organization_id = $5 AND m.left_at IS NULL AND m.user_id <> $4
		AND m.request_approval_determined_notif ON CONFLICT (user_id, event_id) DO NOTHING`
	insertJob = `INSERT INTO jobs (kind, key, user_id, args, state, due_at, lease, failures, error, done, total, note, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, 0, 0, '', 0, 0, '', $7)
		ON CONFLICT (kind, key) DO UPDATE SET key = excluded.key RETURNING id`
	selectChain = "SELECT id, name, last_seq, last_hash, state, salts FROM chains WHERE name IN ($1) ORDER BY name"
	growChain   = `INSERT INTO chains (name, last_seq, last_hash, state, salts, logged_seq) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (name) DO UPDATE SET last_seq = excluded.last_seq, last_hash = excluded.last_hash, state = excluded.state,
		salts = excluded.salts RETURNING id, name`
	insertChainEvent = `INSERT INTO chain_events (chain_id, seq, kind, actor, at, detail, prev_hash, hash, texts)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
	lastOfChains = "SELECT detail, texts FROM chain_events WHERE kind = 'status_changed' ORDER BY id DESC LIMIT 1"
)

// bareHandler is net/http, database/sql and encoding/json with nothing around them: no table of
// routes, policy, rules, log, request id or limits.
type bareHandler struct {
	write *sql.DB
	rules map[request.Status]said

	material, count, materials, actor, request, documents              *sql.Stmt // to read
	lock, locked, event, update, turn, tellRequester, tellMembers, job *sql.Stmt // to write
	acting, chain, grow, chained                                       *sql.Stmt // likewise: who acts, and the record
	row                                                                *sql.Stmt // for BenchmarkWriters

	detail, texts string // of an event of the record
}

// said is what the rules state about the request in a status, taken from our answers.
type said struct {
	Correction   string
	Requirements []shape.Requirement
	WaitingOn    struct {
		Party request.Side
		What  []string
	} `json:"waiting_on"`
}

// openBare opens a pool of so many connections, as the store does.
func openBare(b *testing.B, driver, where string, most int) *sql.DB {
	db, err := sql.Open(driver, where)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db
}

// sqliteName is that of the store.
func sqliteName(where, more string) string {
	return "file:" + where +
		"?_time_format=sqlite&_timezone=UTC&_dqs=0&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_pragma=cache_size(-8000)&" + more
}

// durable opens a database to write, and makes sure that what is committed survives a power cut.
func durable(b *testing.B, kind, where string) *sql.DB {
	driver, most, settings, want := "pgx", 32, "SELECT current_setting('fsync') || "+
		"current_setting('synchronous_commit') || current_setting('full_page_writes')", "ononon"
	if kind == storetest.SQLite {
		driver, most, where = "sqlite", 1, sqliteName(where, "_txlock=immediate")
		settings, want = "SELECT journal_mode || synchronous FROM pragma_journal_mode, pragma_synchronous", "wal2"
	}
	db := openBare(b, driver, where, most)
	var got string
	if err := db.QueryRowContext(b.Context(), settings).Scan(&got); err != nil || got != want {
		b.Fatalf("not durable: %s, %v; run make bench", got, err)
	}
	return db
}

func prepare(b *testing.B, db *sql.DB, query string) *sql.Stmt {
	stmt, err := db.PrepareContext(b.Context(), query)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { stmt.Close() })
	return stmt
}

// newBare opens the database as the store does.
func newBare(b *testing.B, kind, where string, rules map[request.Status]said) http.Handler {
	h := bareHandler{rules: rules, write: durable(b, kind, where)}
	read, lock := h.write, " FOR UPDATE OF o"
	if kind == storetest.SQLite {
		lock = "" // one writer, who begins with a lock
		read = openBare(b, "sqlite", sqliteName(where, "_pragma=query_only(1)"), max(4, 2*runtime.NumCPU()))
	}
	h.material, h.actor = prepare(b, read, selectMaterial), prepare(b, read, selectActor)
	h.count, h.materials = prepare(b, read, countMaterials), prepare(b, read, listMaterials)
	h.request, h.documents = prepare(b, read, selectRequest), prepare(b, read, selectDocuments)
	h.lock, h.locked = prepare(b, h.write, selectRequest+lock), prepare(b, h.write, selectDocuments)
	h.event, h.update = prepare(b, h.write, insertEvent), prepare(b, h.write, updateRequest)
	h.turn, h.job = prepare(b, h.write, insertTurn), prepare(b, h.write, insertJob)
	h.tellRequester, h.tellMembers = prepare(b, h.write, tellRequester), prepare(b, h.write, tellMembers)
	h.chain, h.grow = prepare(b, h.write, selectChain+strings.TrimSuffix(lock, " OF o")), prepare(b, h.write, growChain)
	h.chained = prepare(b, h.write, insertChainEvent)
	acting := ""
	if lock != "" {
		acting = " FOR KEY SHARE OF t, u"
	}
	h.acting = prepare(b, h.write, selectActor+acting)
	if err := h.write.QueryRowContext(b.Context(), lastOfChains).Scan(&h.detail, &h.texts); err != nil {
		b.Fatal(err)
	}
	h.row = prepare(b, h.write, "UPDATE materials SET additional_info = $1, updated_at = $2 WHERE id = $3")
	mux := http.NewServeMux()
	mux.HandleFunc("PATCH /row/{id}", h.patchRow)
	mux.HandleFunc("GET /v1/materials/{id}", h.getMaterial)
	mux.HandleFunc("GET /v1/materials", h.listMaterials)
	mux.HandleFunc("GET /v1/material-requests/{id}", h.getRequest)
	mux.HandleFunc("PATCH /v1/material-requests/{id}", h.patchRequest)
	return mux
}

// patchRow changes one row in a transaction of its own, with its own flush.
func (h *bareHandler) patchRow(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Info string `json:"additional_info"`
	}
	err := json.NewDecoder(r.Body).Decode(&in)
	if err == nil {
		_, err = h.row.ExecContext(r.Context(), in.Info, time.Now().UTC(), r.PathValue("id"))
	}
	answer(w, in, err)
}

func answer(w http.ResponseWriter, body any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(body)
}

// bareMaterial is a material as GET shows it.
type bareMaterial struct {
	ID               int64           `json:"id"`
	Category         string          `json:"category"`
	Reference        *string         `json:"reference"`
	Title            string          `json:"title"`
	URL              string          `json:"url"`
	Organization     int64           `json:"organization"`
	PubMedID         string          `json:"pubmed_id"`
	Metadata         json.RawMessage `json:"additional_metadata"`
	ContactUser      shape.Person    `json:"contact_user"`
	NeedsMTA         bool            `json:"needs_mta"`
	NeedsIRB         bool            `json:"needs_irb"`
	NeedsAbstract    bool            `json:"needs_abstract"`
	MTAAttachment    *int64          `json:"mta_attachment"`
	Shipping         *int64          `json:"shipping_requirements"`
	Imported         bool            `json:"imported"`
	ImportSource     string          `json:"import_source"`
	Organisms        []string        `json:"organisms"`
	PublicationTitle *string         `json:"publication_title"`
	PrePrintDOI      *string         `json:"pre_print_doi"`
	PrePrintTitle    *string         `json:"pre_print_title"`
	Citation         *string         `json:"citation"`
	AdditionalInfo   *string         `json:"additional_info"`
	EmbargoDate      *exchange.Date  `json:"embargo_date"`
	Grants           []int64         `json:"grants"`
	Archived         bool            `json:"is_archived"`
	CreatedAt        shape.Time      `json:"created_at"`
	UpdatedAt        shape.Time      `json:"updated_at"`
}

func scanMaterial(row interface{ Scan(into ...any) error }) (m bareMaterial, err error) {
	var organisms, email, registryID, verified, published string
	var identifier, grants *string
	var contact uuid.UUID
	var admin, closed bool
	err = row.Scan(&m.ID, &m.Organization, &m.Category, &m.Reference, &m.Title, &m.URL, &m.PubMedID,
		(*[]byte)(&m.Metadata), &m.NeedsMTA, &m.NeedsIRB, &m.NeedsAbstract, &m.MTAAttachment, &m.Shipping,
		&m.Imported, &m.ImportSource, &identifier, &organisms, &m.PublicationTitle, &m.PrePrintDOI, &m.PrePrintTitle,
		&m.Citation, &m.AdditionalInfo, &m.EmbargoDate, &contact, &m.Archived, instant(&m.CreatedAt),
		instant(&m.UpdatedAt),
		&m.ContactUser.ID, &m.ContactUser.Username, &m.ContactUser.FirstName, &m.ContactUser.LastName, &email,
		&registryID, &admin,
		instant(&m.ContactUser.CreatedAt), instant(&m.ContactUser.UpdatedAt), &verified, &closed, &grants, &published)
	if err == nil {
		err = json.Unmarshal([]byte(organisms), &m.Organisms)
	}
	m.Grants = []int64{} // the materials here have none
	return m, err
}

// getMaterial assumes that If-None-Match has the newest version.
func (h *bareHandler) getMaterial(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	m, err := scanMaterial(h.material.QueryRowContext(r.Context(), id))
	if tag := r.Header.Get("If-None-Match"); tag != "" && err == nil {
		w.Header().Set("ETag", tag)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	answer(w, m, err)
}

func (h *bareHandler) listMaterials(w http.ResponseWriter, r *http.Request) {
	var total, limit int64
	today := time.Now().UTC().Format(time.DateOnly)
	list := []bareMaterial{}
	limit, err := strconv.ParseInt(r.URL.Query().Get("limit"), 10, 64)
	if err == nil {
		err = h.count.QueryRowContext(r.Context(), today, uuid.Nil).Scan(&total)
	}
	if err != nil {
		answer(w, nil, err)
		return
	}
	rows, err := h.materials.QueryContext(r.Context(), today, uuid.Nil, int64(math.MaxInt64), limit+1)
	if err != nil {
		answer(w, nil, err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		m, err := scanMaterial(rows)
		if err != nil {
			answer(w, nil, err)
			return
		}
		list = append(list, m)
	}
	w.Header().Set("X-Total-Count", strconv.FormatInt(total, 10))
	answer(w, list[:min(len(list), int(limit))], rows.Err())
}

func instant(t *shape.Time) *time.Time { return (*time.Time)(t) }

// known returns the user whom the token belongs to; by is h.actor, or h.acting in the transaction of a change.
func (h *bareHandler) known(r *http.Request, by statement) (user uuid.UUID, err error) {
	var token, lab int64
	var scope string
	var used *time.Time
	var admin bool
	var memberOf, owns *string
	sum := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Token ")))
	err = by.QueryRowContext(r.Context(), hex.EncodeToString(sum[:]), time.Now().UTC()).Scan(&token, &scope,
		&lab, &used, &user, &admin, &memberOf, &owns)
	return user, err
}

// row is a request with its columns that are not shown.
type row struct {
	shape.Request
	address, carrier, tracking, conditions *string
	sent                                   *time.Time
	putBack                                bool
	party                                  request.Side
	step                                   string
	since                                  time.Time
	reminded                               int
	escalates                              bool
	snoozed                                *time.Time
	clock                                  request.Clock
	seq, organization                      int64
	hash                                   string
}

// statement is a prepared statement, in a transaction or not.
type statement interface {
	ExecContext(ctx context.Context, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, args ...any) *sql.Row
}

// within returns statements in a transaction.
func within(ctx context.Context, tx *sql.Tx) func(*sql.Stmt) statement {
	return func(stmt *sql.Stmt) statement { return tx.StmtContext(ctx, stmt) }
}

func (h *bareHandler) read(ctx context.Context, id string, request, documents statement) (q row, err error) {
	var title string
	var mta, irb, abstract, address, payment bool
	var decide, countersign, ship int
	var agreement, version *int64
	var clock string
	n, _ := strconv.ParseInt(id, 10, 64)
	if err := request.QueryRowContext(ctx, n).Scan(&q.ID, &q.Material, &q.Requester, &q.AssignedTo, &q.Status,
		&q.Active, &q.Quantity, &q.Note,
		&q.Abstract, &q.address, &q.Payment, &q.PaymentNotes, &q.Rejection, &q.Override, &q.Correction,
		&q.carrier, &q.tracking, &q.conditions, &q.sent, &q.OpenIssues, &q.putBack, &q.party, &q.step, &q.since,
		&q.reminded, &q.escalates, &q.snoozed, &clock, instant(&q.CreatedAt), instant(&q.UpdatedAt),
		&agreement, &version, &q.seq, &q.hash, &title, &q.organization, &mta, &irb, &abstract, &address, &payment,
		&decide, &countersign,
		&ship); err != nil {
		return q, err
	}
	if err := json.Unmarshal([]byte(clock), &q.clock); err != nil {
		return q, err
	}
	rows, err := documents.QueryContext(ctx, n)
	if err != nil {
		return q, err
	}
	defer rows.Close()
	for rows.Next() {
		var d shape.Document
		var id, request int64
		if err := rows.Scan(&id, &request, &d.Name, &d.Attachment, &d.State, &d.Reason, &d.AddedBy, instant(&d.AddedAt),
			&d.ReviewedAt); err != nil {
			return q, err
		}
		switch d.Name {
		case document.SignedMTA:
			q.SignedMTA = &d.Attachment
		case document.IRB:
			q.IRB = &d.Attachment
		}
		q.Documents = append(q.Documents, d)
	}
	h.show(&q)
	return q, rows.Err()
}

// show adds what the rules say.
func (h *bareHandler) show(q *row) {
	s := h.rules[q.Status]
	q.Correction, q.Requirements = s.Correction, s.Requirements
	q.WaitingOn = &shape.Turn{Party: s.WaitingOn.Party, What: s.WaitingOn.What, Since: shape.Time(q.since)}
	q.Clock = shape.Clock{Requester: q.clock.Sides[request.RequesterSide], Lab: q.clock.Sides[request.LabSide],
		Stages: q.clock.Stages, Until: shape.Time(q.clock.Since)}
	if q.Clock.Stages == nil {
		q.Clock.Stages = map[request.Status]int64{}
	}
}

func (h *bareHandler) getRequest(w http.ResponseWriter, r *http.Request) {
	if _, err := h.known(r, h.actor); err != nil {
		answer(w, nil, err)
		return
	}
	q, err := h.read(r.Context(), r.PathValue("id"), h.request, h.documents)
	answer(w, q.Request, err)
}

func (h *bareHandler) patchRequest(w http.ResponseWriter, r *http.Request) {
	var in struct{ Status request.Status }
	user, err := h.known(r, h.actor)
	if err == nil {
		err = json.NewDecoder(r.Body).Decode(&in)
	}
	if err != nil {
		answer(w, nil, err)
		return
	}
	q, err := h.set(r, user, in.Status)
	answer(w, q.Request, err)
}

// turned is q when its turn ends, and its clock then as it is stored.
func (q row) turned(now time.Time) (row, string, error) {
	seconds := now.Unix() - q.clock.Since.Unix()
	c := request.Clock{Turn: q.clock.Turn + 1, Since: now, Sides: map[request.Side]int64{q.WaitingOn.Party: seconds},
		Stages: map[request.Status]int64{q.Status: seconds}}
	for side, n := range q.clock.Sides {
		c.Sides[side] += n
	}
	for status, n := range q.clock.Stages {
		c.Stages[status] += n
	}
	q.clock = c
	kept, err := json.Marshal(c)
	return q, string(kept), err
}

// set gives a request another status in one transaction.
func (h *bareHandler) set(r *http.Request, user uuid.UUID, status request.Status) (row, error) {
	ctx := r.Context()
	tx, err := h.write.BeginTx(ctx, nil)
	if err != nil {
		return row{}, err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	in := within(ctx, tx)
	if _, err := h.known(r, in(h.acting)); err != nil {
		return row{}, err
	}
	q, err := h.read(ctx, r.PathValue("id"), in(h.lock), in(h.locked))
	if err != nil {
		return q, err
	}
	now := time.Now().UTC().Truncate(time.Microsecond)
	detail := `{"from":"` + string(q.Status) + `","to":"` + string(status) + `"}`
	sum := sha256.Sum256([]byte(q.hash + detail))
	hash := hex.EncodeToString(sum[:])
	q.seq++
	var event int64
	if err := in(h.event).QueryRowContext(ctx, q.ID, q.seq, "status_changed", user, now, detail, q.hash, hash,
		q.Material, q.organization).Scan(&event); err != nil {
		return q, err
	}
	var passed string
	q, passed, err = q.turned(now)
	if err != nil {
		return q, err
	}
	q.Status, q.since, q.UpdatedAt = status, now, shape.Time(now)
	h.show(&q)
	q.party, q.step = q.WaitingOn.Party, q.WaitingOn.What[0]
	if _, err := in(h.update).ExecContext(ctx, q.AssignedTo, string(q.Status), q.Active, q.Abstract, q.address,
		q.Payment, q.PaymentNotes,
		q.Rejection, q.Override, q.Correction, q.carrier, q.tracking, q.conditions, q.sent, q.OpenIssues, q.putBack,
		q.since, now,
		0, q.party == request.LabSide, nil, passed, string(q.party), q.step, nil, q.seq, hash, q.ID); err != nil {
		return q, err
	}
	what, err := json.Marshal(q.WaitingOn.What)
	if err != nil {
		return q, err
	}
	if _, err := in(h.turn).ExecContext(ctx, q.ID, q.clock.Turn, string(q.Status), string(q.party), string(what), now,
		q.organization); err != nil {
		return q, err
	}
	category := "change_in_request_status_notif"
	if status == request.Approved {
		category = "request_approval_determined_notif"
		if _, err := in(h.tellMembers).ExecContext(ctx, event, category, now, user, q.organization); err != nil {
			return q, err
		}
	}
	if _, err := in(h.tellRequester).ExecContext(ctx, event, category, now, user, q.organization,
		q.Requester); err != nil {
		return q, err
	}
	var job int64
	args := `{"events":[` + strconv.FormatInt(event, 10) + `]}`
	// nobody does it
	if err := in(h.job).QueryRowContext(ctx, "bare", nil, nil, args, "READY", now, now).Scan(&job); err != nil {
		return q, err
	}
	if err := h.record(ctx, in, "request/"+strconv.FormatInt(q.ID, 10), user, now); err != nil {
		return q, err
	}
	return q, tx.Commit()
}

// record appends an event to a chain of the record, as long as one of ours.
func (h *bareHandler) record(ctx context.Context, in func(*sql.Stmt) statement, chain string, user uuid.UUID,
	now time.Time) error {
	var id, seq int64
	var name, prev, state, salts string
	if err := in(h.chain).QueryRowContext(ctx, chain).Scan(&id, &name, &seq, &prev, &state, &salts); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(prev + h.detail))
	hash := hex.EncodeToString(sum[:])
	if err := in(h.grow).QueryRowContext(ctx, chain, seq+1, hash, state, salts, 0).Scan(&id, &name); err != nil {
		return err
	}
	_, err := in(h.chained).ExecContext(ctx, id, seq+1, "status_changed", user.String(), now, h.detail, prev, hash,
		h.texts)
	return err
}
