package e2e

import (
	"encoding/base64"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aliquot/internal/mail/mailtest"
)

const mailKills = 20

// TestKill_EveryEventIsNotifiedAndNoMailSentTwice kills the worker while it sends mail and
// other processes make events. In the end everybody was notified of every act of the other side, and the mail
// about each was sent once, or is in doubt.
func TestKill_EveryEventIsNotifiedAndNoMailSentTwice(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		server := mailtest.Start(t)
		server.AnswerMessage(func(mailtest.Letter) error { // mail on its way is likely to be cut off
			time.Sleep(time.Duration(mathrand.IntN(int(4 * time.Millisecond))))
			return nil
		})
		web := in.serve(t, "--role", "web", "--rate-limit", "off", "--mail", server.URL)
		l := web.lab(t)
		josiah, err := signIn(web.base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		for _, who := range []client{josiah, l.manager} {
			if _, err := did(who.call("PATCH", "/users/"+who.id,
				fmt.Sprintf(`{"email": "%s@example.org"}`, who.id))); err != nil {
				t.Fatal(err)
			}
		}
		asked, err := did(josiah.call("POST", "/material-requests/", `{"material": `+l.material+`}`))
		request, err := id(asked, err)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := in.database()
		if err != nil {
			t.Fatal(err)
		}
		defer counts.Close()
		var over atomic.Bool
		written := make(chan error, 2)
		for _, who := range []client{josiah, l.manager} {
			go func() {
				for !over.Load() {
					// As if an hour had passed, after which one person's mail to another is sent one by one again.
					// Where it meets a count in a deadlock, the next one does it.
					_, _ = counts.ExecContext(t.Context(), "DELETE FROM mail_counts")
					if _, err := did(who.call("POST", "/material-requests/"+request+"/messages",
						`{"text": "on and on"}`)); err != nil {
						written <- err
						return
					}
					time.Sleep(time.Duration(mathrand.IntN(int(10 * time.Millisecond))))
				}
				written <- nil
			}()
		}
		for range mailKills {
			worker := in.serve(t, "--role", "worker", "--job-lease", "1s", "--mail", server.URL)
			before := len(server.Messages())
			if err := poll(func() error {
				if n := len(server.Messages()) - before; n < 5 {
					return fmt.Errorf("%d messages came from a worker", n)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(mathrand.IntN(int(20 * time.Millisecond))))
			worker.kill()
			<-worker.ended
		}
		over.Store(true)
		for range 2 {
			if err := <-written; err != nil {
				t.Fatal(err)
			}
		}
		in.serve(t, "--role", "worker", "--job-lease", "1s", "--mail", server.URL)
		states := mailStates(t, in)
		heardOnce(t, josiah, l.manager)
		sent := map[string]int{}
		for _, letter := range server.Messages() {
			sent[notificationOf(t, letter)]++
		}
		doubts, held := 0, 0
		for notification, state := range states {
			switch n := sent[notification]; {
			case state == "SENT" && n != 1, n > 1:
				t.Errorf("notification %s is %s, its mail was sent %d times", notification, state, n)
			case state == "IN_DOUBT":
				doubts++
			case state == "HELD" && n == 0: // it waits to be sent together with more
				held++
			case state != "SENT":
				t.Errorf("notification %s is %s", notification, state)
			}
		}
		if most := mailKills * 8; doubts > most { // each kill cuts off as many as are sent at once
			t.Errorf("%d of %d are in doubt, want at most %d", doubts, len(states), most)
		}
		if alone := len(states) - held - doubts; alone < mailKills*5 {
			t.Errorf("%d of %d were sent by themselves, want %d at least", alone, len(states), mailKills*5)
		}
		t.Logf("%d messages, %d in doubt, %d held", len(states), doubts, held)
	})
}

// mailStates waits until no job is under way, and returns the state of the mail about each notification
// of those who have an address.
func mailStates(t *testing.T, in installation) map[string]string {
	t.Helper()
	db, err := in.database()
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := poll(func() error {
		var n int
		err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM jobs WHERE due_at IS NOT NULL AND kind IN "+
			"('tell', 'mail.notification')").Scan(&n)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d jobs are under way", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(), "SELECT CAST(n.id AS TEXT), n.mail FROM notifications n JOIN users u "+
		"ON u.id = n.user_id WHERE u.email <> ''")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	states := map[string]string{}
	for rows.Next() {
		var id, state string
		if err := rows.Scan(&id, &state); err != nil {
			t.Fatal(err)
		}
		states[id] = state
	}
	if err := rows.Err(); err != nil || len(states) == 0 {
		t.Fatalf("%d notifications: %v", len(states), err)
	}
	return states
}

// notificationOf is the notification that a message is about, as its id says.
func notificationOf(t *testing.T, l mailtest.Letter) string {
	t.Helper()
	token, _, _ := strings.Cut(strings.Trim(l.Header.Get("Message-Id"), "<>"), ".")
	text, err := base64.RawURLEncoding.DecodeString(token)
	fields := strings.Fields(string(text)) // user, notification, when
	if err != nil || len(fields) != 3 {
		t.Fatalf("the id of a message says %q: %v", text, err)
	}
	return fields[1]
}

// TestUnsubscribe_OneClickStopsMail does what RFC 8058 has mail programs do, and what a person does who
// clicks by mistake.
func TestUnsubscribe_OneClickStopsMail(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, in installation) {
		server := mailtest.Start(t)
		p := in.serve(t, "--mail", server.URL)
		l := p.lab(t)
		josiah, err := signIn(p.base, josiah)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := did(l.manager.call("PATCH", "/users/"+l.manager.id,
			`{"email": "mario@example.org"}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := did(josiah.call("POST", "/material-requests/", `{"material": `+l.material+`}`)); err != nil {
			t.Fatal(err)
		}
		link := strings.Trim(server.WaitFor(t, 1)[0].Header.Get("List-Unsubscribe"), "<>")
		for _, step := range []struct {
			method, address string
			form            url.Values
			status          int
			says            string
		}{
			{"GET", link, nil, 200, "Stop this e-mail"},
			{"POST", link, url.Values{"List-Unsubscribe": {"One-Click"}}, 200, "It is stopped"},
			{"GET", link, nil, 200, "Send it again"},
			{"POST", p.base + "/unsubscribe",
				url.Values{"token": {strings.SplitN(link, "token=", 2)[1]}, "mail": {"on"}}, 200, "You get it again"},
			{"GET", link, nil, 200, "Stop this e-mail"},
			{"GET", link + "x", nil, 404, "This link is incomplete"},
			{"POST", p.base + "/unsubscribe", nil, 404, "This link is incomplete"},
			{"PUT", link, nil, 405, ""},
		} {
			r, err := http.NewRequestWithContext(t.Context(), step.method, step.address,
				strings.NewReader(step.form.Encode()))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			status, page := fetch(t, r)
			if status != step.status || !strings.Contains(page, step.says) {
				t.Errorf("%s %s: %d\n%s\nwant %d with %q", step.method, step.address, status, page, step.status,
					step.says)
			}
		}
	})
}

func fetch(t *testing.T, r *http.Request) (status int, body string) {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(raw)
}
