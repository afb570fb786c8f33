package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// BulkSheet is what is known of a spreadsheet before there is a job of it.
type BulkSheet struct {
	Organization int64
	Filename     string
	Token        string // for LookAgain and BulkOf
	Sheet        string // that was read; "" of CSV
	Others       []string
	Columns      []exchange.Heading
	Faults       map[string][]string // of mapping and category; empty: there can be a job of it
}

// LookAtBulk says how the columns of a spreadsheet were understood that StoreBulk took in. Its token stands for the
// spreadsheet, for who sent it, until its content is swept away.
func (a *App) LookAtBulk(ctx context.Context, who exchange.Actor, organization int64, order exchange.BulkOrder, content exchange.Content, filename string) (BulkSheet, error) {
	if err := a.MayBulk(ctx, who, organization); err != nil {
		return BulkSheet{}, err
	}
	token := ""
	err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) (err error) {
		token, err = seal(ctx, tx, bulkPurpose(who), fmt.Sprintf("%d %s %s", organization, content.Key, filename))
		return err
	})
	if err != nil {
		return BulkSheet{}, err
	}
	return a.lookAt(ctx, who, organization, order, content.Key, filename, token)
}

func bulkPurpose(who exchange.Actor) string { return "spreadsheet of " + who.ID.String() }

// LookAgain is LookAtBulk of a spreadsheet by its token, with another order.
func (a *App) LookAgain(ctx context.Context, who exchange.Actor, token string, order exchange.BulkOrder) (BulkSheet, error) {
	organization, key, filename, err := a.keptBulk(ctx, who, token)
	if err != nil {
		return BulkSheet{}, err
	}
	return a.lookAt(ctx, who, organization, order, key, filename, token)
}

// BulkOf is Bulk of a spreadsheet by its token.
func (a *App) BulkOf(ctx context.Context, who exchange.Actor, token string, order exchange.BulkOrder) (exchange.Job, error) {
	organization, key, _, err := a.keptBulk(ctx, who, token)
	if err != nil {
		return exchange.Job{}, err
	}
	return a.Bulk(ctx, who, organization, order, exchange.Content{Key: key})
}

func (a *App) keptBulk(ctx context.Context, who exchange.Actor, token string) (organization int64, key, filename string, err error) {
	text, err := unseal(ctx, a.DB.Read(), bulkPurpose(who), token)
	if err != nil {
		return 0, "", "", err
	}
	lab, rest, _ := strings.Cut(text, " ")
	key, filename, _ = strings.Cut(rest, " ")
	if organization, err = strconv.ParseInt(lab, 10, 64); err != nil {
		return 0, "", "", exchange.Fail(exchange.NotFound, "There is no such spreadsheet.")
	}
	return organization, key, filename, a.MayBulk(ctx, who, organization)
}

func (a *App) lookAt(ctx context.Context, who exchange.Actor, organization int64, order exchange.BulkOrder, key, filename, token string) (BulkSheet, error) {
	args, err := a.bulkArgs(ctx, who, organization, order)
	if err != nil {
		return BulkSheet{}, err
	}
	rows, err := a.openBulk(ctx, key, args)
	e, refused := errors.AsType[*exchange.Error](err)
	if err != nil && (!refused || e.Code != exchange.InvalidInput || e.Fields["mapping"] == nil && e.Fields["category"] == nil) {
		return BulkSheet{}, err
	}
	s := BulkSheet{Organization: organization, Filename: filename, Token: token, Sheet: rows.Name, Others: rows.Others, Columns: rows.layout.Headings}
	if refused {
		s.Faults = e.Fields
		return s, nil
	}
	return s, rows.Close()
}

// BulkAgain does once more what a job did with a spreadsheet, in another way: after a trial it stores the rows.
func (a *App) BulkAgain(ctx context.Context, who exchange.Actor, id int64, mode exchange.BulkMode) (exchange.Job, error) {
	v, err := a.BulkView(ctx, who, id)
	if err != nil {
		return exchange.Job{}, err
	}
	args := BulkArgs{Order: v.Order, Mapping: v.mapping}
	if args.Order.Mode = mode; mode == "" {
		args.Order.Mode = exchange.BulkAllOrNothing
	}
	if args.Order, err = args.Order.Check(); err != nil {
		return exchange.Job{}, err
	}
	args.Order.Mapping = nil // it is remembered, and in the mapping of the job before
	return a.enqueueBulk(ctx, who, v.OrganizationID, args, v.ContentKey)
}

// BulkView is a job of a spreadsheet with what came of its rows.
type BulkView struct {
	exchange.Job
	exchange.Bulk
	Lab     exchange.Organization
	Order   exchange.BulkOrder
	Result  *exchange.BulkResult  // nil: not yet
	Refused []exchange.RowOutcome // the first with problems or doubts, of a job that is over
	More    bool                  // there are more of them, which the report has

	mapping map[string]string
}

// mostShown is how many rows with problems are shown.
const mostShown = 100

// BulkView reads a job of a spreadsheet that who asked for.
func (a *App) BulkView(ctx context.Context, who exchange.Actor, id int64) (v BulkView, err error) {
	if v.Job, err = a.Job(ctx, who, id); err != nil {
		return v, err
	}
	c := a.DB.Read()
	if v.Bulk, err = c.Bulk(ctx, id); err != nil {
		return v, err
	}
	if err := a.MayBulk(ctx, who, v.OrganizationID); err != nil {
		return v, err
	}
	if v.Lab, err = c.Organization(ctx, v.OrganizationID); err != nil {
		return v, err
	}
	var args BulkArgs
	if err := json.Unmarshal(v.Args, &args); err != nil {
		return v, err
	}
	v.Order, v.mapping = args.Order, args.Mapping
	if v.Job.Result != nil {
		if err := json.Unmarshal(v.Job.Result, &v.Result); err != nil {
			return v, err
		}
	}
	if !v.State.Over() {
		return v, nil // whoever waits asks often
	}
	for after := 0; ; {
		part, err := c.BulkProblems(ctx, id, after)
		if err != nil || len(part) == 0 {
			return v, err
		}
		after = part[0].Row
		for _, o := range part {
			if len(o.Problems)+len(o.Doubts) == 0 {
				continue
			}
			if v.More = len(v.Refused) == mostShown; v.More {
				return v, nil
			}
			v.Refused = append(v.Refused, o)
		}
	}
}
