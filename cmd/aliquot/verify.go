package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/app/evidence"
	"aliquot/internal/config"
	"aliquot/internal/dossier"
	"aliquot/internal/exchange"
)

// verify is "aliquot verify".
type verify struct {
	config.Base
	Since   string   `help:"${since}"`
	Files   bool     `setting:"" help:"Check the content of every stored file too."`
	FilesIn string   `setting:"files" help:"${files_in}"`
	Keys    []string `name:"log-key" help:"${dossier_key}"`
	TSA     string   `name:"tsa" help:"For a dossier: file of the certificates (PEM) of the timestamping authority."`
	Dossier string   `arg:"" optional:"" help:"Check this dossier instead, without any database."`
}

// Run verifies and fails if something is wrong.
func (v *verify) Run(e environment) error {
	if v.Dossier != "" {
		if v.Since != "" || v.Files {
			return errors.New("since and files are for the database; leave them out to check a dossier")
		}
		return v.checkDossier(e)
	}
	if len(v.Keys) > 0 || v.TSA != "" {
		return errors.New("log-key and tsa are for a dossier; name its file")
	}
	show := progressOn(e.stderr)
	how := evidence.Verification{Files: v.Files, Fault: func(err error) { _, _ = fmt.Fprintln(e.stdout, err) },
		Progress: func(done, total int64) {
			show(exchange.Progress{Done: done, Total: total, Note: "checking events"})
		}}
	if v.Since != "" {
		var err error
		if how.Since, err = readSmall(v.Since, 1<<20); err != nil {
			return fmt.Errorf("since: %w", err)
		}
	}
	return withApp(e, config.Store{Base: v.Base, Files: v.FilesIn}, func(ctx context.Context, a *app.App) error {
		r, err := a.Evidence.Verify(ctx, how)
		if err != nil {
			return err
		}
		if !r.Structure {
			_, _ = fmt.Fprintln(e.stdout, "The structure of the database was not checked: PostgreSQL needs the "+
				"extension amcheck, and the right to use it.")
		}
		files := ""
		if v.Files {
			files = fmt.Sprintf(", %d files of %d bytes", r.Files, r.Bytes)
		}
		_, _ = fmt.Fprintf(e.stdout, "%d events, %d requests, a log of %d entries, %d checkpoints%s checked in %s "+
			"(%.0f events/s): %d faults\n", r.Events, r.Requests, r.Entries, r.Checkpoints, files,
			r.Took.Round(time.Millisecond), float64(r.Events)/max(r.Took.Seconds(), 1e-3), r.FaultCount)
		if r.FaultCount > 0 {
			return errors.New("the record was altered or is damaged")
		}
		return nil
	})
}

// readSmall reads a file of at most a number of bytes.
func readSmall(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", path, most)
	}
	return text, err
}

// checkDossier checks a dossier and prints what it proves.
func (v *verify) checkDossier(e environment) error {
	trust := dossier.Trust{Keys: v.Keys}
	if v.TSA != "" {
		pem, err := readSmall(v.TSA, 1<<20)
		if err != nil {
			return fmt.Errorf("tsa: %w", err)
		}
		if trust.Authorities = x509.NewCertPool(); !trust.Authorities.AppendCertsFromPEM(pem) {
			return fmt.Errorf("tsa: there is no certificate in %s", v.TSA)
		}
	}
	file, err := os.Open(v.Dossier)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	r, err := dossier.Check(file, trust)
	if err != nil {
		return fmt.Errorf("NOT VALID: %w", err)
	}
	for _, c := range r.Chains {
		_, _ = fmt.Fprintf(e.stdout, "%s: %d events, in the log %s of %d entries\n", c.Name, c.Head.Seq,
			r.Checkpoint.Origin, r.Checkpoint.Size)
		var erased []string
		for value, at := range c.Erased {
			erased = append(erased, fmt.Sprintf("%s: %s was erased on %s", c.Name, value,
				at.UTC().Format(time.DateOnly)))
		}
		slices.Sort(erased)
		for _, line := range erased {
			_, _ = fmt.Fprintln(e.stdout, line)
		}
	}
	_, _ = fmt.Fprintf(e.stdout, "%d documents, signed by %s\n", len(r.Documents), strings.Join(r.Signers, ", "))
	if r.Stamped != nil {
		_, _ = fmt.Fprintf(e.stdout, "timestamp: %s\n", r.Stamped.UTC().Format(time.RFC3339))
	}
	if len(v.Keys) == 0 {
		_, _ = fmt.Fprintf(e.stdout, "The keys are those in the dossier; compare them with the ones that the "+
			"institution publishes:\n%s\n", strings.Join(r.Keys, "\n"))
	}
	_, err = fmt.Fprintln(e.stdout, "VALID")
	return err
}
