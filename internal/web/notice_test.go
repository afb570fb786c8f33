package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web"
)

func TestNotificationsPage_GroupsByDayAndLinksTheRequest(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, q := w.as("mario"), w.requestFor("HeLa")
		_, err := w.app.Requests.SendMessage(w.Context(), exchange.Actor{ID: q.Requester}, q.ID,
			request.TextBody{Text: exchange.Some("Is it there?")})
		w.must(err)
		part, unread, err := w.app.Notifications.Notifications(w.Context(), v.actor, v.actor.ID, notify.NotificationFilter{},
			exchange.Page{Limit: 50})
		w.must(err)
		a := v.get("/notifications").want(http.StatusOK)
		if n := a.doc.Find(noticeButton).Length(); n != len(part.Items) || n == 0 {
			t.Fatalf("%d of %d are shown", n, len(part.Items))
		}
		if n := a.doc.Find("#feed .grow .vh").Length(); int64(n) != unread ||
			a.text("[data-unread]") != strconv.FormatInt(unread, 10) {
			t.Errorf("%d are marked, %s counted, want %d", n, a.text("[data-unread]"), unread)
		}
		if !strings.HasPrefix(a.text("#feed h2"), "Today, ") {
			t.Errorf("the first day is %q", a.text("#feed h2"))
		}
		for _, n := range part.Items {
			if n.Announcement == nil && n.Event.Kind != request.Deleted &&
				!a.has("#feed a[href='/requests/"+strconv.FormatInt(n.Event.RequestID, 10)+"']") {
				t.Errorf("nothing leads to request %d", n.Event.RequestID)
			}
		}
		first := strconv.FormatInt(part.Items[0].ID, 10)
		v.post("/notifications/"+first+"/read", "back", "/notifications?show=unread").want(http.StatusSeeOther)
		if a = v.get("/notifications?show=unread"); int64(a.doc.Find(noticeButton).Length()) != unread-1 {
			t.Errorf("%d are unread after one was read, want %d", a.doc.Find(noticeButton).Length(), unread-1)
		}
		v.post("/notifications/"+first+"/read", "unread", "1").want(http.StatusSeeOther)
		if a = v.get("/notifications?show=unread"); int64(a.doc.Find(noticeButton).Length()) != unread {
			t.Error("it cannot be marked as unread again")
		}
		v.post("/notifications/read", "until", first).follow().want(http.StatusOK)
		if a = v.get("/notifications?show=unread"); a.has("#feed li") ||
			a.text("#feed .empty h2") != "You have read everything" || a.has("#bell .count") {
			t.Errorf("after all were read: %s", a.text("#feed"))
		}
		if a = v.get("/notifications?category=saved_search").want(http.StatusOK); a.text("#feed .empty h2") != "Nothing about saved searches" {
			t.Errorf("a category without any: %s", a.text("#feed"))
		}
	})
}

// noticeButton is the button of each notification that is shown.
const noticeButton = "#feed form[action^='/notifications/'] button"

func TestNotificationsPage_GroupsByRequest(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		v, q := w.as("mario"), w.requestFor("HeLa")
		v.post("/notifications/read", "until", "9223372036854775807").want(http.StatusSeeOther)
		for _, text := range []string{"First", "Second", "Third"} {
			_, err := w.app.Requests.SendMessage(w.Context(), exchange.Actor{ID: q.Requester}, q.ID,
				request.TextBody{Text: exchange.Some(text)})
			w.must(err)
		}
		a := v.get("/notifications?show=unread").want(http.StatusOK)
		group := a.doc.Find("#feed li[data-row]")
		if group.Length() != 1 || !strings.Contains(group.Find(".muted").First().Text(), "Third") ||
			strings.TrimSpace(group.Find("summary").Text()) != fmt.Sprintf("2 earlier about request %d", q.ID) ||
			group.Find("details li").Length() != 2 {
			t.Fatalf("the group is %s", a.text("#feed"))
		}
		form, _ := group.Find("form").First().Attr("action")
		v.post(form, "group", "1", "back", "/notifications?show=unread").want(http.StatusSeeOther)
		if a = v.get("/notifications?show=unread"); a.has("#feed li") {
			t.Errorf("after the group was read: %s", a.text("#feed"))
		}
		w.as("josiah").post(form, "group", "1").want(http.StatusNotFound)
	})
}

func TestNotificationsPage_CannotMarkThoseOfOthers(t *testing.T) {
	t.Parallel()
	w := alone(t)
	mario := w.as("mario")
	part, _, err := w.app.Notifications.Notifications(w.Context(), mario.actor, mario.actor.ID, notify.NotificationFilter{},
		exchange.Page{Limit: 1})
	w.must(err)
	id := strconv.FormatInt(part.Items[0].ID, 10)
	w.as("josiah").post("/notifications/" + id + "/read").want(http.StatusNotFound)
	for _, path := range []string{"/notifications", "/notifications/stream"} {
		if a := w.as("").get(path); a.status != http.StatusSeeOther {
			t.Errorf("nobody gets %d of %s", a.status, path)
		}
	}
}

func TestNotificationsPage_EscapesText(t *testing.T) {
	t.Parallel()
	w := alone(t)
	v, q := w.opened()
	_, err := w.app.Requests.SendMessage(w.Context(), exchange.Actor{ID: q.Requester}, q.ID,
		request.TextBody{Text: exchange.Some(`<script>alert(1)</script>`)})
	w.must(err)
	a := v.get("/notifications").want(http.StatusOK)
	if strings.Contains(a.body, "<script>alert") || !strings.Contains(a.text("#feed"), "<script>alert(1)</script>") {
		t.Errorf("a message is shown so: %s", a.text("#feed li"))
	}
}

func TestNotificationsPage_RunsAConstantNumberOfStatements(t *testing.T) {
	t.Parallel()
	w := alone(t)
	cost := func(name string) int64 {
		v := w.as(name)
		before := w.db.Queries()
		v.get("/notifications").want(http.StatusOK)
		return w.db.Queries() - before
	}
	if many, none := cost("mario"), cost("somebody"); many != none || many > 6 {
		t.Errorf("%d statements for many, %d for none", many, none)
	}
}

// TestPageStream_SendsMessagesAndEndsWithTheProcess follows the stream of a page through a message, and to the end of the process.
func TestPageStream_SendsMessagesAndEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		stop := make(chan struct{})
		mux := http.NewServeMux()
		w.must(web.Mount(mux, web.Config{App: w.app, OpenAPI: openAPIDocument, Version: "test", Stop: stop}))
		host := httptest.NewServer(mux)
		t.Cleanup(host.Close)
		v, q := w.opened()
		ctx, cancel := context.WithTimeout(w.Context(), 2*time.Minute)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, host.URL+"/notifications/stream", http.NoBody)
		w.must(err)
		r.AddCookie(&http.Cookie{Name: "__Host-session", Value: v.cookies["__Host-session"]})
		answer, err := http.DefaultClient.Do(r)
		w.must(err)
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
			t.Fatalf("%d %s", answer.StatusCode, answer.Header.Get("Content-Type"))
		}
		lines := bufio.NewScanner(answer.Body)
		until := func(words ...string) {
			t.Helper()
			for lines.Scan() {
				line := lines.Text()
				if all := func() bool {
					for _, word := range words {
						if !strings.Contains(line, word) {
							return false
						}
					}
					return true
				}(); all {
					return
				}
			}
			t.Fatalf("the stream ended before %q: %v", words, lines.Err())
		}
		until("data:", `"unread":`)
		_, err = w.app.Requests.SendMessage(w.Context(), exchange.Actor{ID: q.Requester}, q.ID,
			request.TextBody{Text: exchange.Some("Is it there?")})
		w.must(err)
		until("data:", "wrote a message", "/requests/"+strconv.FormatInt(q.ID, 10))
		close(stop)
		for lines.Scan() {
			continue
		}
		if err := lines.Err(); err != nil {
			t.Errorf("the stream does not end in order: %v", err)
		}
	})
}
