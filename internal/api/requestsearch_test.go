package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// search returns the ids of the requests that someone finds, newest first, and checks their number.
func (p *testPerson) search(text, more string) (ids []int64) {
	p.w.t.Helper()
	a := p.want(200, "GET", "/material-requests?search="+url.QueryEscape(text)+more, nil)
	ids = []int64{}
	for _, item := range a.List {
		ids = append(ids, int64(item.(map[string]any)["id"].(float64)))
	}
	if total := a.Header.Get("X-Total-Count"); more == "" && total != fmt.Sprint(len(ids)) {
		p.w.t.Errorf("search %q: %d requests, X-Total-Count %s", text, len(ids), total)
	}
	return ids
}

// TestRequestSearch_FindsEveryTextOfARequestOnlyForItsParties or about it, in words of any of its fields, and nobody
// finds one that they could not list.
func TestRequestSearch_FindsEveryTextOfARequestOnlyForItsParties(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorld(t, db, exchange.AccessMembers)
		l, requester, stranger, admin := w.lab(), w.person("requester"), w.person("stranger"), w.admin()
		requester.want(200, "PATCH", fmt.Sprintf("/users/%s", requester.ID),
			obj{"first_name": "Josiah", "last_name": "Cárberry"})
		old := requester.want(201, "POST", "/material-requests",
			obj{"material": l.material, "note": "For the old incubator"}).id()
		id := requester.want(201, "POST", "/material-requests",
			obj{"material": l.material, "quantity": "2 cryovials", "note": "For the kidney project",
				"requester_abstract": "Polarity of intestinal cells",
				"requester_signed_mta_attachment": requester.upload("MTA_Brown-University_signed.pdf", pdf,
					nil).id()}).id()
		path := fmt.Sprintf("/material-requests/%d", id)
		l.member.want(201, "POST", path+"/messages", obj{"text": "We ship on dry ice next Monday; α-SMA is stained."})
		l.member.want(200, "PATCH", path+"/shipment",
			obj{"carrier": "DHL", "tracking": "JD-0146 000.03", "conditions": "Keep upright"})
		requester.want(201, "POST", path+"/issues", obj{"text": "The vials thawed"})
		for text, want := range map[string][]int64{
			"":                            {id, old},
			"  ?!  ":                      {id, old},
			"ht29":                        {id, old}, // the title is HT-29
			"HT 29 carberry":              {id, old},
			"josiah dry ice":              {id}, // a name, and a message
			"kidneys projects":            {id},
			"Brown university mta":        {id},
			"cryovial polarities":         {id},
			`"next monday"`:               {id},
			`"monday next"`:               {},
			"carberry -kidney":            {old},
			"-kidney":                     {old},
			`-"dry ice" -incubator`:       {},
			"alpha-sma":                   {id},
			"thawed":                      {id},
			"upright jd014600003":         {id},
			"jd-0146 DHL":                 {id},
			"zebra":                       {},
			"incubator kidney":            {},
			"OR":                          {},
			"Monday OR":                   {id},
			strings.Repeat("monday ", 50): {id},
		} {
			for _, p := range []*testPerson{requester, l.member, l.owner, admin} {
				if got := p.search(text, ""); !slices.Equal(got, want) {
					t.Errorf("%s looks for %.40q: %v, want %v", p.name, text, got, want)
				}
			}
			for _, p := range []*testPerson{stranger, l.former} {
				if got := p.search(text, ""); len(got) > 0 {
					t.Errorf("%s looks for %.40q and sees %v", p.name, text, got)
				}
			}
		}
		if got := requester.search("carberry", "&limit=1&ordering=created_at"); !slices.Equal(got, []int64{old}) {
			t.Errorf("the oldest first: %v", got)
		}
		if got := l.member.search("carberry", "&is_active=false"); len(got) > 0 {
			t.Errorf("closed ones: %v", got)
		}
		first := requester.want(200, "GET", "/material-requests?search=carberry&limit=1", nil)
		next, _, _ := strings.Cut(strings.TrimPrefix(first.Header.Get("Link"), "<"), ">")
		second := requester.want(200, "GET", strings.TrimPrefix(next, "/v1"), nil)
		if len(first.List) != 1 || len(second.List) != 1 || second.Header.Get("Link") != "" ||
			second.Header.Get("X-Total-Count") != "2" {
			t.Errorf("the second page: %s", second.Raw)
		}
		requester.refused(400, "INVALID_INPUT", "GET",
			strings.Replace(strings.TrimPrefix(next, "/v1"), "carberry", "josiah", 1), nil)
		admin.want(204, "DELETE", path, nil)
		if got := requester.search("carberry", ""); !slices.Equal(got, []int64{old}) {
			t.Errorf("after one was deleted: %v", got)
		}
	})
}

// TestRequestSearch_TakesAnyText: operators, both databases' syntax, other alphabets, bytes that are no text.
func TestRequestSearch_TakesAnyText(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for _, p := range []*testPerson{s.requester(), s.member, s.people["admin"]} {
			before := db.Queries()
			p.want(200, "GET", "/material-requests?limit=1", nil)
			most := db.Queries() - before
			for _, text := range []string{`"`, `""`, `"""`, `-`, `--`, `-"`, `*`, `a*`, `a:b`, `^a`, `(`, `NEAR(a b)`,
				`a AND`, `NOT`, `{words} : a`, `' OR 1=1 --`, `\`, `\'`, `a & b | !c <-> d:*`,
				"=all", "-=all", "=", "~a", "^ab", "#a", "@a", "\x00", "a\x00b", "\xff\xfe", "🧬 🐭", "שלום", "\u202eabc",
				"細胞", "á̈", strings.Repeat("x", 1000), strings.Repeat("a ", 64),
				strings.Repeat("-a ", 64), strings.Repeat(`"a b" `, 32), strings.Repeat("a-1 ", 64),
				strings.Repeat("a-", 500)} {
				before := db.Queries()
				p.search(text, "&limit=1")
				if n := db.Queries() - before; n > most {
					t.Errorf("%.40q: %d statements", text, n)
				}
			}
		}
	})
}

// TestRequestSearch_IndexRollsBackWithTheTransaction: its rows in the index are of the same transaction.
func TestRequestSearch_IndexRollsBackWithTheTransaction(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		rows := func() (n int) {
			if err := s.sql.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM request_words").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		before, refused := rows(), errors.New("no")
		err := db.Tx(t.Context(), func(ctx context.Context, tx store.Conn) error {
			q, err := tx.Requests.ForUpdate(ctx, s.request)
			if err != nil {
				return err
			}
			event := request.Event{RequestID: q.ID, Seq: 99, Kind: request.Messaged,
				Detail: request.EventDetail{Text: "okapi"}}
			return errors.Join(tx.Requests.IndexEvents(ctx, q, []request.Event{event, {Kind: request.Deleted}}),
				tx.Requests.Index(ctx, []int64{s.request}, true), refused)
		})
		if !errors.Is(err, refused) || rows() != before || before == 0 || len(s.requester().search("okapi", "")) > 0 {
			t.Errorf("%d rows, want %d: %v", rows(), before, err)
		}
	})
}
