package main

import (
	"fmt"
	"net/http"

	"aliquot/internal/demo"
	"aliquot/internal/identity"
	"aliquot/internal/server"
)

// identity returns the client of the identity provider, nil if none is set; the built-in one is mounted on mux.
func (s *serve) identity(mux *http.ServeMux) (*identity.Client, error) {
	if s.Identity == "" {
		return nil, nil
	}
	cfg := identity.Config{Issuer: s.Identity, ClientID: s.IdentityClientID, ClientSecret: s.IdentityClientSecret}
	if s.Identity == "demo" {
		cfg = identity.Config{Issuer: s.PublicURL + "/demo/identity", ClientID: identity.DemoClientID,
			ClientSecret: "demo", ORCID: true}
		provider, err := identity.NewDemo(cfg.Issuer, demo.People())
		if err != nil {
			return nil, err
		}
		mux.Handle("/demo/identity/",
			server.NewSite(s.PublicURL).Only(provider, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				http.Error(w, "This server is "+s.PublicURL+".", http.StatusMisdirectedRequest)
			})))
	}
	return identity.New(cfg)
}

// providers reads the further identity providers.
func (s *serve) providers() ([]identity.Provider, error) {
	list, err := readFile("identity-providers", s.IdentityProviders, identity.ReadProviders)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if p.Issuer() == s.Identity {
			return nil, fmt.Errorf("identity-providers: %s: provider %q: issuer: is the main provider, of the "+
				"setting identity, already", s.IdentityProviders, p.Name)
		}
	}
	return list, nil
}
