package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"aliquot/internal/config"
	"aliquot/internal/exchange/material"
	"aliquot/internal/importer"
)

// importFrom returns the importer for the configured sources.
func importFrom(s config.Sources, publicURL string, transport http.RoundTripper,
	sent importer.Calls, count func(source, result string, took time.Duration)) (*importer.Importer, error) {
	public, err := url.Parse(publicURL)
	if err != nil {
		return nil, fmt.Errorf("public-url: %w", err)
	}
	if err := s.Complete(public.Hostname()); err != nil {
		return nil, err
	}
	return importer.New(importer.Config{
		GEO: s.GEOURL, EUtils: s.EUtilsURL, ENA: s.ENAURL, Protocols: s.ProtocolsURL, Crossref: s.CrossrefURL,
		EUtilsKey: s.EUtilsKey, ProtocolsToken: s.ProtocolsToken, Email: s.ContactEmail, Transport: transport,
		Calls: sent, Count: count,
	})
}

// imports is "aliquot import": of a spreadsheet or, with --record, of answers of the public sources.
type imports struct {
	bulk
	fixtures
	What []string `arg:"" name:"file" help:"${import_file}"`
}

// Run imports.
func (i *imports) Run(e environment) error {
	switch {
	case i.Record != "":
		return i.fixtures.run(e, i.What)
	case len(i.What) != 1:
		return errors.New("name one file")
	case i.Organization < 1:
		return errors.New("--organization is missing: the id of the organization whose materials they are")
	}
	return i.bulk.run(e, i.What[0])
}

// fixtures is "aliquot import --record".
type fixtures struct {
	config.Sources
	Record string `placeholder:"FOLDER" help:"${import_record}"`
}

// run imports a draft for each identifier and prints what it would create. It continues after a failure and fails at
// the end.
func (i *fixtures) run(e environment, identifiers []string) error {
	folder, err := importer.OpenRecord(i.Record)
	if err != nil {
		return err
	}
	from, err := importFrom(i.Sources, "http://localhost", folder, nil, nil)
	if err != nil {
		return errors.Join(err, folder.Close())
	}
	failed := 0
	for _, identifier := range identifiers {
		title, err := titleOf(e.ctx, from, identifier)
		if err != nil {
			failed++
			title = "failed: " + err.Error()
		}
		_, _ = fmt.Fprintf(e.stdout, "%s\t%s\n", identifier, title)
	}
	if err := folder.Close(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d could not be fetched", failed, len(identifiers))
	}
	return nil
}

// titleOf returns the title of the draft for an identifier, from the source that accepts it.
func titleOf(ctx context.Context, from *importer.Importer, identifier string) (string, error) {
	order, err := material.ParseImportIdentifier(identifier)
	if err != nil {
		return "", err
	}
	d, err := from.Draft(ctx, order)
	return d.Material.Title.Value, err
}
