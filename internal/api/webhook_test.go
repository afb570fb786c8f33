package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
	"aliquot/internal/webhook"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// receiver is a real server that takes messages as the official library of Standard Webhooks verifies
// them; one that it does not verify fails the test.
type receiver struct {
	t   testing.TB
	url string

	mu      sync.Mutex
	secrets []string // each must have signed
	got     []received
	answer  func(w http.ResponseWriter, n int) // to the n-th message; nil: 204
}

// received is one message.
type received struct {
	id, at, body string
	message      struct {
		Type      notify.EventType
		Timestamp time.Time
		Data      map[string]any
	}
}

func newReceiver(t testing.TB) *receiver {
	t.Helper()
	r := &receiver{t: t}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.url = s.URL + "/hook"
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, err := io.ReadAll(q.Body)
	m := received{id: q.Header.Get("Webhook-Id"), at: q.Header.Get("Webhook-Timestamp"), body: string(body)}
	for _, secret := range r.secrets {
		official, failed := standardwebhooks.NewWebhook(secret)
		if failed == nil {
			failed = official.Verify(body, q.Header)
		}
		if err == nil {
			err = failed
		}
	}
	if err == nil {
		err = json.Unmarshal(body, &m.message)
	}
	if err != nil || len(r.secrets) == 0 || len(strings.Fields(q.Header.Get("Webhook-Signature"))) != len(r.secrets) ||
		q.Method != http.MethodPost ||
		strings.Contains(m.id, ".") || len(body) > 20<<10 {
		r.t.Errorf("%s %v %s: %v", q.Method, q.Header, body, err)
	}
	r.got = append(r.got, m)
	if r.answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	r.answer(w, len(r.got))
}

// secret has the receiver want exactly these signatures.
func (r *receiver) secret(secrets ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = secrets
}

// answers has the receiver answer with a status from now on.
func (r *receiver) answers(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = func(w http.ResponseWriter, _ int) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, "because")
	}
}

func (r *receiver) messages() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// wait waits until n messages came.
func (r *receiver) wait(n int) []received {
	r.t.Helper()
	jobtest.Poll(r.t, fmt.Sprint(n, " messages"), func() bool { return len(r.messages()) >= n })
	return r.messages()
}

// hook creates a webhook of the lab at a receiver, and returns its path.
func (s *scene) hook(r *receiver, events any) string {
	s.t.Helper()
	made := s.owner.want(201, "POST", fmt.Sprintf("/organizations/%d/webhooks", s.id),
		obj{"url": r.url, "events": events})
	r.secret(made.Body["secret"].(string))
	return fmt.Sprintf("/organizations/%d/webhooks/%d", s.id, made.id())
}

// delivered waits until the newest delivery of a webhook is in a state, and shows it.
func (s *scene) delivered(hook, state string) answer {
	s.t.Helper()
	var path string
	jobtest.Poll(s.t, "the delivery is "+state, func() bool {
		list := s.member.want(200, "GET", hook+"/deliveries?limit=1", nil).List
		if len(list) == 0 {
			return false
		}
		newest := list[0].(map[string]any)
		path = fmt.Sprintf("%s/deliveries/%.0f", hook, newest["id"])
		return newest["state"] == state
	})
	return s.member.want(200, "GET", path, nil)
}

// hurry makes every message due now.
func (s *scene) hurry() {
	s.t.Helper()
	s.execute("UPDATE jobs SET due_at = created_at WHERE kind = 'webhook' AND state = 'READY'")
	jobtest.Enqueue(s.t, s.db, notifier.RestJob, notifier.NotifyArgs{}, job.EnqueueOptions{}) // wakes the worker
}

func (s *scene) execute(query string, args ...any) {
	s.t.Helper()
	if _, err := s.sql.ExecContext(s.t.Context(), query, args...); err != nil {
		s.t.Fatal(err)
	}
}

// happen makes an event of each kind happen to the scene's request, and has the subscribers notified.
func (s *scene) happen(kinds ...request.EventKind) {
	s.t.Helper()
	err := s.db.Tx(s.t.Context(), func(ctx context.Context, tx store.Conn) error {
		q, err := tx.Requests.ForUpdate(ctx, s.request)
		if err != nil {
			return err
		}
		var events []request.Event
		for _, kind := range kinds {
			events = append(events, request.Event{Kind: kind, Actor: s.requester().ID,
				Detail: request.EventDetail{Text: "Hello"}})
		}
		if events, err = tx.Events.Append(ctx, &q, events); err != nil {
			return err
		}
		args := notifier.NotifyArgs{Organization: q.Organization}
		for _, e := range events {
			args.Events = append(args.Events, e.ID)
		}
		if _, err := notifier.RestJob.Enqueue(ctx, tx, args, job.EnqueueOptions{}); err != nil {
			return err
		}
		_, err = notifier.RestJob.Enqueue(ctx, tx, args, job.EnqueueOptions{}) // a second time, which notifies no one
		if err != nil {
			return err
		}
		return tx.Requests.Update(ctx, q, false)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// idle waits until no job is due or runs.
func (s *scene) idle() {
	s.t.Helper()
	jobtest.Poll(s.t, "no job is due", func() bool {
		var n int
		err := s.sql.QueryRowContext(s.t.Context(), "SELECT COUNT(*) FROM jobs WHERE state = 'RUNNING' OR state = "+
			"'READY' AND due_at <= $1", s.db.Read().Now).Scan(&n)
		if err != nil {
			s.t.Fatal(err)
		}
		return n == 0
	})
}

// hooked is a scene whose worker has done what there was to do, with a webhook of all events.
func hooked(t *testing.T, db *store.DB) (s *scene, r *receiver, hook string) {
	t.Helper()
	s = newScene(t, db, exchange.AccessMembers)
	s.work(s.app, job.Config{})
	s.idle()
	r = newReceiver(t)
	return s, r, s.hook(r, nil)
}

func TestWebhook_GetsEachEventOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, all, _ := hooked(t, db)
		some, off, other := newReceiver(t), newReceiver(t), newReceiver(t)
		s.hook(some, []string{"request.status_changed", "request.made", "request.made"})
		s.owner.want(200, "PATCH", s.hook(off, nil), obj{"enabled": false})
		stranger := s.people["stranger"]
		stranger.want(201, "POST", fmt.Sprintf("/organizations/%d/webhooks", stranger.Lab), obj{"url": other.url})
		s.happen(request.EventKinds...)
		s.idle()
		types := func(r *receiver) (list []notify.EventType) {
			ids := map[string]bool{}
			for _, m := range r.messages() {
				list, ids[m.id] = append(list, m.message.Type), true
			}
			if slices.Sort(list); len(ids) != len(list) {
				t.Error("two messages have one id")
			}
			return list
		}
		want := slices.DeleteFunc(slices.Sorted(slices.Values(notify.EventTypes)), func(t notify.EventType) bool {
			return slices.Contains(notify.AgreementTypes, t)
		})
		if got := types(all); !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
		if got, want := types(some),
			[]notify.EventType{"request.made", "request.status_changed"}; !slices.Equal(got, want) {
			t.Errorf("who wants some is told %v, want %v", got, want)
		}
		document, err := contract()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all.messages() {
			var whole any
			if err := json.Unmarshal([]byte(m.body), &whole); err != nil {
				t.Fatal(err)
			}
			if err := document.Components.Schemas["EventMessage"].Value.VisitJSON(whole); err != nil {
				t.Errorf("the document says otherwise: %v: %s", err, m.body)
			}
		}
		if n := len(off.messages()) + len(other.messages()); n > 0 {
			t.Errorf("one that is off, or another lab's, is told %d times", n)
		}
	})
}

func TestWebhook_SendsEventAndRequestWithoutAddresses(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, r, hook := hooked(t, db)
		s.requester().want(200, "PATCH", s.user(""), obj{"email": "secret@example.org"})
		home := s.newAddress()
		s.requester().want(200, "PATCH", s.req(""), obj{"address": home})
		m := r.wait(1)[0]
		a := s.delivered(hook, "DELIVERED")
		told := answer{Body: m.message.Data}
		for path, want := range map[string]any{
			"organization": float64(s.id), "request.id": float64(s.request), "request.status": "OPEN",
			"request.is_active":      true,
			"request.url":            fmt.Sprintf("%s/requests/%d", publicURL, s.request),
			"request.api":            fmt.Sprintf("%s/v1/material-requests/%d", publicURL, s.request),
			"request.material.title": "HT-29", "request.requester.name": "requester Test",
			"event.kind": "address_changed", "event.seq": 3.0,
			"event.actor.name": "requester Test", "waiting_on.party": "requester",
		} {
			if got := told.at(path); got != want {
				t.Errorf("%s is %v, want %v: %s", path, got, want, m.body)
			}
		}
		if m.message.Type != "request.address_changed" || m.message.Timestamp.IsZero() ||
			m.message.Timestamp.Location() != time.UTC {
			t.Errorf("%s", m.body)
		}
		for _, secret := range []string{"Waterman", "Providence", "example.org\"", "secret@"} {
			if strings.Contains(m.body, secret) {
				t.Errorf("it tells %s: %s", secret, m.body)
			}
		}
		payload, err := json.Marshal(a.Body["payload"])
		if err != nil || a.Body["message_id"] != m.id || a.Body["type"] != "request.address_changed" ||
			a.at("last_status") != 204.0 || a.at("tries") != 1.0 || a.at("next_try_at") != nil {
			t.Errorf("%v: the log shows %s with %s", err, a.Raw, payload)
		}
	})
}

// TestWebhook_RetriesTheSameBytesUnderOneID also sends it again by hand then.
func TestWebhook_RetriesTheSameBytesUnderOneID(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, r, hook := hooked(t, db)
		r.answers(500)
		s.happen(request.Messaged)
		for n := range notify.MaxTries {
			r.wait(n + 1)
			s.idle()
			s.hurry()
		}
		a := s.delivered(hook, "FAILED")
		got := r.messages()
		for _, m := range got {
			if m.id != got[0].id || m.body != got[0].body {
				t.Errorf("another message: %+v", m)
			}
		}
		attempts := a.Body["attempts"].([]any)
		if len(got) != notify.MaxTries || len(attempts) != notify.MaxTries ||
			a.at("last_error") != "it answered 500 Internal Server Error" || a.at("last_status") != 500.0 {
			t.Errorf("%d messages: %s", len(got), a.Raw)
		}
		if first := attempts[0].(map[string]any); first["excerpt"] != "because" || first["status"] != 500.0 ||
			first["error"] != a.at("last_error") {
			t.Errorf("the first attempt is %v", first)
		}
		if w := s.member.want(200, "GET", hook, nil); w.at("enabled") != true || w.at("failing_since") == nil {
			t.Errorf("after less than five days: %s", w.Raw)
		}

		r.answers(202)
		path := fmt.Sprintf("%s/deliveries/%d/redeliver", hook, a.id())
		s.owner.want(202, "POST", path, nil)
		again := r.wait(notify.MaxTries + 1)[notify.MaxTries]
		a = s.delivered(hook, "DELIVERED")
		if again.id != got[0].id || again.body != got[0].body || a.at("tries") != float64(notify.MaxTries+1) ||
			a.at("last_error") != nil {
			t.Errorf("sent again: %s", a.Raw)
		}
		if w := s.member.want(200, "GET", hook, nil); w.at("failing_since") != nil {
			t.Errorf("after a success: %s", w.Raw)
		}
		if list := s.member.want(200, "GET", hook+"/deliveries?state=DELIVERED&type=request.message",
			nil).List; len(list) != 1 {
			t.Errorf("filtered: %v", list)
		}
		if list := s.member.want(200, "GET", hook+"/deliveries?state=FAILED", nil).List; len(list) != 0 {
			t.Errorf("filtered: %v", list)
		}
	})
}

func TestWebhook_WaitingDeliveryIsSentAtOnceOnlyOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, r, hook := hooked(t, db)
		r.answers(503)
		s.happen(request.Messaged)
		r.wait(1)
		s.idle()
		a := s.delivered(hook, "PENDING")
		if a.at("next_try_at") == nil || a.at("last_status") != 503.0 {
			t.Errorf("it waits: %s", a.Raw)
		}
		r.answers(200)
		s.owner.want(202, "POST", fmt.Sprintf("%s/deliveries/%d/redeliver", hook, a.id()), nil)
		s.delivered(hook, "DELIVERED")
		s.hurry() // the try that was put off
		s.idle()
		if n := len(r.messages()); n != 2 {
			t.Errorf("sent %d times", n)
		}
	})
}

func TestWebhook_BothSecretsSignDuringRotation(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, r, hook := hooked(t, db)
		first := r.secrets[0]
		rotated := s.owner.want(200, "POST", hook+"/rotate", nil)
		second := rotated.Body["secret"].(string)
		if second == first || rotated.at("old_secret_until") == nil ||
			rotated.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s", rotated.Raw)
		}
		r.secret(first, second)
		s.owner.want(202, "POST", hook+"/ping", nil)
		s.delivered(hook, "DELIVERED")
		s.execute("UPDATE webhooks SET old_until = $1", s.db.Read().Now)
		r.secret(second)
		s.owner.want(202, "POST", hook+"/ping", nil)
		r.wait(2)
		s.idle()
		for _, dump := range s.lines("audit_events") {
			if strings.Contains(dump, "whsec_") {
				t.Errorf("a secret is in the record of what was done: %s", dump)
			}
		}
		for _, path := range []string{hook, fmt.Sprintf("/organizations/%d/webhooks", s.id)} {
			if a := s.owner.want(200, "GET", path, nil); strings.Contains(string(a.Raw), "whsec_") {
				t.Errorf("a secret is shown again: %s", a.Raw)
			}
		}
	})
}

func TestWebhook_IsSwitchedOffAfterFiveDaysOfFailures(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, r, hook := hooked(t, db)
		r.answers(410)
		s.happen(request.Messaged)
		a := s.delivered(hook, "FAILED")
		w := s.member.want(200, "GET", hook, nil)
		if w.at("enabled") != false || w.at("disabled_reason") != "It answered 410 Gone: it wants no more messages." ||
			w.at("disabled_at") == nil {
			t.Errorf("gone: %s", w.Raw)
		}
		s.happen(request.Messaged)
		s.idle()
		if list := s.member.want(200, "GET", hook+"/deliveries", nil).List; len(list) != 1 {
			t.Errorf("one that is off is told: %v", list)
		}
		s.owner.refused(409, "CONFLICT", "POST", hook+"/ping", nil)
		s.owner.refused(409, "CONFLICT", "POST", fmt.Sprintf("%s/deliveries/%d/redeliver", hook, a.id()), nil)

		w = s.owner.want(200, "PATCH", hook, obj{"enabled": true})
		if w.at("disabled_reason") != nil || w.at("disabled_at") != nil {
			t.Errorf("on again: %s", w.Raw)
		}
		r.answers(500)
		s.happen(request.Messaged)
		r.wait(2)
		s.idle()
		s.execute("UPDATE webhooks SET failing_since = $1", s.db.Read().Now.Add(-5*24*time.Hour))
		s.owner.want(202, "POST", hook+"/ping", nil)
		s.idle()
		if w := s.member.want(200, "GET", hook, nil); w.at("enabled") != true {
			t.Errorf("a ping switches it off: %s", w.Raw)
		}
		for n := 3; n < notify.MaxTries+2; n++ {
			s.hurry()
			r.wait(n + 1)
			s.idle()
		}
		if w := s.member.want(200, "GET", hook, nil); w.at("enabled") != false ||
			w.at("disabled_reason") != "Every message failed for five days. The last one: it answered 500 Internal "+
				"Server Error" {
			t.Errorf("five days: %s", w.Raw)
		}
		// 410 before, and now
		if news := s.owner.want(200, "GET", fmt.Sprintf("/users/%s/notifications?kind=webhook_off", s.owner.ID),
			nil); len(news.List) != 2 {
			t.Errorf("the owner was told: %s", news.Raw)
		}
	})
}

func TestWebhook_WaitingDeliveriesEndWhenItIsOffOrDeleted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, r, hook := hooked(t, db)
		r.answers(500)
		s.happen(request.Messaged)
		r.wait(1)
		s.idle()
		s.owner.want(200, "PATCH", hook, obj{"enabled": false})
		s.hurry()
		if a := s.delivered(hook, "FAILED"); a.at("last_error") != "The webhook is switched off." ||
			a.at("tries") != 1.0 {
			t.Errorf("off: %s", a.Raw)
		}
		s.owner.want(200, "PATCH", hook, obj{"enabled": true})
		s.happen(request.Messaged)
		r.wait(2)
		s.idle()
		s.owner.want(204, "DELETE", hook, nil)
		s.hurry()
		s.idle()
		rows := s.rows()
		if rows["webhooks"]+rows["webhook_deliveries"]+rows["webhook_attempts"] != 0 || len(r.messages()) != 2 {
			t.Errorf("deleted: %v, and %d messages", rows, len(r.messages()))
		}
	})
}

// TestWebhook_SendsAgainUnderTheSameIDAfterACrash: the receiver takes the job away
// while it is sent, as the end of its lease would.
func TestWebhook_SendsAgainUnderTheSameIDAfterACrash(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, r, hook := hooked(t, db)
		r.mu.Lock()
		r.answer = func(w http.ResponseWriter, n int) {
			if n == 1 {
				s.execute("UPDATE jobs SET lease = lease + 1, due_at = created_at WHERE kind = 'webhook' AND state = " +
					"'RUNNING'")
			}
			w.WriteHeader(http.StatusOK)
		}
		r.mu.Unlock()
		s.happen(request.Messaged)
		got := r.wait(2)
		if a := s.delivered(hook, "DELIVERED"); got[0].id != got[1].id || got[0].body != got[1].body ||
			a.at("tries") != 1.0 {
			t.Errorf("%s after %v", a.Raw, got)
		}
	})
}

func TestWebhook_AtMostTwentyPerOrganization(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		path := fmt.Sprintf("/organizations/%d/webhooks", s.id)
		for range notify.MaxWebhooks {
			s.owner.want(201, "POST", path, obj{"url": "https://lab.example.org/hook"})
		}
		s.unchanged("one too many",
			func() { s.owner.refused(409, "CONFLICT", "POST", path, obj{"url": "https://lab.example.org/hook"}) })
		one := fmt.Sprintf("%s/%d", path, idsOf(s.owner.want(200, "GET", path, nil).List)[0])
		s.people["stranger"].want(201, "POST", fmt.Sprintf("/organizations/%d/webhooks", s.people["stranger"].Lab),
			obj{"url": "https://lab.example.org/"})
		for field, body := range map[string]obj{"url": {"url": "nonsense"},
			"events": {"events": []string{"request.eaten"}}} {
			if a := s.owner.refused(400, "INVALID_INPUT", "PATCH", one, body); a.at("fields."+field) == nil {
				t.Errorf("%v: %s", body, a.Raw)
			}
		}
		s.owner.refused(400, "INVALID_INPUT", "PATCH", one, obj{"events": []string{}})
		if a := s.owner.want(200, "PATCH", one,
			obj{"events": []string{"request.message",
				"request.made"}}); fmt.Sprint(a.at("events")) != "[request.made request.message]" {
			t.Errorf("%s", a.Raw)
		}
	})
}

func TestWebhook_RefusesPrivateAddressesUnlessAllowed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		w := newWorldWith(t, db, func(c *app.Config) { c.Sender = webhook.New(false) })
		owner := w.person("owner")
		path := fmt.Sprintf("/organizations/%d/webhooks", owner.Lab)
		for _, url := range []string{"http://lab.example.org/", "https://127.0.0.1/", "https://localhost/",
			"https://[::ffff:169.254.169.254]/", "https://10.0.0.1:8443/"} {
			if a := owner.refused(400, "INVALID_INPUT", "POST", path, obj{"url": url}); a.at("fields.url") == nil {
				t.Errorf("%s: %s", url, a.Raw)
			}
		}
		r := newReceiver(t)
		hook := fmt.Sprintf("%s/%d", path, owner.want(201, "POST", path, obj{"url": "https://lab.example.org/"}).id())
		s := &scene{world: w, testLab: testLab{id: owner.Lab, owner: owner, member: owner}}
		s.execute("UPDATE webhooks SET url = $1", r.url) // as it was set while the setting allowed it
		owner.want(200, "PATCH", hook, obj{"url": r.url, "description": "what GET gave can be sent back"})
		s.work(s.app, job.Config{})
		owner.want(202, "POST", hook+"/ping", nil)
		if a := s.delivered(hook, "FAILED"); !strings.HasPrefix(fmt.Sprint(a.at("last_error")),
			"the address must start with https://") || len(r.messages()) > 0 {
			t.Errorf("%s", a.Raw)
		}
	})
}

func TestWebhook_DeliveriesAreDeletedAfterThirtyDays(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s, r, hook := hooked(t, db)
		s.happen(request.Messaged, request.Messaged)
		r.wait(2)
		s.idle()
		s.execute("UPDATE webhook_deliveries SET created_at = $1 WHERE id = (SELECT MIN(id) FROM webhook_deliveries)",
			s.db.Read().Now.Add(-notify.DeliveryLifetime))
		s.sweep()
		if list := s.member.want(200, "GET", hook+"/deliveries", nil).List; len(list) != 1 ||
			s.rows()["webhook_attempts"] != 1 {
			t.Errorf("left: %v", list)
		}
	})
}
