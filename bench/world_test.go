package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"aliquot/internal/api"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
	"aliquot/internal/identity"
	"aliquot/internal/importer/sourcetest"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

const (
	materialCount = 1000
	requestCount  = 200 // BenchmarkStatus takes one for each client and side
)

// world is an installation, served by both sides.
type world struct {
	b         *testing.B
	db        *store.DB
	where     string // it is
	app       *app.App
	log       *slog.Logger
	url       [2]string // of ours and of bare
	member    string    // token of a member of the lab that owns every material
	lab       int64
	materials []int64
	requests  []int64 // all APPROVED
	rules     map[request.Status]said
}

// each runs bench in a world on a durable database of each kind.
func each(b *testing.B, bench func(b *testing.B, w *world)) {
	for _, kind := range storetest.Kinds() {
		b.Run(kind, func(b *testing.B) { bench(b, newWorld(b, kind)) })
	}
}

func newWorld(b *testing.B, kind string) *world {
	w := &world{b: b}
	where := filepath.Join(b.TempDir(), "aliquot.db")
	if kind == storetest.PostgreSQL {
		where = storetest.Clone(b, "aliquot_bench", func(string) error { return nil })
	}
	var err error
	if w.db, err = store.Open(b.Context(), where); err != nil {
		b.Fatal(err)
	}
	w.where = where
	w.db.UseKey(storetest.Key())
	b.Cleanup(func() { w.db.Close() })
	if _, err := w.db.Migrate(b.Context(), false); err != nil {
		b.Fatal(err)
	}
	folder, err := files.OpenFolder(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { folder.Close() })
	logFile, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { logFile.Close() })
	log := slog.New(slog.NewJSONHandler(logFile, nil))
	a := app.New(app.Config{DB: w.db, Files: folder, Importer: sourcetest.Start(b).Importer(b), Sealer: sealer(b),
		Access: exchange.AccessMembers, Registration: []string{"open"},
		TokenLifetime: time.Hour, UploadLimit: 1 << 20, Log: log})
	w.app, w.log = a, log
	w.url[ours] = serve(b, api.New(a, log), log)
	w.seed()
	limit := httptest.NewServer(newBare(b, kind, where, w.rules))
	b.Cleanup(limit.Close)
	w.url[bare] = limit.URL
	return w
}

// serve serves as "aliquot serve --rate-limit off" does: with request ids, log and time limits.
func serve(b *testing.B, apiHandler http.Handler, log *slog.Logger, observers ...server.Observer) (url string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", apiHandler)
	ctx, stop := context.WithCancel(context.WithoutCancel(b.Context()))
	ended := make(chan error)
	go func() { ended <- server.Serve(ctx, l, mux, nil, log, observers...) }()
	b.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

type obj map[string]any

// seed makes a lab whose materials ask for everything, and requests with documents for them.
func (w *world) seed() {
	var member string
	requester, _ := w.signIn("requester")
	w.member, member = w.signIn("member")
	owner, ownerID := w.signIn("owner")
	w.lab = w.make(owner, "/v1/organizations",
		obj{"name": "Epithelial Biology", "owner": ownerID, "members": []string{}})
	if err := w.db.Tx(w.b.Context(), func(ctx context.Context, tx store.Conn) error { // who is named is only invited
		return tx.Organizations.Join(ctx, w.lab, uuid.MustParse(member))
	}); err != nil {
		w.b.Fatal(err)
	}
	shipping := w.make(owner, "/v1/shipping-requirements", obj{"organization": w.lab, "needs_shipping_address": true,
		"needs_payment": true, "accepts_shipping_code": true})
	for i := range materialCount {
		w.materials = append(w.materials, w.make(w.member, "/v1/materials", obj{
			"category": "CELL_LINE", "title": fmt.Sprintf("HT-29, passage %d", i), "organization_id": w.lab,
			"url":       "https://example.org/ht-29",
			"needs_mta": true, "needs_irb": true, "needs_abstract": true, "shipping_requirements_id": shipping,
			"organisms":           []string{"Homo sapiens"},
			"additional_metadata": obj{"cell_line_name": "HT-29", "rrid": "RRID:CVCL_0320"},
			"citation":            "Fogh J, Trempe G. New human tumor cell lines. 1975.",
			"additional_info":     "Grows in McCoy's 5A with 10 % serum.",
		}))
	}
	signed := w.make(requester, "/v1/attachments", obj{"filename": "signed.pdf", "description": "signed by us"})
	irb := w.make(requester, "/v1/attachments", obj{"filename": "irb.pdf"})
	for i := range requestCount {
		w.requests = append(w.requests, w.make(requester, "/v1/material-requests", obj{
			"material": w.materials[i], "quantity": "2 vials",
			"requester_abstract":              "We study why intestinal cells polarise.",
			"requester_signed_mta_attachment": signed, "irb_attachment": irb,
		}))
	}
	for i := range w.requests {
		var open, accepted said
		w.read(w.request(ours, "PATCH", w.requestPath(i), w.member, approved), &accepted)
		w.read(w.request(ours, "PATCH", w.requestPath(i), w.member, reopened), &open)
		w.read(w.request(ours, "PATCH", w.requestPath(i), w.member, approved), &accepted)
		w.rules = map[request.Status]said{request.Open: open, request.Approved: accepted}
	}
}

// signIn signs somebody in, and returns their token and id.
func (w *world) signIn(name string) (token, id string) {
	s, err := w.app.Accounts.SignIn(w.b.Context(), identity.Person{RegistryID: name, GivenName: name, FamilyName: "Test",
		Email: name + "@example.org"}, person.Registration{})
	if err != nil {
		w.b.Fatal(err)
	}
	return s.Token, s.User.String()
}

// What BenchmarkStatus sends.
const (
	approved = `{"status": "APPROVED"}`
	reopened = `{"status": "OPEN"}`
)

// make posts an object to ours and returns its id.
func (w *world) make(token, path string, body obj) int64 {
	raw, err := json.Marshal(body)
	if err != nil {
		w.b.Fatal(err)
	}
	var made struct{ ID int64 }
	w.read(w.request(ours, "POST", path, token, string(raw)), &made)
	return made.ID
}

func (w *world) request(side int, method, path, token, body string) *http.Request {
	r, err := http.NewRequestWithContext(w.b.Context(), method, w.url[side]+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Token "+token)
	}
	return r
}

// read sends a request and decodes the answer.
func (w *world) read(r *http.Request, into any) {
	var body bytes.Buffer
	_, err := send(http.DefaultClient, r, &body)
	if err == nil {
		err = json.Unmarshal(body.Bytes(), into)
	}
	if err != nil {
		w.b.Fatal(err)
	}
}
