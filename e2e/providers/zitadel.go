package main

import (
	"log/slog"
	"net/http"

	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
)

// zitadel is the provider of zitadel/oidc with its example storage and pages. The client proves itself by
// client_secret_basic.
func zitadel(issuer string, c client) (http.Handler, error) {
	storage.RegisterClients(storage.WebClient(c.id, c.secret, c.redirects...))
	return exampleop.SetupServer(issuer, storage.NewStorage(storage.NewUserStore(issuer)),
		slog.New(slog.DiscardHandler), false), nil
}
