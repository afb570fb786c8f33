package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"aliquot/internal/api"
	"aliquot/internal/app"
	"aliquot/internal/config"
	"aliquot/internal/exchange"
)

// migrate is "aliquot migrate".
type migrate struct {
	config.Store
	DryRun bool `help:"Only say what would run."`
}

// Run migrates and prints the migrations that ran.
func (m *migrate) Run(e environment) error {
	db, content, err := open(e, m.Store)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(content.Close(), db.Close()) }()
	names, err := db.Migrate(e.ctx, m.DryRun)
	if err != nil {
		return err
	}
	for _, name := range names {
		_, _ = fmt.Fprintln(e.stdout, name)
	}
	if len(names) == 0 {
		_, _ = fmt.Fprintln(e.stdout, "The schema is up to date.")
	}
	return nil
}

// admin is "aliquot admin".
type admin struct {
	Grant  grant      `cmd:"" help:"Make the user with this registry id an admin."`
	Revoke revoke     `cmd:"" help:"Take it back."`
	List   listAdmins `cmd:"" help:"List the admins."`
}

type grant struct {
	config.Store
	RegistryID string `arg:"" name:"registry-id" help:"Such as 0000-0002-1825-0097; of a person who has signed in."`
}

// Run grants the administrator role.
func (g *grant) Run(e environment) error { return setAdmin(e, g.Store, g.RegistryID, true) }

type revoke struct {
	config.Store
	RegistryID string `arg:"" name:"registry-id" help:"Such as 0000-0002-1825-0097."`
}

// Run revokes the administrator role.
func (r *revoke) Run(e environment) error { return setAdmin(e, r.Store, r.RegistryID, false) }

func setAdmin(e environment, s config.Store, registryID string, admin bool) error {
	return withApp(e, s, func(ctx context.Context, a *app.App) error {
		err := a.Accounts.SetAdmin(ctx, registryID, admin)
		if exchange.CodeOf(err) == exchange.InvalidInput {
			return fmt.Errorf("no one with the registry id %s has signed in yet; add them to the setting admins "+
				"instead", registryID)
		}
		return err
	})
}

type listAdmins struct{ config.Store }

// Run lists the administrators.
func (l *listAdmins) Run(e environment) error {
	return withApp(e, l.Store, func(ctx context.Context, a *app.App) error {
		admins, err := a.DB.Read().Users.Admins(ctx)
		for _, u := range admins {
			_, _ = fmt.Fprintf(e.stdout, "%s\t%s\n", u.RegistryID, u.Name())
		}
		return err
	})
}

// withApp runs a tool on an installation, which may be serving at the same time. It creates none: a folder without one
// is most likely the wrong folder.
func withApp(e environment, s config.Store, do func(context.Context, *app.App) error) error {
	return withDatabase(e, s, func(ctx context.Context, a *app.App) error {
		if err := unlock(ctx, a.DB, s); err != nil {
			return err
		}
		return do(ctx, a)
	})
}

// withDatabase is withApp without the key of the secrets.
func withDatabase(e environment, s config.Store, do func(context.Context, *app.App) error) error {
	if err := exists(s); err != nil {
		return err
	}
	db, content, err := open(e, s)
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(content.Close(), db.Close()) }()
	if _, err := db.Migrate(e.ctx, false); err != nil {
		return err
	}
	return do(e.ctx, app.New(app.Config{DB: db, Files: content, Access: exchange.AccessMembers,
		UploadLimit: math.MaxInt64, Log: e.logger(s.Log)})) // an operator on the machine has no limit
}

type openAPI struct{}

// Run prints the document, with the policy of an installation for members.
func (openAPI) Run(e environment) error {
	document, err := api.OpenAPI(exchange.PolicyFor(exchange.AccessMembers))
	if err == nil {
		_, err = fmt.Fprintln(e.stdout, string(document))
	}
	return err
}

type version struct{}

// Run prints the version.
func (version) Run(e environment) error {
	_, err := fmt.Fprintln(e.stdout, "aliquot", built())
	return err
}

// built returns the version of this binary.
func built() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "devel"
}
