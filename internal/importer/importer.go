// Package importer turns an identifier of a public source into the draft of a material: series of GEO, studies of the
// Sequence Read Archives (NCBI, with ENA as second source) and protocols of protocols.io; and it looks publications up
// at PubMed and Crossref. It knows no database and stores nothing. Every answer of a source is untrusted: limited in
// size, checked, and kept as plain text.
package importer

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"

	"github.com/maypok86/otter/v2"
)

// Config holds the addresses of the sources and how to call them.
type Config struct {
	// Base addresses; "" is the public service. An address without a path gets the path of the public service, so that
	// http://127.0.0.1:9000 is enough.
	GEO, EUtils, ENA, Protocols, Crossref string

	EUtilsKey      string // of NCBI, for 10 calls a second instead of 3
	ProtocolsToken string // client access token of protocols.io; without it Crossref answers
	Email          string // sent to the sources, which ask for an address to report problems to

	Transport http.RoundTripper // nil: http.DefaultTransport
	Pace      int               // calls a second to each source; 0: the source's own limit
	Calls     Calls             // nil: those of this process
	Patience  time.Duration     // for one answer; 0: 20 seconds
	Pause     time.Duration     // before a second try; 0: half a second
	// Count is called after each request with its source and result: ok, unknown, garbled, refused or down; nil: it is
	// not.
	Count func(source, result string, took time.Duration)
}

const (
	patience   = 20 * time.Second
	whole      = 45 * time.Second // for one draft, whatever number of calls it needs
	remembered = 24 * time.Hour
	maxKept    = 500 // answers in the cache
)

// Importer asks the sources. It may be used by several goroutines at once.
type Importer struct {
	cfg    Config
	client *http.Client

	geo, eutils, ena, protocols, crossref *source

	mu      sync.Mutex
	flights map[string]*flight
	answers *otter.Cache[string, any] // by address; as returned by the readers
}

// New returns an Importer without asking any source. The error names the invalid setting.
func New(cfg Config) (*Importer, error) {
	cfg.Patience, cfg.Pause = cmp.Or(cfg.Patience, patience), cmp.Or(cfg.Pause, 500*time.Millisecond)
	if cfg.Calls == nil {
		cfg.Calls = &memory{calls: map[string][]time.Time{}}
	}
	im := &Importer{cfg: cfg, flights: map[string]*flight{}}
	im.client = &http.Client{Transport: cfg.Transport, CheckRedirect: sameHost}
	ncbi := url.Values{"tool": {"aliquot"}, "email": {cfg.Email}}
	often := 3 // calls a second
	if cfg.EUtilsKey != "" {
		ncbi.Set("api_key", cfg.EUtilsKey)
		often = 10
	}
	for _, s := range []struct {
		at      **source
		setting string
		name    string
		base    string
		public  string
		pace    pace
		always  url.Values
		bearer  string
	}{
		{&im.geo, "geo-url", "GEO", cfg.GEO, "https://www.ncbi.nlm.nih.gov/geo/", newPace(3, time.Second), nil, ""},
		{&im.eutils, "eutils-url", "NCBI E-utilities", cfg.EUtils, "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/",
			newPace(often, time.Second), ncbi, ""},
		{&im.ena, "ena-url", "ENA", cfg.ENA, "https://www.ebi.ac.uk/ena/", newPace(10, time.Second), nil, ""},
		{&im.protocols, "protocols-url", "protocols.io", cfg.Protocols, "https://www.protocols.io/",
			newPace(100, time.Minute), nil, cfg.ProtocolsToken},
		{&im.crossref, "crossref-url", "Crossref", cfg.Crossref, "https://api.crossref.org/", newPace(3, time.Second),
			url.Values{"mailto": {cfg.Email}}, ""},
	} {
		base, err := baseAddress(s.base, s.public)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.setting, err)
		}
		if cfg.Pace > 0 {
			s.pace = newPace(cfg.Pace, time.Second)
		}
		*s.at = &source{name: s.name, base: base, pace: s.pace, always: s.always, bearer: s.bearer}
	}
	im.protocols.refuses = refusesToken
	var err error
	im.answers, err = otter.New(&otter.Options[string, any]{
		MaximumSize: maxKept, ExpiryCalculator: otter.ExpiryWriting[string, any](remembered),
	})
	return im, err
}

// Draft is a material as a source describes it.
type Draft struct {
	Material material.Patch // without organization and contact
	Released exchange.Date  // the day since which, or on which, the source shows it; "" if it does not say
	Warnings []string       // what the sources left out; sentences for the user
}

// Draft asks the source that o names. Errors: InvalidInput on the field of the identifier if the source does not know
// it, Unavailable if a source does not answer (with "source" and "retry_after"), InvalidAnswer if its answer cannot be
// used.
func (im *Importer) Draft(ctx context.Context, o material.ImportOptions) (d Draft, err error) {
	within, cancel := context.WithTimeout(ctx, whole)
	defer cancel()
	switch o.Source {
	case material.SourceGEO:
		d, err = im.series(within, o.Identifier)
	case material.SourceSRA:
		d, err = im.study(within, o.Identifier)
	default:
		d, err = im.protocol(within, o.Identifier)
	}
	if err != nil {
		return Draft{}, contractError(ctx, o.Field(), o.Identifier, err)
	}
	if _, err := time.Parse(time.DateOnly, string(d.Released)); err != nil {
		d.Released = ""
	}
	d.Material.Imported, d.Material.ImportSource = exchange.Some(true), exchange.Some(o.Source)
	return d, nil
}

// baseAddress returns the address of a setting, or the public one; it ends in a slash.
func baseAddress(setting, public string) (*url.URL, error) {
	usual, err := url.Parse(public)
	if err != nil || setting == "" {
		return usual, err
	}
	base, err := url.Parse(setting)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" ||
		(base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("%q is not a web address, such as %s", setting, public)
	}
	if strings.Trim(base.Path, "/") == "" {
		base.Path = usual.Path
	}
	base.Path = strings.TrimRight(base.Path, "/") + "/"
	return base, nil
}
