package identity

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Provider is an identity provider in addition to the main one, such as that of a university. Who signs in there is
// known by issuer and subject, and has an account once they linked the two.
type Provider struct {
	Name  string // in addresses
	Label string // as people know it
	// the institution of each scope of affiliations that it may assert; others that it asserts count for nothing
	Domains map[string]int64
	*Client
}

// The largest sizes of a file of providers.
const (
	maxProviderFile = 1 << 20
	maxProviders    = 100
	maxScopes       = 20
	maxLabel        = 60
	maxDomains      = 1000
)

var (
	providerName = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9]){0,29}$`)
	domainForm   = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]([a-z0-9-]*[a-z0-9])?$`)
	scopeForm    = regexp.MustCompile(`^[!#-\[\]-~]{1,100}$`) // RFC 6749 section 3.3
)

// fileProvider is a provider as the file has it.
type fileProvider struct {
	Name       string   `json:"name"`
	Label      string   `json:"label"`
	Issuer     string   `json:"issuer"`
	ClientID   string   `json:"client_id"`
	SecretFile string   `json:"client_secret_file"`
	Scopes     []string `json:"scopes"`

	Domains map[string]int64 `json:"identity_domains"`
}

// ReadProviders reads a JSON list of providers. An error names the provider and the field that is wrong.
func ReadProviders(r io.Reader) ([]Provider, error) {
	in := json.NewDecoder(io.LimitReader(r, maxProviderFile))
	in.DisallowUnknownFields()
	var rows []fileProvider
	if err := in.Decode(&rows); err != nil {
		return nil, fmt.Errorf("must be a JSON list of providers of at most 1 MiB: %w", err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has something after the list of providers")
	}
	if len(rows) > maxProviders {
		return nil, fmt.Errorf("has %d providers; at most %d are possible", len(rows), maxProviders)
	}
	var list []Provider
	for i, row := range rows {
		p, err := row.provider()
		for _, other := range list {
			switch {
			case other.Name == row.Name:
				err = errors.New("name: another provider has it already")
			case other.Issuer() == row.Issuer:
				err = errors.New("issuer: another provider has it already")
			}
			for domain, institution := range row.Domains {
				for _, taken := range other.Domains {
					if taken == institution { // or each would end what the other asserts
						err = fmt.Errorf("identity_domains: %.80q: another provider asserts who is at institution %d "+
							"already", domain, institution)
					}
				}
			}
		}
		if err != nil {
			return nil, fmt.Errorf("provider %d (%.40q): %w", i+1, row.Name, err)
		}
		list = append(list, p)
	}
	return list, nil
}

func (f fileProvider) provider() (p Provider, err error) {
	switch {
	case !providerName.MatchString(f.Name):
		return p, errors.New("name: must be 1 to 30 lower-case letters and digits, with single hyphens between " +
			"them, such as example-university")
	case f.Label == "" || clean(f.Label, maxLabel) != f.Label:
		return p, fmt.Errorf("label: must be the name by which people know it, on one line of at most %d characters",
			maxLabel)
	case len(f.Issuer) > maxText:
		return p, fmt.Errorf("issuer: must be at most %d characters", maxText)
	case f.ClientID == "" || len(f.ClientID) > maxText:
		return p, fmt.Errorf("client_id: must be the id of this installation there, of at most %d characters", maxText)
	case len(f.Scopes) > maxScopes:
		return p, fmt.Errorf("scopes: must be at most %d", maxScopes)
	}
	if i := slices.IndexFunc(f.Scopes, func(s string) bool { return !scopeForm.MatchString(s) }); i >= 0 {
		return p, fmt.Errorf("scopes: %.40q is no scope of OAuth, such as profile", f.Scopes[i])
	}
	if len(f.Domains) > maxDomains {
		return p, fmt.Errorf("identity_domains: must be at most %d", maxDomains)
	}
	for domain, institution := range f.Domains {
		if len(domain) > maxText || !domainForm.MatchString(domain) {
			return p, fmt.Errorf("identity_domains: %.80q must be a domain in lower-case letters, such as "+
				"uni.example", domain)
		}
		if institution < 1 {
			return p, fmt.Errorf("identity_domains: %.80q must have the id of an institution here, such as 7", domain)
		}
	}
	cfg := Config{Issuer: f.Issuer, ClientID: f.ClientID, Scopes: f.Scopes, Further: true,
		Affiliations: len(f.Domains) > 0}
	if f.SecretFile != "" {
		secret, err := os.ReadFile(f.SecretFile)
		if err != nil {
			return p, fmt.Errorf("client_secret_file: %w", err)
		}
		if cfg.ClientSecret = strings.TrimRight(string(secret), "\r\n"); cfg.ClientSecret == "" {
			return p, fmt.Errorf("client_secret_file: %s is empty", f.SecretFile)
		}
	}
	client, err := New(cfg)
	if err != nil {
		return p, fmt.Errorf("issuer: %w", err)
	}
	return Provider{Name: f.Name, Label: f.Label, Domains: f.Domains, Client: client}, nil
}
