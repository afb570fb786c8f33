package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
)

// protocol returns the draft of a protocol by its DOI, or by the address of its page. protocols.io requires a token for
// every call; if it does not accept ours, Crossref still has title, authors and date.
func (im *Importer) protocol(ctx context.Context, id string) (Draft, error) {
	p, err := im.ioProtocol(ctx, id)
	switch {
	case err == nil:
		return p.draft(id), nil
	case kindOf(err) != refused || im.protocols.bearer != "":
		return Draft{}, err
	}
	// The DOI of a page is only in its record, since the codes of the two may differ.
	doi, isDOI := strings.CutPrefix(id, "dx.doi.org/")
	var known material.Publication
	if isDOI {
		known, err = im.crossrefWork(ctx, doi)
	}
	if !isDOI || err != nil {
		e := exchange.Errorf(exchange.Unavailable, "This server has no token for protocols.io (setting "+
			"protocols-token), and Crossref gives no title for it instead. Please tell its operator, or give the DOI.").
			With("source", im.protocols.name).With("retry_after", int(time.Hour.Seconds()))
		e.Cause = shortError{err}
		return Draft{}, e
	}
	d := ioProtocol{DOI: id, Title: known.Title}.draft(id)
	d.Material.Citation = exchange.NullOf(known.Citation)
	d.Warnings = append(d.Warnings, "This server has no token for protocols.io (setting protocols-token): title and "+
		"citation are from Crossref, and the abstract is missing.")
	return d, nil
}

// ioProtocol is a protocol as protocols.io shows it, in the versions 4, 3 and 1 of its API.
type ioProtocol struct {
	Title       string          `json:"title"`
	OldName     string          `json:"protocol_name"`
	Description string          `json:"description"`
	DOI         string          `json:"doi"` // "" while it is not published
	URI         string          `json:"uri"`
	URL         string          `json:"url"`
	Published   flexString      `json:"published_on"` // Unix seconds; 0 never
	Authors     json.RawMessage `json:"authors"`
	Citation    string          `json:"manuscript_citation"`
	Versions    []struct {
		DOI string `json:"doi"`
	} `json:"versions"`
}

func (im *Importer) ioProtocol(ctx context.Context, id string) (ioProtocol, error) {
	name := strings.TrimPrefix(id, "dx.doi.org/")
	if slug, ok := identifier.ProtocolsPage(id); ok {
		name = slug
	}
	p, err := ask(ctx, im, im.protocols, "api/v4/protocols/"+url.PathEscape(name),
		url.Values{"content_format": {"html"}}, readProtocol)
	if err != nil && kindOf(err) == unknown {
		p, err = ask(ctx, im, im.protocols, "api/v3/protocols/"+url.PathEscape(name), nil, readProtocol)
	}
	if err == nil && !p.is(id) {
		err = im.protocols.garbled(fmt.Errorf("asked for %s, got %.100q", id, p.DOI))
	}
	return p, err
}

var version = regexp.MustCompile(`/v\d+$`)

// is reports whether the protocol is the one named by id, in any version.
func (p ioProtocol) is(id string) bool {
	if _, isPage := identifier.ProtocolsPage(id); isPage || p.DOI == "" {
		return true
	}
	dois := []string{p.DOI}
	for _, v := range p.Versions {
		dois = append(dois, v.DOI)
	}
	for _, doi := range dois {
		if canonical, err := identifier.ProtocolsDOI(doi); err == nil &&
			version.ReplaceAllString(canonical, "") == version.ReplaceAllString(id, "") {
			return true
		}
	}
	return false
}

// tokenProblem are the codes with which protocols.io refuses a token, whatever the HTTP status.
var tokenProblem = map[flexString]bool{"1218": true, "1219": true, "401": true}

// ioEnvelope wraps every answer of protocols.io; version 1 has no envelope.
type ioEnvelope struct {
	Status   flexString  `json:"status_code"`
	Message  string      `json:"error_message"`
	Text     string      `json:"status_text"`
	Protocol *ioProtocol `json:"protocol"` // version 3
	Payload  *ioProtocol `json:"payload"`  // version 4
	ioProtocol
}

func (e ioEnvelope) err() error {
	return fmt.Errorf("protocols.io: status_code %.20s: %.200s%.200s", e.Status, e.Message, e.Text)
}

// refusesToken returns an error if an error of protocols.io is about our token.
func refusesToken(body []byte) error {
	var e ioEnvelope
	if json.Unmarshal(body, &e) == nil &&
		(tokenProblem[e.Status] || strings.Contains(strings.ToLower(e.Message+e.Text), "token")) {
		return e.err()
	}
	return nil
}

// readProtocol reads a protocol in the envelope of any version. A status_code other than 0 is an
// error whatever the HTTP status says.
func readProtocol(r io.Reader) (ioProtocol, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return ioProtocol{}, err
	}
	var e ioEnvelope
	if err := json.Unmarshal(raw, &e); err != nil {
		return ioProtocol{}, fmt.Errorf("protocols.io: %w", err)
	}
	if e.Status != "" && e.Status != "0" {
		if err := refusesToken(raw); err != nil {
			return ioProtocol{}, &failure{kind: refused, cause: err}
		}
		return ioProtocol{}, &failure{kind: unknown, cause: e.err()}
	}
	p := e.ioProtocol
	if e.Payload != nil {
		p = *e.Payload
	} else if e.Protocol != nil {
		p = *e.Protocol
	}
	if p.Title == "" {
		p.Title = p.OldName
	}
	if len(p.Title)+len(p.Description)+len(p.Authors)+len(p.Citation) > maxText {
		return ioProtocol{}, errors.New("protocols.io: more text than any protocol has")
	}
	if p.Title = line(plain(p.Title)); p.Title == "" {
		return ioProtocol{}, errors.New("protocols.io: no title")
	}
	return p, nil
}

// abstract returns the description as plain text: it is HTML, or an editor document in JSON.
func (p ioProtocol) abstract() string {
	var document struct {
		Blocks []struct {
			Text string `json:"text"`
		} `json:"blocks"`
	}
	if json.Unmarshal([]byte(p.Description), &document) == nil {
		var texts []string
		for _, block := range document.Blocks {
			texts = append(texts, block.Text)
		}
		return paragraphs(strings.Join(texts, "\n"))
	}
	return plain(p.Description)
}

// authors returns the names, from a list of objects or from one text.
func (p ioProtocol) authors() []string {
	var list []author
	var text string
	if json.Unmarshal(p.Authors, &list) != nil && json.Unmarshal(p.Authors, &text) == nil {
		list = []author{author(text)}
	}
	var names set
	for _, a := range list {
		names.add(string(a))
	}
	return names
}

// draft returns the material; id is the identifier that was asked for.
func (p ioProtocol) draft(id string) Draft {
	doi, err := identifier.ProtocolsDOI(p.DOI)
	if err != nil {
		doi, _ = identifier.ProtocolsDOI(id) // it was parsed before
	}
	w := work{title: p.Title, authors: p.authors(), journal: "protocols.io",
		doi: strings.TrimPrefix(doi, "dx.doi.org/")}
	d := Draft{}
	if seconds, err := time.ParseDuration(string(p.Published) + "s"); err == nil && seconds > 0 {
		day := time.Unix(0, 0).Add(seconds).UTC().Format(time.DateOnly)
		w.date, d.Released = day, exchange.Date(day)
	}
	d.Material.Category = exchange.Some("PROTOCOL")
	d.Material.Title = exchange.Some(shorten(p.Title, exchange.TitleLength))
	d.Material.URL = exchange.Some(p.page(doi))
	d.Material.Metadata = metadata(map[string]any{
		"protocol_name": shorten(p.Title, exchange.LineLength),
		"abstract":      shorten(p.abstract(), exchange.LongLength),
		"protocol_doi":  doi,
	})
	d.Material.Citation = exchange.NullOf(w.publication().Citation)
	if text := plain(p.Citation); text != "" {
		d.Material.AdditionalInfo = exchange.NullOf(shorten("Published with: "+text, exchange.LongLength))
	}
	return d
}

var (
	pageURI     = regexp.MustCompile(`^[A-Za-z0-9-]{1,200}(/v\d+)?$`)
	pageAddress = regexp.MustCompile(`^https://(?:www\.)?protocols\.io/view/[A-Za-z0-9/-]{1,250}$`)
)

// page returns the address of the protocol's page; an address outside protocols.io is not passed on.
func (p ioProtocol) page(doi string) string {
	switch {
	case pageAddress.MatchString(p.URL):
		return p.URL
	case pageURI.MatchString(p.URI):
		return "https://www.protocols.io/view/" + p.URI
	}
	return "https://" + doi
}
