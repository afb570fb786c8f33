package web_test

import (
	"bytes"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/app"
	"aliquot/internal/demo"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/identity"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
	"aliquot/internal/web"

	"github.com/PuerkitoBio/goquery"
)

// world is the sample data of the demo behind the pages.
type world struct {
	*testing.T
	app   *app.App
	db    *store.DB
	pages http.Handler
}

// each runs test in a world on each kind of database.
func each(t *testing.T, test func(w *world)) {
	t.Helper()
	for _, kind := range storetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(newWorld(t, openDemo(t, kind)))
		})
	}
}

// alone returns a world on SQLite, for what does not depend on the database.
func alone(t *testing.T) *world {
	t.Helper()
	return newWorld(t, openDemo(t, storetest.SQLite))
}

// watched is alone with a database that notes which tables are written, for snapshots.
func watched(t *testing.T) *world {
	t.Helper()
	return newWorld(t, openFile(t, filledAndWatched))
}

func newWorld(t *testing.T, db *store.DB, more ...func(*web.Config)) *world {
	t.Helper()
	w := &world{T: t, db: db}
	w.app = newApp(db, slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	mux, cfg := http.NewServeMux(), web.Config{App: w.app, OpenAPI: openAPIDocument, Version: "test"}
	for _, change := range more {
		change(&cfg)
	}
	w.must(web.Mount(mux, cfg))
	w.pages = mux
	return w
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// visitor is somebody with a browser without script.
type visitor struct {
	*world
	actor   exchange.Actor
	cookies map[string]string
}

// People of the demo, by what they are in it.
var people = map[string]string{}

func init() {
	for _, p := range demo.People() {
		people[strings.ToLower(p.GivenName)] = p.RegistryID
	}
}

// as returns the browser of a person of the demo by their first name, as "josiah", or of someone new; "" is
// nobody.
func (w *world) as(name string) *visitor {
	w.Helper()
	v := &visitor{world: w, cookies: map[string]string{}}
	if name == "" {
		return v
	}
	user := identity.Person{RegistryID: people[name]}
	if user.RegistryID == "" {
		user = identity.Person{RegistryID: name, GivenName: name, FamilyName: "New"}
	}
	signed, err := w.app.Accounts.SignIn(w.Context(), user, person.Registration{})
	w.must(err)
	v.actor, err = w.app.Accounts.Actor(w.Context(), signed.Token)
	w.must(err)
	v.cookies["__Host-session"] = signed.Token
	return v
}

// answer is a page that came.
type answer struct {
	*visitor
	status   int
	location string
	header   http.Header
	body     string
	doc      *goquery.Document
}

func (v *visitor) send(r *http.Request) answer {
	v.Helper()
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	v.pages.ServeHTTP(w, r)
	result := w.Result()
	for _, c := range result.Cookies() {
		if c.MaxAge < 0 {
			delete(v.cookies, c.Name)
		} else {
			v.cookies[c.Name] = c.Value
		}
	}
	v.must(result.Body.Close())
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(w.Body.String()))
	v.must(err)
	a := answer{v, w.Code, w.Header().Get("Location"), w.Header(), w.Body.String(), doc}
	a.summedUp()
	return a
}

// summedUp fails unless the summary of a form leads to fields of the page, in their order.
func (a answer) summedUp() {
	a.Helper()
	last := 0
	for _, href := range a.foundLinks(`#errors a[href^="#f-"]`) {
		at := strings.Index(a.body, `id="`+href[1:]+`"`)
		if at < last {
			a.Errorf("the summary has %s out of its place: %s", href, a.text("#errors"))
		}
		last = at
	}
}

// get asks for a page.
func (v *visitor) get(path string) answer {
	v.Helper()
	return v.send(httptest.NewRequestWithContext(v.Context(), http.MethodGet, "http://example.org"+path, http.NoBody))
}

// post sends a form: names and values in turn.
func (v *visitor) post(path string, pairs ...string) answer {
	v.Helper()
	form := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		form.Add(pairs[i], pairs[i+1])
	}
	r := httptest.NewRequestWithContext(v.Context(), http.MethodPost, "http://example.org"+path,
		strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return v.send(r)
}

// upload sends a form with a file.
func (v *visitor) upload(path, field, filename, content string, pairs ...string) answer {
	v.Helper()
	var body bytes.Buffer
	m := multipart.NewWriter(&body)
	for i := 0; i < len(pairs); i += 2 {
		v.must(m.WriteField(pairs[i], pairs[i+1]))
	}
	part, err := m.CreateFormFile(field, filename)
	v.must(err)
	_, err = part.Write([]byte(content))
	v.must(err)
	v.must(m.Close())
	r := httptest.NewRequestWithContext(v.Context(), http.MethodPost, "http://example.org"+path, &body)
	r.Header.Set("Content-Type", m.FormDataContentType())
	return v.send(r)
}

// follow goes where the answer sends to.
func (a answer) follow() answer {
	a.Helper()
	if a.status != http.StatusSeeOther {
		a.Fatalf("%d in place of a redirect: %s", a.status, a.text("main"))
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(a.location, "http://example.org"), "#")
	return a.get(path)
}

// want fails unless the answer has a status.
func (a answer) want(status int) answer {
	a.Helper()
	if a.status != status {
		a.Fatalf("status %d, want %d: %s", a.status, status, a.text("main"))
	}
	return a
}

// text is that of what a selector finds, with single spaces.
func (a answer) text(selector string) string {
	return strings.Join(strings.Fields(a.doc.Find(selector).Text()), " ")
}

// has reports whether a selector finds anything.
func (a answer) has(selector string) bool { return a.doc.Find(selector).Length() > 0 }

// input is what a field of a form has.
func (a answer) input(name string) string {
	field := a.doc.Find(`[name="` + name + `"]`)
	if field.Is("textarea") {
		return field.Text()
	}
	if field.Is("select") {
		return field.Find("[selected]").AttrOr("value", "")
	}
	return field.AttrOr("value", "")
}

// material is one of the demo's by its title, request one of them by its material and requester.
func (w *world) material(title string) material.Shown {
	w.Helper()
	part, err := w.app.Materials.Materials(w.Context(), exchange.Actor{Admin: true}, exchange.Page{Limit: 200},
		material.Filter{})
	w.must(err)
	for _, m := range part.Items {
		if m.Title == title {
			return m.Revealed()
		}
	}
	w.Fatalf("the demo has no material %q", title)
	return material.Shown{}
}

// requests are those of the demo in a status.
func (w *world) requests(status request.Status) []request.Detail {
	w.Helper()
	part, err := w.app.Requests.Requests(w.Context(), w.as("ada").actor, exchange.Page{Limit: 200},
		request.Filter{Status: &status})
	w.must(err)
	return part.Items
}
