// Package config holds every setting of Aliquot in one struct, with its default and its help text. docs/settings.md is
// generated from it; a test keeps the two equal.
package config

import (
	"errors"
	"fmt"
	"mime"
	"net"
	"net/mail"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"
)

// Store holds the settings of where an installation keeps its data; every command has them.
type Store struct {
	Base
	Files string `help:"${files}"`
}

// Base is Store less the setting files, for the command that has another flag of this name.
type Base struct {
	Data      string `default:"./aliquot-data" help:"${data}"`
	Database  string `help:"${database}"`
	SecretKey string `name:"secret-key" help:"${secret_key}"`
	RecordKey string `name:"record-key" help:"${record_key}"`
	SealKey   string `name:"seal-key" help:"${seal_key}"`
	SealCert  string `name:"seal-certificate" help:"${seal_certificate}"`
	Log       string `enum:"auto,text,json" default:"auto" help:"${log}"`
}

// DatabasePath returns the argument of store.Open.
func (s Base) DatabasePath() string {
	if s.Database != "" {
		return s.Database
	}
	return s.Data + "/aliquot.db"
}

// FilesPath returns where the content of attachments is, as files.Open takes it: a folder, or the address of a bucket.
func (s Store) FilesPath() string {
	if s.Files != "" {
		return s.Files
	}
	return s.Data + "/files"
}

// FilesFolder returns FilesPath if that is a folder; otherwise it is empty.
func (s Store) FilesFolder() string {
	if strings.HasPrefix(s.Files, "s3://") {
		return ""
	}
	return s.FilesPath()
}

// UploadsPath returns the folder in which uploads to a bucket wait until all of them is there.
func (s Store) UploadsPath() string { return filepath.Join(s.Data, "uploads") }

// Server holds the settings of "aliquot serve" in addition to Store.
type Server struct {
	Addr                 string        `default:"127.0.0.1:8080" help:"Listening address; port 0 picks a free port."`
	PublicURL            string        `name:"public-url" help:"${public_url}"`
	Access               string        `enum:"open,members," default:"" help:"${access}"`
	Identity             string        `help:"${identity}"`
	IdentityClientID     string        `name:"identity-client-id" help:"Client id at the identity provider."`
	IdentityClientSecret string        `name:"identity-client-secret" help:"Client secret at the identity provider."`
	IdentityProviders    string        `name:"identity-providers" help:"${identity_providers}"`
	AffiliationLifetime  int           `name:"affiliation-lifetime" default:"90" help:"${affiliation_lifetime}"`
	Registration         []string      `default:"open" help:"${registration}"`
	Admins               []string      `help:"Registry ids of admins."`
	TokenLifetime        time.Duration `default:"720h" help:"How long a token is valid."`
	UploadLimit          Bytes         `default:"100MiB" help:"Maximum size of a file."`
	FilesScan            string        `name:"files-scan" help:"${files_scan}"`
	FilesHold            bool          `name:"files-hold" help:"${files_hold}"`
	FilesLinks           bool          `name:"files-links" help:"${files_links}"`
	DocumentTypes        []string      `name:"document-types" default:"${document_types}" help:"${document_types_help}"`
	QuotaUser            Bytes         `name:"quota-user" default:"5GiB" help:"${quota_user}"`
	QuotaLab             Bytes         `name:"quota-lab" default:"100GiB" help:"${quota_lab}"`
	CORSOrigins          []string      `name:"cors-origins" help:"${cors_origins}"`
	TrustedProxies       []string      `name:"trusted-proxies" help:"${trusted_proxies}"`
	RateLimit            string        `enum:"on,off" default:"on" help:"${rate_limit}"`
	Mail                 string        `help:"${mail}"`
	MailFrom             string        `name:"mail-from" help:"${mail_from}"`
	Destinations         string        `help:"${destinations}"`
	Reminders            []int         `default:"7,14,28" help:"${reminders}"`
	Escalation           int           `default:"21" help:"${escalation}"`
	WebhookPrivate       bool          `name:"webhook-private" help:"${webhook_private}"`
	TSAURL               string        `name:"tsa-url" help:"${tsa_url}"`
	Witnesses            []string      `help:"${witnesses}"`
	DeletedContent       time.Duration `default:"720h" help:"How long the content of a deleted attachment is kept."`
	Role                 string        `enum:"all,web,worker" default:"all" help:"${role}"`
	Workers              int           `default:"8" help:"${workers}"`
	JobLease             time.Duration `default:"30s" help:"${job_lease}"`
	StandbyReads         bool          `name:"standby-reads" help:"${standby_reads}"`
	StopDelay            time.Duration `name:"stop-delay" help:"${stop_delay}"`
	MetricsAddr          string        `name:"metrics-addr" help:"${metrics_addr}"`
	OTLPEndpoint         string        `name:"otlp-endpoint" help:"${otlp_endpoint}"`
	SlowQuery            time.Duration `name:"slow-query" default:"1s" help:"${slow_query}"`
	Demo                 bool          `help:"Built-in identity provider and sample data, to try everything at once."`
}

// maxWorkers leaves connections of the database's pool for requests.
const maxWorkers = 16

// Sources are the settings of the public services that materials are imported from.
type Sources struct {
	GEOURL         string `name:"geo-url" help:"${geo_url}"`
	EUtilsURL      string `name:"eutils-url" help:"${eutils_url}"`
	ENAURL         string `name:"ena-url" help:"Base address of ENA. Default: https://www.ebi.ac.uk/ena/."`
	ProtocolsURL   string `name:"protocols-url" help:"${protocols_url}"`
	CrossrefURL    string `name:"crossref-url" help:"Base address of Crossref. Default: https://api.crossref.org/."`
	EUtilsKey      string `name:"eutils-key" help:"API key of NCBI, for 10 calls a second instead of 3."`
	ProtocolsToken string `name:"protocols-token" help:"${protocols_token}"`
	ContactEmail   string `name:"contact-email" help:"${contact_email}"`
}

// Complete sets the defaults that depend on other settings; host is that of public-url. importer.New checks the
// addresses.
func (s *Sources) Complete(host string) error {
	if s.ContactEmail == "" {
		s.ContactEmail = "postmaster@" + host
		return s.secrets()
	}
	if a, err := mail.ParseAddress(s.ContactEmail); err != nil || a.Address != s.ContactEmail {
		return errors.New("contact-email: must be a mail address, such as materials@example.org")
	}
	return s.secrets()
}

func (s *Sources) secrets() error {
	for _, secret := range []struct{ name, value string }{{"eutils-key", s.EUtilsKey},
		{"protocols-token", s.ProtocolsToken}} {
		if strings.ContainsFunc(secret.value, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return fmt.Errorf("%s: must be without blanks", secret.name)
		}
	}
	return nil
}

// Check sets the defaults that depend on other settings and reports contradictions.
func (s *Server) Check(st *Store) error {
	host, _, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return fmt.Errorf("addr: must be host:port, such as 127.0.0.1:8080: %w", err)
	}
	if _, _, err := net.SplitHostPort(s.MetricsAddr); s.MetricsAddr != "" && err != nil {
		return fmt.Errorf("metrics-addr: must be host:port, such as 127.0.0.1:9464: %w", err)
	}
	if s.OTLPEndpoint != "" && !webAddress(s.OTLPEndpoint) {
		return errors.New("otlp-endpoint: must be a web address, such as http://127.0.0.1:4318")
	}
	if s.FilesLinks && st.FilesFolder() != "" {
		return errors.New("files-links: needs files to be a bucket, such as s3://aliquot")
	}
	if s.FilesHold && st.FilesFolder() != "" {
		return errors.New("files-hold: needs files to be a bucket with Object Lock, such as s3://aliquot")
	}
	if s.StandbyReads && st.Database == "" {
		return errors.New("standby-reads: needs database to be the address of PostgreSQL and its standbys")
	}
	if s.StopDelay < 0 || s.StopDelay > time.Minute {
		return errors.New("stop-delay: must be a duration of at most a minute, such as 5s")
	}
	if s.SlowQuery < 0 {
		return errors.New("slow-query: must be a duration, such as 1s; or 0 for never")
	}
	if s.Demo {
		if st.Data == "./aliquot-data" {
			st.Data = "./aliquot-demo"
		}
		if s.Identity == "" {
			s.Identity = "demo"
		}
	}
	if err := s.checkReach(host); err != nil {
		return err
	}
	if s.Identity != "" && s.Identity != "demo" && s.IdentityClientID == "" {
		return errors.New("identity-client-id: is required with an identity provider")
	}
	if s.IdentityProviders != "" && s.Identity == "" {
		return errors.New("identity-providers: needs identity, the provider whose ids are the registry ids of people")
	}
	if _, err := s.Proxies(); err != nil {
		return err
	}
	for _, origin := range s.CORSOrigins {
		u, err := url.Parse(origin)
		if origin != "*" && (err != nil || u.Host == "" || origin != u.Scheme+"://"+strings.ToLower(u.Host)) {
			return fmt.Errorf("cors-origins: %q must be as a browser sends it, such as https://lab.example.org, or *",
				origin)
		}
	}
	if s.Workers < 1 || s.Workers > maxWorkers {
		return fmt.Errorf("workers: must be from 1 to %d", maxWorkers)
	}
	if s.JobLease < time.Second {
		return errors.New("job-lease: must be at least 1s")
	}
	if s.TokenLifetime <= 0 {
		return errors.New("token-lifetime: must be positive")
	}
	if s.AffiliationLifetime < 0 || s.AffiliationLifetime > maxDays {
		return fmt.Errorf("affiliation-lifetime: must be days from 1 to %d, such as 90; or 0 for no end", maxDays)
	}
	if s.Escalation < 0 || s.Escalation > maxDays {
		return fmt.Errorf("escalation: must be a day from 1 to %d, such as 21; or 0 for never", maxDays)
	}
	if err := s.documentTypes(); err != nil {
		return err
	}
	if s.TSAURL != "" && !webAddress(s.TSAURL) {
		return errors.New("tsa-url: must be a web address, such as https://tsa.example.org")
	}
	for _, w := range s.Witnesses {
		if _, address, ok := strings.Cut(w, "@"); !ok || !webAddress(address) {
			return fmt.Errorf("witnesses: %q must be the public key of a witness, @, and its web address, such as "+
				"witness.example.org+0a1b2c3d+BASE64@https://witness.example.org", w)
		}
	}
	return s.reminders()
}

// webAddress reports whether text is an http or https address.
func webAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// documentTypes treats "any" as no restriction: an environment variable cannot hold an empty list.
func (s *Server) documentTypes() error {
	if slices.Equal(s.DocumentTypes, []string{"any"}) {
		s.DocumentTypes = nil
	}
	for _, t := range s.DocumentTypes {
		if named, _, err := mime.ParseMediaType(t); err != nil || named != t || !strings.Contains(t, "/") {
			return fmt.Errorf("document-types: %q must be a media type, such as application/pdf; or any alone", t)
		}
	}
	return nil
}

// The largest sensible values: the days of ten years, and more reminders than anybody would want.
const maxDays, maxReminders = 3650, 30

// reminders treats the single day 0 as no reminders: an environment variable cannot hold an empty list.
func (s *Server) reminders() error {
	if slices.Equal(s.Reminders, []int{0}) {
		s.Reminders = nil
	}
	before := 0
	for _, day := range s.Reminders {
		if day <= before || day > maxDays {
			return fmt.Errorf("reminders: must be days from 1 to %d, each later than the one before, such as "+
				"7,14,28; or 0 for none", maxDays)
		}
		before = day
	}
	if len(s.Reminders) > maxReminders {
		return fmt.Errorf("reminders: must be at most %d days; they go on every 30 days", maxReminders)
	}
	return nil
}

// Sender returns the setting mail-from, or its default; public-url is set by then.
func (s *Server) Sender() string {
	if s.MailFrom != "" {
		return s.MailFrom
	}
	host := "localhost"
	if u, err := url.Parse(s.PublicURL); err == nil && u.Hostname() != "" && net.ParseIP(u.Hostname()) == nil {
		host = u.Hostname()
	}
	return "Aliquot <aliquot@" + host + ">"
}

// Bytes is a size such as 100MiB.
type Bytes int64

// UnmarshalText parses a number with the unit B, KiB, MiB or GiB.
func (b *Bytes) UnmarshalText(text []byte) error {
	var n int64
	var unit string
	if _, err := fmt.Sscanf(string(text), "%d%s", &n, &unit); err != nil || n < 1 || n > 1<<20 && unit != "B" {
		return errors.New("must be a size, such as 100MiB")
	}
	factor, ok := map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[unit]
	if !ok {
		return errors.New("must end in B, KiB, MiB or GiB")
	}
	*b = Bytes(n * factor)
	return nil
}

// Env returns the environment variable of a flag.
func Env(flag string) string { return "ALIQUOT_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) }

// FromEnvironment sets flags that are not given from ALIQUOT_SOME_THING, or from the file named by
// ALIQUOT_SOME_THING_FILE, which is the way to pass a secret. The setting of a flag is its name, or what its tag
// "setting" says.
func FromEnvironment(getenv func(string) string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		setting := flag.Name
		if flag.Tag.Has("setting") { // the flag has the name of another setting, or none
			setting = flag.Tag.Get("setting")
		}
		if setting == "help" || setting == "" {
			return nil, nil
		}
		name := Env(setting)
		if path := getenv(name + "_FILE"); path != "" {
			raw, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("%s_FILE: %w", name, err)
			}
			return strings.TrimRight(string(raw), "\r\n"), nil
		}
		if value := getenv(name); value != "" {
			return value, nil
		}
		return nil, nil
	})
}
