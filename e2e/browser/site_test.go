package browser

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/api"
	"aliquot/internal/app"
	"aliquot/internal/demo"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/files"
	"aliquot/internal/identity"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/limit"
	"aliquot/internal/mail"
	"aliquot/internal/mail/mailtest"
	"aliquot/internal/notice"
	"aliquot/internal/record"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
	"aliquot/internal/web"
	"aliquot/internal/webhook"
)

// site is both servers with the sample data, on an address of this machine, and a worker behind them.
type site struct {
	*testing.T
	app *app.App
	db  *store.DB
	url string

	letters *mailtest.Server // what strange.mail sends to, if a test looks at it
}

// strange is what makes a site unlike others.
type strange struct {
	later  time.Duration // than its sample data were made
	limits *limit.Gates
	mail   *mail.Post
	named  bool // its address has a name, which passkeys need
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newStrangeSite(t, strange{})
}

func newStrangeSite(t *testing.T, like strange) *site {
	t.Helper()
	where := filepath.Join(t.TempDir(), "aliquot.db")
	s := &site{T: t}
	s.must(os.WriteFile(where, sample, 0o600))
	s.db = storetest.At(t, where)
	s.db.Clock = func() time.Time { return time.Now().Add(like.later) }
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	s.must(err)
	s.url = "http://" + l.Addr().String()
	if like.named {
		s.url = strings.Replace(s.url, "127.0.0.1", "localhost", 1)
	}
	mux := http.NewServeMux()
	provider, err := identity.NewDemo(s.url+"/demo/identity", demo.People())
	s.must(err)
	mux.Handle("/demo/identity/", provider)
	who, err := identity.New(identity.Config{Issuer: s.url + "/demo/identity", ClientID: identity.DemoClientID,
		ClientSecret: "demo"})
	s.must(err)
	words, err := notice.New(s.url)
	s.must(err)
	s.app = app.New(app.Config{DB: s.db, PublicURL: s.url, Files: content, Identity: who, Notice: words,
		Access:       exchange.AccessMembers,
		Registration: []string{"open"}, TokenLifetime: time.Hour, UploadLimit: 4 << 20,
		DocumentTypes: []string{"application/pdf", "image/png", "image/jpeg", "image/tiff"}, Sender: webhook.New(false),
		Mail: like.mail, Log: log, LogKeys: logKeys})
	programs := api.New(s.app, log)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	programs.Stop = ctx.Done()
	s.must(web.Mount(mux, web.Config{App: s.app, OpenAPI: programs.Contract, Version: "0.1", Stop: ctx.Done(),
		Limits: like.limits, Rest: programs}))
	jobtest.Start(t, job.Config{DB: s.db, Log: log, Handlers: s.app.Handlers()})
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, l, mux, nil, log) }()
	t.Cleanup(func() {
		stop()
		s.must(<-ended)
	})
	return s
}

// logKeys are those that sign the logs of all sites.
var logKeys = sync.OnceValues(func() (record.Keys, error) { return record.NewKeys("example.org/log/2026") })

// The sample data, which are made once: a database, and the files of all sites, under random keys.
var (
	sample  []byte
	content *files.Folder
)

// fill makes the sample data in a folder.
func fill(ctx context.Context, folder string) (err error) {
	if content, err = files.OpenFolder(filepath.Join(folder, "files")); err != nil {
		return err
	}
	path := filepath.Join(folder, "aliquot.db")
	db, err := store.Open(ctx, path)
	if err != nil {
		return err
	}
	if _, err = db.Migrate(ctx, false); err == nil {
		err = demo.Fill(ctx, app.New(app.Config{DB: db, Files: content, Access: exchange.AccessMembers,
			Registration:  []string{"open"},
			TokenLifetime: time.Hour, UploadLimit: 4 << 20, Log: slog.New(slog.DiscardHandler)}))
	}
	if err = errors.Join(err, db.Close()); err == nil {
		sample, err = os.ReadFile(path)
	}
	return err
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// registryID is that of a person of the demo by their first name.
func registryID(name string) string {
	for _, p := range demo.People() {
		if strings.EqualFold(p.GivenName, name) {
			return p.RegistryID
		}
	}
	return ""
}

// token is that of a new session of a person of the demo, or of someone new.
func (s *site) token(name string) string {
	s.Helper()
	user := identity.Person{RegistryID: registryID(name)}
	if user.RegistryID == "" {
		user = identity.Person{RegistryID: name, GivenName: name, FamilyName: "New", Email: name + "@example.org"}
	}
	signed, err := s.app.Accounts.SignIn(s.Context(), user, person.Registration{})
	s.must(err)
	return signed.Token
}

// material is the id of one of the sample data by its title.
func (s *site) material(title string) int64 {
	s.Helper()
	return s.id("SELECT id FROM materials WHERE title = $1 ORDER BY id LIMIT 1", title)
}

// request is the id of the first one for a material.
func (s *site) request(material string) int64 {
	s.Helper()
	return s.id("SELECT r.id FROM material_requests r JOIN materials m ON m.id = r.material_id WHERE m.title = $1 "+
		"ORDER BY r.id LIMIT 1", material)
}

func (s *site) lab(name string) int64 {
	s.Helper()
	return s.id("SELECT id FROM organizations WHERE name = $1", name)
}

func (s *site) id(query, name string) (id int64) {
	s.Helper()
	if err := storetest.SQL(s, s.db).QueryRowContext(s.Context(), query, name).Scan(&id); err != nil {
		s.Fatalf("the sample data have no %s: %v", name, err)
	}
	return id
}
