package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/api"
	"aliquot/internal/app"
	"aliquot/internal/app/core"
	"aliquot/internal/clamd"
	"aliquot/internal/config"
	"aliquot/internal/demo"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/files"
	"aliquot/internal/importer"
	"aliquot/internal/job"
	"aliquot/internal/limit"
	"aliquot/internal/mail"
	"aliquot/internal/notice"
	"aliquot/internal/paper"
	"aliquot/internal/record"
	"aliquot/internal/seal"
	"aliquot/internal/server"
	"aliquot/internal/store"
	"aliquot/internal/store/sqldb"
	"aliquot/internal/web"
	"aliquot/internal/webhook"
	"aliquot/internal/witness"
)

// serve is "aliquot serve".
type serve struct {
	config.Store
	config.Server
	config.Sources
}

// memoryGoal is the heap limit as long as the data in use fits: workbooks leave much garbage behind.
const memoryGoal = 400 << 20

// drainTime is how long running jobs have when the process is asked to stop, the same as answers.
const drainTime = 20 * time.Second

// Run serves until it is asked to stop.
func (s *serve) Run(e environment) error {
	if err := s.Check(&s.Store); err != nil {
		return err
	}
	log := e.logger(s.Log)
	recordKey, err := s.RecordKeyPath()
	if err != nil {
		return err
	}
	trusted, err := s.Proxies()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	if s.PublicURL == "" {
		s.PublicURL = "http://" + l.Addr().String()
	}
	if s.Mail == "" {
		s.Mail = "file:" + s.MailsPath()
		log.Info("no mail server is set: messages are written to a folder", "folder", s.MailsPath())
	}
	post, err := mail.Open(s.Mail, s.Sender(), log)
	if err != nil {
		return err
	}
	if s.Role != "worker" {
		s.Database = sqldb.Serving(s.Database)
	}
	db, content, err := open(e, s.Store)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(content.Close(), db.Close()) }()
	if ran, err := db.Migrate(e.ctx, false); err != nil {
		return err
	} else if len(ran) > 0 {
		log.Info("migrated", "files", ran)
	}
	if err := unlock(e.ctx, db, s.Store); err != nil {
		return err
	}

	db.Log, db.SlowAfter = log, s.SlowQuery
	ops, err := s.observe(e, db, log)
	if err != nil {
		return err
	}
	if s.StandbyReads {
		if err := db.UseStandbys(); err != nil {
			return err
		}
	}
	defer func() {
		if err := ops.close(); err != nil {
			log.Warn("the last traces were not sent", "error", err)
		}
	}()
	ctx, stop := context.WithCancel(context.WithoutCancel(e.ctx))
	var background sync.WaitGroup
	defer background.Wait()
	defer stop()
	context.AfterFunc(e.ctx, func() { time.AfterFunc(s.StopDelay, stop) })
	mux := http.NewServeMux()
	who, err := s.identity(mux)
	if err != nil {
		return err
	}
	var sent importer.Calls // of this process: it is alone with an SQLite database
	if db.Postgres() {
		sent = core.SourceCalls{DB: db}
	}
	sources, err := importFrom(s.Sources, s.PublicURL, nil, sent, ops.countSource)
	if err != nil {
		return err
	}
	words, err := notice.New(s.PublicURL)
	if err != nil {
		return fmt.Errorf("public-url: %w", err)
	}
	witnesses, err := witness.Parse(s.Witnesses)
	if err != nil {
		return fmt.Errorf("witnesses: %w", err)
	}
	sealer, err := s.sealer()
	if err != nil {
		return err
	}
	scanner, err := s.scanner()
	if err != nil {
		return err
	}
	presigned, holds, err := s.bucket(e.ctx, content, log)
	if err != nil {
		return err
	}
	embargoes, err := readFile("destinations", s.Destinations, requirement.ReadDestinations)
	if err != nil {
		return err
	}
	further, err := s.providers()
	if err != nil {
		return err
	}
	a := app.New(app.Config{
		DB: db, PublicURL: s.PublicURL, Files: content, Identity: who, Providers: further,
		AffiliationDays: s.AffiliationLifetime,
		Importer:        sources, Mail: post, Notice: words,
		Access: exchange.Access(s.Access), Registration: s.Registration, Admins: s.Admins,
		TokenLifetime: s.TokenLifetime, UploadLimit: int64(s.UploadLimit), Grace: s.DeletedContent,
		Reminders: s.Reminders, Escalation: request.Escalation(s.Escalation),
		Sender: webhook.New(s.WebhookPrivate), Log: log, Capacity: s.capacity(),
		Quotas:        core.Quotas{User: int64(s.QuotaUser), Lab: int64(s.QuotaLab)},
		DocumentTypes: s.DocumentTypes, LogKeys: func() (record.Keys, error) { return record.ReadKeys(recordKey) },
		Witnesses: witnesses, TimestampURL: s.TSAURL, ErasedList: s.ErasedPath(), Sealer: sealer,
		Destinations: embargoes, PaperReader: s.paperReader(log), Scanner: scanner, Presigned: presigned, Holds: holds,
	})
	if err := openRecordKey(e.ctx, a, recordKey); err != nil {
		return err
	}
	if err := a.Accounts.CheckProviders(e.ctx); err != nil {
		return fmt.Errorf("identity-providers: %s: %w", s.IdentityProviders, err)
	}
	if s.Demo {
		if err := demo.Fill(e.ctx, a); err != nil {
			return fmt.Errorf("sample data: %w", err)
		}
	}
	if err := a.Evidence.SignFirst(e.ctx); err != nil {
		log.Warn("the log is not signed yet; a job tries again", "error", err)
	}
	if err := a.Accounts.GrantAdmins(e.ctx); exchange.CodeOf(err) == exchange.StorageFull {
		log.Warn("the storage is full; the admins of the setting are not made", "error", err)
	} else if err != nil {
		return err
	}
	needs := []server.Need{{Name: "another process: this one stops",
		Ready: func(context.Context) error { return e.ctx.Err() }},
		{Name: "database", Ready: db.Ready}, {Name: "files", Ready: writable(db, content)}}
	watches := s.Role != "worker" && who != nil && s.Identity != "demo" // demo: the provider is this process
	if watches {
		needs = append(needs, server.Need{Name: "identity provider", Ready: who.Ready})
	}
	if s.Role == "worker" {
		further = nil // nobody signs in here
	}
	for _, p := range further {
		needs = append(needs, server.Need{Name: "identity provider " + p.Name, Ready: p.Ready, Optional: true})
	}
	if scanner != nil {
		needs = append(needs, server.Need{Name: "clamd", Ready: scanner.Ready, Optional: true})
		ops.watchScanner(scanner.Ready)
	}
	if holds != nil {
		needs = append(needs, server.Need{Name: "held files", Ready: heldInTime(a), Optional: true})
		ops.watchHolds(a.Documents.NotHeld)
	}
	server.Health(mux, log, needs...)
	divide := []func(processes int){a.Divide}
	if s.Role != "worker" {
		server := api.New(a, log)
		server.Origins, server.Stop = s.CORSOrigins, ctx.Done()
		if s.RateLimit == "on" {
			if server.Limits, err = limit.NewGates(limit.User, limit.Address, limit.Login); err != nil {
				return err
			}
			divide = append(divide, server.Limits.Divide)
		}
		if err := web.Mount(mux,
			web.Config{App: a, OpenAPI: server.Contract, Version: built(), Stop: ctx.Done(), Limits: server.Limits,
				Rest: server}); err != nil {
			return err
		}
	}
	var workers []*job.Worker
	for _, does := range []struct {
		handlers []job.Handler
		heavy    job.Heavy
	}{{a.Handlers(), job.Heavy{}}, {a.Senders(), job.Heavy{Slots: s.Workers, Each: max(1, s.Workers/4)}}} {
		worker, err := job.New(job.Config{DB: db, Log: log, Handlers: does.handlers, Slots: s.Workers,
			Heavy: does.heavy, Lease: s.JobLease, Drain: drainTime, Observers: ops.jobs})
		if err != nil {
			return err
		}
		workers = append(workers, worker)
	}
	background.Go(func() { a.SaveRefusals(ctx) })
	background.Go(func() { ops.serve(ctx) })
	if db.Postgres() && s.Role != "worker" {
		background.Go(func() { divideLimits(ctx, db, log, divide) })
	}
	if watches {
		background.Go(func() { a.Accounts.WatchIdentity(ctx) })
	}
	for _, p := range further {
		background.Go(func() { a.Accounts.WatchProvider(ctx, p) })
	}
	if s.Role != "web" {
		for _, worker := range workers {
			background.Go(func() { worker.Run(ctx) })
		}
	}
	if _, err := fmt.Fprintf(e.stdout, "Aliquot is ready at %s\n", s.PublicURL); err != nil {
		return err
	}
	systemd(e.getenv, log, "READY=1")
	defer context.AfterFunc(e.ctx, func() { systemd(e.getenv, log, "STOPPING=1") })()
	releaseMemory()
	defer time.AfterFunc(10*time.Second, releaseMemory).Stop() // the jobs that start-up enqueues have run by then
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {             // otherwise GOMEMLIMIT is set
		debug.SetMemoryLimit(memoryGoal)
	}
	background.Go(func() { watchdog(ctx, e.getenv, l.Addr(), log) })
	site := server.NewSite(s.PublicURL)
	return server.Serve(ctx, l, ops.load.Shed(site.Secure(server.OnlyClean(mux))), trusted, log, ops.requests...)
}

// paperTime is how long reading an uploaded agreement may take; the first one includes compiling the reader.
const paperTime = time.Minute

// paperReader returns what reads uploaded agreements: this program, in processes of their own.
func (s *serve) paperReader(log *slog.Logger) paper.Reader {
	program, err := os.Executable()
	if err != nil {
		log.Warn("uploaded agreements cannot be read", "error", err)
		return paper.Reader{}
	}
	return paper.Reader{Command: []string{program, "read-paper", "--cache", s.ReaderPath()}, Limit: paperTime}
}

// scanner returns the client of the setting files-scan; nil if files are not scanned.
func (s *serve) scanner() (*clamd.Client, error) {
	if s.FilesScan == "" {
		return nil, nil //nolint:nilnil // no scanner
	}
	c, err := clamd.New(s.FilesScan)
	if err != nil {
		return nil, fmt.Errorf("files-scan: %w", err)
	}
	return c, nil
}

// readFile reads the file that a setting names; the zero value without one.
func readFile[T any](setting, path string, read func(io.Reader) (T, error)) (value T, err error) {
	if path == "" {
		return value, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return value, fmt.Errorf("%s: %w", setting, err)
	}
	defer func() { _ = file.Close() }()
	if value, err = read(file); err != nil {
		return value, fmt.Errorf("%s: %s: %w", setting, path, err)
	}
	return value, nil
}

// stampTime is how long an authority for timestamps has to answer: whoever executes an agreement waits for it.
const stampTime = 2 * time.Second

// sealer opens the key and the certificate for seals, which the first start makes for the host of public-url.
func (s *serve) sealer() (*seal.Sealer, error) {
	host, err := url.Parse(s.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("public-url: %w", err)
	}
	var files seal.Files
	files.Key, files.Certificate, files.Made = s.SealFiles()
	key, chain, err := files.Open(host.Hostname(), time.Now())
	if err != nil {
		return nil, err
	}
	if s.TSAURL == "" {
		return seal.New(key, chain, nil), nil
	}
	client := &http.Client{Timeout: stampTime}
	return seal.New(key, chain, func(message []byte) ([]byte, error) {
		return witness.Timestamp(context.Background(), client, s.TSAURL, message, nil)
	}), nil
}

// releaseMemory returns to the system what start-up leaves: half of the heap, and most pages of the executable.
func releaseMemory() {
	debug.FreeOSMemory()
	releaseExecutable()
}

// writable returns a check of whether database and files can be written to.
func writable(db *store.DB, content files.Store) func(context.Context) error {
	return func(ctx context.Context) error {
		err := content.Check(ctx)
		if db.Full() || exchange.CodeOf(err) == exchange.StorageFull {
			return server.ErrStorageFull
		}
		return err
	}
}

// open opens the database and the files of an installation, and creates their folder.
func open(e environment, s config.Store) (*store.DB, files.Store, error) {
	corrected, err := s.Prepare()
	if err != nil {
		return nil, nil, err
	}
	if corrected > 0 {
		e.logger(s.Log).Warn("others could open the data folder or files in it; now only their owner can", "folder",
			s.Data, "corrected", corrected)
	}
	db, err := store.Open(e.ctx, s.DatabasePath())
	if err != nil {
		return nil, nil, err
	}
	content, err := openFiles(s)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, content, nil
}

// openFiles opens the files of an installation.
func openFiles(s config.Store) (files.Store, error) {
	content, err := files.Open(s.FilesPath(), s.UploadsPath())
	if err != nil {
		return nil, fmt.Errorf("files: %w", err)
	}
	return content, nil
}
