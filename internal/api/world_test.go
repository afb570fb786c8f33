package api_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/api"
	"aliquot/internal/api/rest"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/files"
	"aliquot/internal/identity"
	"aliquot/internal/importer/sourcetest"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/record"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
	"aliquot/internal/webhook"

	"github.com/google/uuid"
)

// world is a whole installation on one database, with its API on a real listener.
type world struct {
	t          testing.TB
	db         *store.DB
	sql        *sql.DB // a connection of its own
	app        *app.App
	folder     *files.Folder
	api        *rest.API
	apiHandler http.Handler
	url        string

	sources *sourcetest.Server // that play what is imported from
}

// newWorld makes an installation; who can sign in is made by person, with no identity provider.
func newWorld(t testing.TB, db *store.DB, access exchange.Access) *world {
	t.Helper()
	return newWorldWith(t, db, func(c *app.Config) { c.Access = access })
}

// newWorldWith is newWorld with other settings.
func newWorldWith(t testing.TB, db *store.DB, change func(*app.Config)) *world {
	t.Helper()
	folder, err := files.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	sources := sourcetest.Start(t)
	config := app.Config{
		DB: db, PublicURL: publicURL, Files: folder, Importer: sources.Importer(t), Access: exchange.AccessMembers,
		Registration:  []string{"open"},
		TokenLifetime: time.Hour, UploadLimit: uploadLimit, Grace: time.Hour, Reminders: []int{7, 14, 28},
		Escalation: 21, Log: log,
		Sender: webhook.New(true), LogKeys: logKeys,
	}
	change(&config)
	a := app.New(config)
	apiHandler := api.New(a, config.Log)
	apiHandler.Stop = stopped
	handler := server.Record(apiHandler, config.Log)
	s := httptest.NewServer(handler)
	w := &world{t, db, storetest.SQL(t, db), a, folder, apiHandler, handler, s.URL, sources}
	t.Cleanup(func() {
		s.Close()
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
		// A test that has ended keeps its cleanups, and so what they refer to, until all tests have: 1.6 MB of routes.
		s.Config.Handler, w.app, w.api, w.apiHandler = nil, nil, nil, nil
	})
	return w
}

// logKeys are those that sign the logs of all worlds.
var logKeys = sync.OnceValues(func() (record.Keys, error) { return record.NewKeys("aliquot.example.org/log/2026") })

// stopped ends every stream after what it has to say at first.
var stopped = func() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// work does the jobs that a holds until stop is called, but those that come by themselves.
func (w *world) work(a *app.App, cfg job.Config) (stop func()) {
	w.t.Helper()
	cfg.DB = a.DB
	for _, h := range slices.Concat(a.Handlers(), a.Senders()) {
		cfg.Handlers = append(cfg.Handlers, h.Every(0))
	}
	return jobtest.Start(w.t, cfg)
}

// sweep does the job that forgets what expired.
func (w *world) sweep() {
	w.t.Helper()
	w.run(app.SweepExpired)
}

// run does one of the periodic jobs.
func (w *world) run(kind job.Kind[struct{}]) {
	w.t.Helper()
	defer w.work(w.app, job.Config{})()
	id := jobtest.Enqueue(w.t, w.db, kind, struct{}{}, job.EnqueueOptions{})
	jobtest.Wait(w.t, w.db, id, exchange.JobDone)
}

// publicURL is how people reach the installation of a test.
const publicURL = "https://aliquot.example.org"

// uploadLimit is the size of a file in tests, in bytes.
const uploadLimit = 1 << 20

// person is someone who calls the API; the zero one is anonymous.
type testPerson struct {
	w     *world
	name  string
	ID    uuid.UUID
	Token string
	Lab   int64 // the personal organization
}

func (w *world) anonymous() *testPerson { return &testPerson{w: w} }

// signIn signs someone in, made up from a name; at first it registers them.
func (w *world) signIn(name string) *testPerson {
	w.t.Helper()
	s, err := w.app.Accounts.SignIn(w.t.Context(),
		identity.Person{RegistryID: "id-" + name, GivenName: name, FamilyName: "Test"}, person.Registration{})
	if err != nil {
		w.t.Fatal(err)
	}
	return &testPerson{w: w, name: name, ID: s.User, Token: s.Token}
}

// person registers someone, made up from a name.
func (w *world) person(name string) *testPerson {
	w.t.Helper()
	p := w.signIn(name)
	labs, err := w.db.Read().Organizations.OfUser(w.t.Context(), p.ID)
	if err != nil || len(labs) == 0 {
		w.t.Fatalf("no personal organization: %v", err)
	}
	p.Lab = labs[0].ID
	return p
}

// admin registers an admin.
func (w *world) admin() *testPerson {
	w.t.Helper()
	p := w.person("admin")
	w.setAdmin(true)
	return p
}

// setAdmin makes the admin one, or takes that from them.
func (w *world) setAdmin(is bool) {
	w.t.Helper()
	if err := w.app.Accounts.SetAdmin(w.t.Context(), "id-admin", is); err != nil {
		w.t.Fatal(err)
	}
}

// join makes people members of an organization who said yes.
func (w *world) join(organization int64, people ...*testPerson) {
	w.t.Helper()
	for _, p := range people {
		if err := w.db.Tx(w.t.Context(),
			func(ctx context.Context,
				tx store.Conn) error {
				return tx.Organizations.Join(ctx, organization, p.ID)
			}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// answer is what a call gave.
type answer struct {
	Status int
	Header http.Header
	Raw    []byte
	Body   map[string]any // of an object
	List   []any          // of an array
}

// obj is a JSON object to send.
type obj map[string]any

// call sends a request with a JSON body, or none where body is nil.
func (p *testPerson) call(method, path string, body any) answer {
	p.w.t.Helper()
	var reader io.Reader
	contentType := ""
	switch b := body.(type) {
	case nil:
	case string:
		reader, contentType = strings.NewReader(b), "application/json"
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			p.w.t.Fatal(err)
		}
		reader, contentType = bytes.NewReader(raw), "application/json"
	}
	return p.send(method, path, contentType, reader)
}

// send sends a request with any body.
func (p *testPerson) send(method, path, contentType string, body io.Reader) answer {
	p.w.t.Helper()
	return p.sendWith(nil, method, path, contentType, body)
}

// callWith is call with headers in addition to the usual ones.
func (p *testPerson) callWith(headers map[string]string, method, path string, body any) answer {
	p.w.t.Helper()
	if body == nil {
		return p.sendWith(headers, method, path, "", nil)
	}
	raw, ok := body.([]byte)
	if !ok {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			p.w.t.Fatal(err)
		}
	}
	return p.sendWith(headers, method, path, "application/json", bytes.NewReader(raw))
}

func (p *testPerson) sendWith(headers map[string]string, method, path, contentType string, body io.Reader) answer {
	p.w.t.Helper()
	ctx, cancel := context.WithTimeout(p.w.t.Context(), 2*time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, p.w.url+path, body)
	if err != nil {
		p.w.t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if p.Token != "" {
		r.Header.Set("Authorization", "Token "+p.Token)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	return p.w.do(r)
}

func (w *world) do(r *http.Request) answer {
	w.t.Helper()
	response, err := client.Do(r)
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Fatalf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	a := answer{Status: response.StatusCode, Header: response.Header, Raw: raw}
	if response.Header.Get("Content-Type") == "application/json" && len(raw) > 0 {
		if raw[0] == '[' {
			err = json.Unmarshal(raw, &a.List)
		} else {
			err = json.Unmarshal(raw, &a.Body)
		}
		if err != nil {
			w.t.Fatalf("%s %s: body is not JSON: %v: %s", r.Method, r.URL.Path, err, raw)
		}
	}
	if fault := described(r, a); fault != "" {
		w.t.Errorf("%s %s: not as docs/openapi.json has it: %s: %.300s", r.Method, r.URL.Path, fault, raw)
	}
	if fault := a.fault(r); fault != "" {
		w.t.Errorf("%s %s: %s: %d %v %.300s", r.Method, r.URL.Path, fault, a.Status, a.Header, raw)
	}
	return a
}

// client follows no redirect: the API has none but to who asks for it, since a redirect loses the body of a POST.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{MaxIdleConnsPerHost: 16, DisableCompression: true},
}

// fault returns how an answer breaks contract.md sections 1 and 2, whatever was asked; every
// answer of every test is held to it.
func (a answer) fault(r *http.Request) string {
	kind, id := a.Header.Get("Content-Type"), a.Header.Get("X-Request-Id")
	switch {
	case len(id) < 16:
		return "no X-Request-Id"
	case a.Status >= 500 && a.Status != 503 && a.Body["error_code"] != "INVALID_ANSWER":
		return "an error on our side"
	case a.Status >= 300 && a.Status < 400 && a.Status != 304 && r.URL.Query().Get("redirect") == "":
		return "a redirect"
	case a.Status >= 400 && len(a.Raw) > 0 && kind != "application/json": // of success the document knows the type
		return "an error that is not application/json"
	case a.Status == 401 && a.Header.Get("WWW-Authenticate") != "Token":
		return "401 without WWW-Authenticate: Token"
	case a.Status == 405 && a.Header.Get("Allow") == "":
		return "405 without Allow"
	case a.Status == 503 && a.Header.Get("Retry-After") == "":
		return "503 without Retry-After"
	case a.Status < 400 || r.Method == http.MethodHead:
		return ""
	case a.Body["request_id"] != id:
		return "request_id is not the X-Request-Id"
	}
	text, _ := a.Body["error"].(string)
	code, _ := a.Body["error_code"].(string)
	_, named := a.Body["fields"]
	switch {
	case len(text) < 10 || !strings.HasSuffix(text, "."):
		return "error is no sentence"
	case strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" || code == "":
		return "error_code is not UPPER_SNAKE"
	case named && a.Status != 400, named != (code == "INVALID_INPUT"):
		return "fields go with 400 INVALID_INPUT"
	}
	return ""
}

// want is call with the status it must have.
func (p *testPerson) want(status int, method, path string, body any) answer {
	p.w.t.Helper()
	a := p.call(method, path, body)
	if a.Status != status {
		p.w.t.Fatalf("%s %s: got %d, want %d: %s", method, path, a.Status, status, a.Raw)
	}
	return a
}

// refused is want with the error code it must have.
func (p *testPerson) refused(status int, code, method, path string, body any) answer {
	p.w.t.Helper()
	a := p.want(status, method, path, body)
	if a.Body["error_code"] != code {
		p.w.t.Fatalf("%s %s: got %v, want %s: %s", method, path, a.Body["error_code"], code, a.Raw)
	}
	return a
}

// id is the integer id of an answer.
func (a answer) id() int64 { n, _ := a.Body["id"].(float64); return int64(n) }

// at is a member of an answer by its path, as "waiting_on.party".
func (a answer) at(path string) any {
	var v any = a.Body
	for key := range strings.SplitSeq(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	return v
}

// upload makes an attachment with content by multipart/form-data.
func (p *testPerson) upload(filename string, content []byte, fields obj) answer {
	p.w.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := form.WriteField(name, fmt.Sprint(value)); err != nil {
			p.w.t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile("file", filename)
	if err == nil {
		_, err = part.Write(content)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		p.w.t.Fatal(err)
	}
	return p.send("POST", "/attachments/", form.FormDataContentType(), &body)
}

// pdf is the start of a real PDF, enough to be known as one.
var pdf = []byte("%PDF-1.4\n1 0 obj << /Type /Catalog >> endobj\ntrailer << /Root 1 0 R >>\n%%EOF\n")

// lab is an organization with its people and one material that asks for everything.
type testLab struct {
	owner, member, assignee, former *testPerson
	id, shipping, material          int64
}

// lab makes an organization of four people, one of whom left, and lists a material in it.
func (w *world) lab() testLab {
	w.t.Helper()
	l := testLab{owner: w.person("owner"), member: w.person("member"), assignee: w.person("assignee"),
		former: w.person("former")}
	l.id = l.owner.want(201, "POST", "/organizations/",
		obj{"name": "Epithelial Biology", "owner": l.owner.ID, "members": []any{}}).id()
	w.join(l.id, l.member, l.assignee, l.former)
	l.owner.want(200, "PATCH", fmt.Sprintf("/organizations/%d", l.id),
		obj{"members": []any{l.owner.ID, l.member.ID, l.assignee.ID}})
	l.shipping = l.owner.want(201, "POST", "/shipping-requirements/",
		obj{"organization": l.id, "needs_shipping_address": true,
			"needs_payment": true, "accepts_shipping_code": true}).id()
	l.material = l.member.want(201, "POST", "/materials/",
		obj{"category": "CELL_LINE", "title": "HT-29", "organization_id": l.id,
			"needs_mta": true, "needs_irb": true, "needs_abstract": true, "contact_user_id": l.assignee.ID,
			"shipping_requirements_id": l.shipping, "organisms": []string{"Homo sapiens"},
			"additional_metadata": obj{"cell_line_name": "HT-29", "rrid": "RRID:CVCL_0320"}}).id()
	return l
}
