package spreadsheet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/store"
)

// BulkSheet describes a spreadsheet before there is a job for it.
type BulkSheet struct {
	Organization int64
	Filename     string
	Token        string // for InspectBulkAgain and BulkOf
	Sheet        string // the sheet that was read; "" for CSV
	Others       []string
	Columns      []material.ColumnHeading
	Faults       map[string][]string // in mapping and category; if empty, a job can be started
}

// InspectBulk reports how the columns of a spreadsheet from StoreBulk were understood. Its token identifies the
// spreadsheet to its sender until the content is swept.
func (a Spreadsheets) InspectBulk(ctx context.Context, who exchange.Actor, organization int64,
	order material.BulkOptions, content document.Content, filename string) (BulkSheet, error) {
	if err := a.MayBulk(ctx, who, organization); err != nil {
		return BulkSheet{}, err
	}
	token := ""
	err := a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) (err error) {
		token, err = core.Seal(ctx, tx, bulkPurpose(who), fmt.Sprintf("%d %s %s", organization, content.Key, filename))
		return err
	})
	if err != nil {
		return BulkSheet{}, err
	}
	return a.lookAt(ctx, who, organization, order, content.Key, filename, token)
}

func bulkPurpose(who exchange.Actor) string { return "spreadsheet of " + who.ID.String() }

// InspectBulkAgain is InspectBulk for a spreadsheet given by its token, with other options.
func (a Spreadsheets) InspectBulkAgain(ctx context.Context, who exchange.Actor, token string,
	order material.BulkOptions) (BulkSheet, error) {
	organization, key, filename, err := a.keptBulk(ctx, who, token)
	if err != nil {
		return BulkSheet{}, err
	}
	return a.lookAt(ctx, who, organization, order, key, filename, token)
}

// BulkOf is Bulk for a spreadsheet given by its token.
func (a Spreadsheets) BulkOf(ctx context.Context, who exchange.Actor, token string,
	order material.BulkOptions) (exchange.Job, error) {
	organization, key, _, err := a.keptBulk(ctx, who, token)
	if err != nil {
		return exchange.Job{}, err
	}
	return a.Bulk(ctx, who, organization, order, document.Content{Key: key})
}

func (a Spreadsheets) keptBulk(ctx context.Context, who exchange.Actor, token string) (organization int64, key,
	filename string, err error) {
	text, err := core.Unseal(ctx, a.DB.Read(), bulkPurpose(who), token)
	if err != nil {
		return 0, "", "", err
	}
	lab, rest, _ := strings.Cut(text, " ")
	key, filename, _ = strings.Cut(rest, " ")
	if organization, err = strconv.ParseInt(lab, 10, 64); err != nil {
		return 0, "", "", exchange.Errorf(exchange.NotFound, "There is no such spreadsheet.")
	}
	return organization, key, filename, a.MayBulk(ctx, who, organization)
}

func (a Spreadsheets) lookAt(ctx context.Context, who exchange.Actor, organization int64, order material.BulkOptions,
	key, filename, token string) (BulkSheet, error) {
	args, err := a.bulkArgs(ctx, who, organization, order)
	if err != nil {
		return BulkSheet{}, err
	}
	rows, err := a.headers(ctx, who, key, args)
	e, refused := errors.AsType[*exchange.Error](err)
	if err != nil && (!refused || e.Code != exchange.InvalidInput || e.Fields["mapping"] == nil &&
		e.Fields["category"] == nil) {
		return BulkSheet{}, err
	}
	s := BulkSheet{Organization: organization, Filename: filename, Token: token, Sheet: rows.Name, Others: rows.Others,
		Columns: rows.layout.Headings}
	if refused {
		s.Faults = e.Fields
	}
	return s, nil
}

// BulkAgain runs a job's spreadsheet again with other options: after a trial it stores the rows.
func (a Spreadsheets) BulkAgain(ctx context.Context, who exchange.Actor, id int64,
	mode material.BulkMode) (exchange.Job, error) {
	v, err := a.BulkView(ctx, who, id)
	if err != nil {
		return exchange.Job{}, err
	}
	return a.bulkAgain(ctx, who, v, mode, v.Replaced)
}

// bulkAgain runs a job's spreadsheet again, with some values read as others.
func (a Spreadsheets) bulkAgain(ctx context.Context, who exchange.Actor, v BulkView, mode material.BulkMode,
	values []material.Replacement) (j exchange.Job, err error) {
	args := core.BulkArgs{Order: v.Order, Mapping: v.mapping, Values: values}
	if args.Order.Mode = mode; mode == "" {
		args.Order.Mode = material.BulkAllOrNothing
	}
	if args.Order, err = args.Order.Check(); err != nil {
		return j, err
	}
	return a.enqueueBulk(ctx, who, v.OrganizationID, args, v.ContentKey)
}

// CorrectBulk runs another trial of a spreadsheet with refused rows, with some of their values replaced.
func (a Spreadsheets) CorrectBulk(ctx context.Context, who exchange.Actor, id int64,
	more []material.Replacement) (exchange.Job, error) {
	v, err := a.BulkView(ctx, who, id)
	if err != nil {
		return exchange.Job{}, err
	}
	if v.Stored || !v.State.Over() {
		return exchange.Job{}, exchange.Errorf(exchange.Conflict,
			"Only a spreadsheet that was checked and not listed yet can be corrected.")
	}
	values, err := material.Replace(v.Replaced, more)
	if err != nil {
		return exchange.Job{}, err
	}
	return a.bulkAgain(ctx, who, v, material.BulkDryRun, values)
}

// BulkView is a spreadsheet job with the results of its rows.
type BulkView struct {
	exchange.Job
	material.Bulk
	Lab      lab.Organization
	Order    material.BulkOptions
	Result   *material.BulkResult   // nil: not finished yet
	Refused  []material.RowResult   // the first rows with problems or doubts, of a job that is over
	More     bool                   // there are more of them; the report has all
	Replaced []material.Replacement // values that are read as others
	Wrong    []material.WrongValue  // values that are wrong in most rows, if the job stored nothing

	mapping map[string]string
}

// Limits of what is shown of a job: rows with problems, wrong values, and how many parts of the rows with problems are
// read for them.
const (
	maxShown = 100
	maxWrong = 20
	maxParts = 40
)

// BulkView reads a spreadsheet job that who started.
func (a Spreadsheets) BulkView(ctx context.Context, who exchange.Actor, id int64) (v BulkView, err error) {
	if v.Job, err = a.Job(ctx, who, id); err != nil {
		return v, err
	}
	c := a.DB.Read()
	if v.Bulk, err = c.Bulk.Get(ctx, id); err != nil {
		return v, err
	}
	if err := a.MayBulk(ctx, who, v.OrganizationID); err != nil {
		return v, err
	}
	if v.Lab, err = c.Organizations.Get(ctx, v.OrganizationID); err != nil {
		return v, err
	}
	var args core.BulkArgs
	if err := json.Unmarshal(v.Args, &args); err != nil {
		return v, err
	}
	v.Order, v.mapping, v.Replaced = args.Order, args.Mapping, args.Values
	if v.Job.Result != nil {
		if err := json.Unmarshal(v.Job.Result, &v.Result); err != nil {
			return v, err
		}
	}
	if !v.State.Over() {
		return v, nil // the page polls often
	}
	return v, v.readProblems(ctx, c)
}

// readProblems reads rows with problems, and the values that are wrong in most of them.
func (v *BulkView) readProblems(ctx context.Context, c store.Conn) error {
	var wrong []material.RowResult
	after := 0
	for range maxParts {
		part, err := c.Bulk.Problems(ctx, v.JobID, after)
		if err != nil {
			return err
		}
		if len(part) == 0 {
			break
		}
		after = part[0].Row
		for _, o := range part {
			if len(o.Values) > 0 {
				wrong = append(wrong, o)
			}
			if len(o.Problems)+len(o.Doubts) == 0 {
				continue
			}
			if v.More = v.More || len(v.Refused) == maxShown; !v.More {
				v.Refused = append(v.Refused, o)
			}
		}
	}
	if v.Result != nil && !v.Stored {
		v.Wrong = material.WrongValues(wrong, v.Result.Columns, v.Order.Category, maxWrong)
	}
	return nil
}
