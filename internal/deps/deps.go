// Package deps holds the picked modules in go.mod until their rooms stand.
package deps

import (
	_ "github.com/alecthomas/kong"
	_ "github.com/coreos/go-oidc/v3/oidc"
	_ "github.com/gabriel-vasile/mimetype"
	_ "github.com/go-jose/go-jose/v4"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/pressly/goose/v3"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "golang.org/x/oauth2"
	_ "golang.org/x/text/unicode/norm"
	_ "modernc.org/sqlite"
	_ "pgregory.net/rapid"
)
