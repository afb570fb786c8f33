package main

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// zitadel is the provider of zitadel/oidc with its example storage and pages. The client proves itself by
// client_secret_basic.
func zitadel(issuer string, c client) (http.Handler, error) {
	storage.RegisterClients(storage.WebClient(c.id, c.secret, c.redirects...))
	return exampleop.SetupServer(issuer, clients{storage.NewStorage(storage.NewUserStore(issuer)), c.after},
		slog.New(slog.DiscardHandler), false), nil
}

// clients is the example storage, whose clients have addresses to send people to after they signed out.
type clients struct {
	*storage.Storage
	after []string
}

// GetClientByClientID implements op.Storage.
func (s clients) GetClientByClientID(ctx context.Context, id string) (op.Client, error) {
	found, err := s.Storage.GetClientByClientID(ctx, id)
	return clientWithLogout{found, s.after}, err
}

type clientWithLogout struct {
	op.Client
	after []string
}

// PostLogoutRedirectURIs implements op.Client.
func (c clientWithLogout) PostLogoutRedirectURIs() []string { return c.after }
