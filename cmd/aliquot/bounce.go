package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"aliquot/internal/app"
	"aliquot/internal/config"
	"aliquot/internal/exchange"
	"aliquot/internal/mail"
)

// bounce is "aliquot bounce". The mail server for the address in mail-from pipes returned mail into it.
type bounce struct {
	config.Store
	File string `arg:"" optional:"" help:"The report as a file. Default: the standard input."`
}

// Run reads one report of a failed delivery. Mail that is no such report, or that is not about a message of ours, is
// reported without an error: anybody can write to that address.
func (b *bounce) Run(e environment) error {
	in := io.Reader(os.Stdin)
	if b.File != "" {
		f, err := os.Open(b.File)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		in = f
	}
	report, err := mail.ParseBounce(in)
	if errors.Is(err, mail.ErrNoBounce) {
		_, err = fmt.Fprintln(e.stdout, "Nothing to do: this does not report a failed delivery.")
		return err
	} else if err != nil {
		return err
	}
	return withApp(e, b.Store, func(ctx context.Context, a *app.App) error {
		who, err := a.Notifications.Bounce(ctx, report)
		switch {
		case exchange.CodeOf(err) == exchange.NotFound:
			_, err = fmt.Fprintln(e.stdout, "Nothing to do: this is not about a message from this installation.")
		case err == nil && who == "":
			_, err = fmt.Fprintln(e.stdout,
				"Nothing to do: the address was not refused permanently, or is no longer in use.")
		case err == nil:
			_, err = fmt.Fprintf(e.stdout, "%s will get no more mail at %s: %s\n", who, report.Recipient, report.Reason)
		}
		return err
	})
}
