package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// Whoever adds a table or a column decides whether its changes are recorded.
func TestRecord_KnowsEachTableAndColumn(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.SQLite)
	names := tables(t, db)
	if unknown := store.UnknownToRecord(names); len(unknown) > 0 {
		t.Errorf("neither recorded nor said why not: %q", unknown)
	}
	for table, known := range store.RecordedColumns() {
		columns, err := store.Values[string](t.Context(), db.Read(), "SELECT name FROM pragma_table_info($1)", table)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(columns)
		if slices.Sort(known); !slices.Equal(columns, known) {
			t.Errorf("%s has the columns\n%q, the record knows\n%q", table, columns, known)
		}
	}
}

func TestRecord_KnowsNewFieldsByTheirTable(t *testing.T) {
	t.Parallel()
	type thing struct {
		ID, Note, Left string
		Cold           bool
	}
	flags, texts := store.RecordedWith([]field.Descriptor[thing]{
		{Name: "id", At: func(o *thing) any { return &o.ID }}, {Name: "left", At: func(o *thing) any { return &o.Left }},
		{Name: "text", Column: "note", At: func(o *thing) any { return &o.Note }},
		{Name: "cold", At: func(o *thing) any { return &o.Cold }}, {Name: "computed"}})
	if !slices.Equal(flags, []string{"cold"}) || !slices.Equal(texts, []string{"note"}) {
		t.Errorf("%q, %q", flags, texts)
	}
}

// recorded makes a lab with a request, of which something happened and people were notified.
func (l testLab) recorded() (requestID int64) {
	l.t.Helper()
	olivia, josiah := l.user(), l.user()
	lab := l.organization(olivia.ID, olivia.ID)
	m := l.material(lab, olivia.ID, nil)
	requestID = l.request(m, josiah.ID, olivia.ID, func(r *request.Request) {
		r.Abstract, r.Quantity, r.Note = "We study Dr. Miller's cells.", "2 vials", "Soon, please"
	})
	content := document.Content{Key: "key", Size: 3, SHA256: strings.Repeat("ab", 32), MediaType: "application/pdf"}
	pdf := l.attachment(josiah.ID, func(a *document.Attachment) { a.Content = &content })
	l.attachment(josiah.ID, nil)
	e := l.event(requestID, josiah.ID, request.Made)
	l.write(func(ctx context, tx store.Conn) error {
		if _, err := tx.Tokens.Insert(ctx, person.Token{UserID: olivia.ID, Name: "script",
			ExpiresAt: tx.Now.Add(time.Hour)}, "hash"); err != nil {
			return err
		}
		permit, err := tx.Permits.Insert(ctx, requirement.Permit{Regime: "IRB", Number: "7", Authority: "A",
			Person: josiah.ID})
		if err != nil {
			return err
		}
		if _, err := tx.Permits.Use(ctx, requestID, permit, josiah.ID); err != nil {
			return err
		}
		return errors.Join(
			tx.Requests.SaveDocuments(ctx, requestID, nil, []document.Document{{Slot: document.SignedMTA, AttachmentID: pdf,
				State: document.Delivered, AddedBy: josiah.ID, AddedAt: tx.Now}}),
			tx.Notifications.Notify(ctx, notify.Audience{Category: mailing.NewRequestNotif, To: notify.ToOwner}, e, lab,
				olivia.ID),
			tx.Audit.Insert(ctx, &olivia.ID, "organization_update", fmt.Sprint("organization ", lab), true, "why"),
			tx.Audit.InsertVersion(ctx, &olivia.ID, "material_update", fmt.Sprint("material ", m), false, "HeLa"))
	})
	l.event(requestID, olivia.ID, request.Messaged)
	return requestID
}

// Each of these is done to rows of recorded.
var rowTamperings = map[string]struct{ statement, want string }{
	"a status":    {"UPDATE material_requests SET status = 'VERIFIED'", "events led to: status"},
	"a requester": {"UPDATE material_requests SET requester_id = assigned_to", "events led to: requester_id"},
	"an address":  {"UPDATE material_requests SET address = '{}'", "events led to: address"},
	"an abstract": {"UPDATE material_requests SET requester_abstract = 'We sell'",
		"events led to: requester_abstract"},
	"an abstract deleted": {"UPDATE material_requests SET requester_abstract = ''",
		"events led to: requester_abstract"},
	"a quantity":             {"UPDATE material_requests SET quantity = '3'", "events led to: quantity"},
	"a note":                 {"UPDATE material_requests SET note = 'Later'", "events led to: note"},
	"the material":           {"UPDATE material_requests SET organization_id = 0", "events led to: organization_id"},
	"the head of old events": {"UPDATE material_requests SET last_seq = 1", "events led to: last_seq"},
	"a document re-pointed":  {"UPDATE request_documents SET attachment_id = attachment_id + 1", ".attachment_id"},
	"a document removed":     {"DELETE FROM request_documents", ".slot"},
	"a document accepted":    {"UPDATE request_documents SET state = 'ACCEPTED'", ".state"},
	"a permit moved":         {"UPDATE permits SET until_day = '2999-01-01'", "events led to: until_day"},
	"a permit released":      {"DELETE FROM request_permits", "permit."},
	"a document added": {"INSERT INTO request_documents (request_id, slot, attachment_id, state, reason, " +
		"added_by, added_at) SELECT request_id, 'MTA', attachment_id, state, '', added_by, added_at " +
		"FROM request_documents", ".slot"},
	"a content with its checksum": {"UPDATE attachments SET sha256 = 'cd', content_key = 'x' || content_key",
		"events led to: content_key, sha256"},
	"an audit event":            {"UPDATE audit_events SET action = 'x'", "was altered: action"},
	"an audit event made small": {"UPDATE audit_events SET as_admin = FALSE", "was altered: as_admin"},
	"the audit log wiped":       {"DELETE FROM audit_events", "is missing"},
	"an audit event added": {"INSERT INTO audit_events (actor_id, action, object, as_admin, at, state) " +
		"SELECT NULL, action, object, as_admin, at, state FROM audit_events WHERE version IS NULL", "is in no chain"},
	"a request deleted":      {"DELETE FROM material_requests", "events led to: "},
	"a material's history":   {`UPDATE audit_events SET state = '"x"' WHERE version = 1`, "was altered: state"},
	"a version's number":     {"UPDATE audit_events SET version = 7 WHERE version = 1", "was altered: version"},
	"an administrator":       {"UPDATE users SET is_admin = TRUE", "events led to: is_admin"},
	"a registry id":          {"UPDATE users SET registry_id = 'x' || registry_id", "events led to: registry_id"},
	"a material's title":     {"UPDATE materials SET title = 'x'", "events led to: title"},
	"a material moved":       {"UPDATE materials SET organization_id = 0", "events led to: organization_id"},
	"a material's agreement": {"UPDATE materials SET needs_mta = NOT needs_mta", "events led to: needs_mta"},
	"a membership":           {"UPDATE memberships SET left_at = created_at", "events led to: left_at"},
	"a membership deleted":   {"DELETE FROM memberships", "membership/"},
	"a lab's owner":          {"UPDATE organizations SET name = 'x'", "events led to: name"},
	"a token's user":         {"UPDATE tokens SET scope = 'write'", "events led to: scope"},
	"a token's expiry":       {"UPDATE tokens SET expires_at = created_at", "events led to: expires_at"},
	"a token added": {"INSERT INTO tokens (user_id, kind, name, hash, created_at, expires_at, used_at, scope) " +
		"SELECT user_id, kind, name, 'x', created_at, expires_at, used_at, scope FROM tokens", "that no event led to"},
	"notifications deleted": {"DELETE FROM notifications", "the notification of"},
}

func TestRecord_EveryTamperingWithARowIsNoticedAndNamed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		l.recorded()
		undo := errors.New("undone")
		for name, tc := range rowTamperings {
			if err := l.db.Tx(l.ctx, func(ctx context, tx store.Conn) error {
				if !l.db.Postgres() {
					if _, err := tx.Exec(ctx, "PRAGMA defer_foreign_keys = ON"); err != nil {
						return err
					}
				} else if _, err := tx.Exec(ctx, "SET LOCAL session_replication_role = replica"); err != nil {
					return err
				}
				if n, err := tx.Exec(ctx, tc.statement); err != nil || n == 0 {
					t.Errorf("%s: %d rows, %v", name, n, err)
					return undo
				}
				if got := faults(t, tx); !strings.Contains(strings.Join(got, "\n"), tc.want) {
					t.Errorf("%s: faults %q, want %s", name, got, tc.want)
				}
				return undo
			}); !errors.Is(err, undo) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got := faults(t, l.db.Read()); len(got) > 0 {
			t.Errorf("all undone: faults %q", got)
		}
	})
}

func TestRecord_OfADatabaseThatIsOlderBeginsWithItsRows(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		id := l.recorded()
		for _, statement := range []string{"DELETE FROM chain_events", "DELETE FROM chains WHERE name <> 'instance'",
			"UPDATE chains SET last_seq = 0, last_hash = '', state = '', salts = '{}'",
			"UPDATE carry_over SET done = FALSE, audit_after = 0, audit_until = (SELECT MAX(id) FROM audit_events)"} {
			l.exec(statement)
		}
		if got := faults(t, l.db.Read()); len(got) == 0 {
			t.Error("rows without events hold")
		}
		for range 2 { // the second time there is nothing to do
			migrate(t, l.db, false)
			if got := faults(t, l.db.Read()); len(got) > 0 {
				t.Fatalf("faults %q", got)
			}
		}
		chain := fmt.Sprint("request/", id)
		list, err := l.db.Read().Chains.Events(l.ctx, chain, 0, 9)
		heads, headsErr := l.db.Read().Events.Heads(l.ctx, id-1, 1)
		if errors.Join(err, headsErr) != nil || len(list) != 1 || list[0].Kind != record.CarriedOver ||
			list[0].OldHead() != record.Head(heads[0].Head) {
			t.Errorf("got %+v, %v, %v", list, err, headsErr)
		}
		l.event(id, l.user().ID, request.Messaged)
		if got := faults(t, l.db.Read()); len(got) > 0 {
			t.Errorf("it continues with faults %q", got)
		}
	})
}

func TestRecord_CarriesOverOnceWhateverItsTableSays(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		id := l.recorded()
		for _, statement := range []string{
			fmt.Sprintf("DELETE FROM chain_events WHERE chain_id = (SELECT id FROM chains WHERE name = 'request/%d')", id),
			fmt.Sprintf("DELETE FROM chains WHERE name = 'request/%d'", id),
			"UPDATE carry_over SET done = FALSE, audit_after = 0"} {
			l.exec(statement)
		}
		migrate(t, l.db, false)
		want := fmt.Sprintf("request/%d: there is a row in material_requests that no event led to", id)
		if got := faults(t, l.db.Read()); !slices.Contains(got, want) {
			t.Errorf("got faults %q, want %s", got, want)
		}
	})
}

func TestRecord_OfATransactionThatChangesNothingIsNoEvent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		id := l.recorded()
		before := l.rows("chain_events")
		l.exec("UPDATE material_requests SET status = status WHERE id = $1", id)
		l.exec("UPDATE material_requests SET clock = clock || ' ' WHERE id = $1", id)
		if after := l.rows("chain_events"); after != before {
			t.Errorf("%d events more", after-before)
		}
	})
}

func TestRecord_NamesWhoActedAndTheDocumentsOfARequest(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		id := l.recorded()
		list, err := l.db.Read().Chains.Events(l.ctx, fmt.Sprint("request/", id), 0, 9)
		if err != nil || len(list) != 4 {
			t.Fatalf("%d events, %v", len(list), err)
		}
		var all string
		for _, e := range list {
			all += e.Kind + " " + e.Actor + "\n" + e.Detail
			for _, personal := range []string{"Miller", "2 vials", "Soon"} {
				if strings.Contains(e.Detail, personal) {
					t.Errorf("event %d has %q in clear", e.Seq, personal)
				}
			}
		}
		for _, want := range []string{string(request.Made), "sha256", strings.Repeat("ab", 32), ".slot", ".size",
			"notified", "state"} {
			if !strings.Contains(all, want) {
				t.Errorf("no %s in\n%s", want, all)
			}
		}
	})
}
