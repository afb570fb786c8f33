// Command go asks for a material: it finds one by its title, requests it, submits the research
// abstract and a signed agreement, and waits for the lab's decision.
//
//	ALIQUOT_URL=http://127.0.0.1:8080 ALIQUOT_TOKEN=alq_... \
//	go run ./examples/go -title HT-29 -abstract "How cells polarise." -mta signed-mta.pdf
package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"aliquot/client"

	"github.com/oapi-codegen/nullable"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, getenv func(string) string, out io.Writer) error {
	flags := flag.NewFlagSet("go", flag.ContinueOnError)
	title := flags.String("title", "", "the title of the material, or words of it")
	abstract := flags.String("abstract", "", "what it is wanted for")
	mta := flags.String("mta", "", "file of the signed agreement (MTA), where one is needed")
	every := flags.Duration("every", 5*time.Second, "how often to look")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c, err := client.New(getenv("ALIQUOT_URL"), getenv("ALIQUOT_TOKEN"), &http.Client{Timeout: time.Minute})
	if err != nil {
		return err
	}
	material, err := find(ctx, c, *title)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "found %s (material %d)\n", material.Title, material.ID)

	// With the key, a call that is sent again after a broken connection makes no second request.
	made, err := c.CreateRequestWithResponse(ctx, client.RequestNew{Material: material.ID, RequesterAbstract: abstract},
		client.IdempotencyKey(rand.Text()))
	if err != nil {
		return err
	}
	request := *made.JSON201
	fmt.Fprintf(out, "made request %d\n", request.ID)

	if *mta != "" {
		attachment, err := upload(ctx, c, *mta)
		if err != nil {
			return err
		}
		_, err = c.UpdateRequestWithResponse(ctx, request.ID,
			client.RequestPatch{RequesterSignedMTAAttachment: nullable.NewNullableWithValue(attachment)})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "submitted %s (attachment %d)\n", *mta, attachment)
	}
	return watch(ctx, c, request, *every, out)
}

// find gives the material on offer that a title suits best.
func find(ctx context.Context, c *client.ClientWithResponses, title string) (client.MaterialHit, error) {
	page, err := c.SearchMaterialsWithResponse(ctx,
		&client.SearchMaterialsParams{Search: &title, IsArchived: []bool{false}, Limit: new(1), Facets: new(false)})
	switch {
	case err != nil:
		return client.MaterialHit{}, err
	case len(page.JSON200.Results) > 0:
		return page.JSON200.Results[0], nil
	case page.JSON200.DidYouMean.IsSpecified() && !page.JSON200.DidYouMean.IsNull():
		return client.MaterialHit{},
			fmt.Errorf("no material is called %q; did you mean %q?", title, page.JSON200.DidYouMean.MustGet())
	}
	return client.MaterialHit{}, fmt.Errorf("no material is called %q", title)
}

// upload makes an attachment of a file: first its record, then its content.
func upload(ctx context.Context, c *client.ClientWithResponses, name string) (int64, error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	record, err := c.CreateAttachmentWithResponse(ctx, client.AttachmentNew{Filename: filepath.Base(name)})
	if err != nil {
		return 0, err
	}
	made := record.JSON201
	_, err = c.PutContentWithBodyWithResponse(ctx, fmt.Sprintf("attachment_%d", made.ID), made.Filename,
		"application/octet-stream", file)
	return made.ID, err
}

// watch looks at a request until its status changes.
func watch(ctx context.Context, c *client.ClientWithResponses, request client.Request, every time.Duration,
	out io.Writer) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		now, err := c.GetRequestWithResponse(ctx, request.ID)
		if err != nil {
			return err
		}
		if now.JSON200.Status != request.Status {
			fmt.Fprintf(out, "the request is %s\n", now.JSON200.Status)
			if turn, err := now.JSON200.WaitingOn.Get(); err == nil {
				fmt.Fprintf(out, "now it is the turn of the %s: %s\n", turn.Party, strings.Join(turn.What, ", "))
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
