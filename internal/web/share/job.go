package share

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/app/spreadsheet"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// jobPage shows the progress and the result of a job that was started on a share page.
type jobPage struct {
	ui.Page
	Job     exchange.Job
	Running bool
	Head    string
	Says    string
	Imports *importsView
	Choice  *importPage // of a grant, for a preview without one
	Bulk    *spreadsheet.BulkView
	Again   string // the address to start again
	Listed  int64  // how many materials it listed, if that can be undone
	Until   time.Time
	Undo    bool // it undoes an import
}

// importsView is the result of the identifiers so far.
type importsView struct {
	Preview  bool
	Lab      int64
	Grant    int64
	Ready    int
	Listed   int
	Existing int
	Refused  int
	Left     int // number not looked up yet
	Outcomes []material.ImportOutcome
}

// Text returns the identifiers that would be imported, for the form that imports them.
func (i *importsView) Text() string {
	var list []string
	for _, o := range i.Outcomes {
		if o.Outcome == material.WouldImport {
			list = append(list, o.Identifier)
		}
	}
	return strings.Join(list, "\n")
}

func (v *pageRequest) shareJob(id int64) (ui.Response, error) {
	j, err := v.App.Job(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	p := &jobPage{Page: ui.Page{Section: "share"}, Job: j, Running: !j.State.Over()}
	switch j.Kind {
	case catalog.ImportMaterials.Name:
		p.Again = "/share/import"
		err = p.showImports()
		if err == nil && p.Imports.Preview && p.Imports.Grant == 0 {
			p.Choice, err = v.importPage(url.Values{"lab": {strconv.FormatInt(p.Imports.Lab, 10)}})
		}
	case core.BulkMaterials.Name:
		p.Again = "/share/spreadsheet"
		var view spreadsheet.BulkView
		if view, err = v.App.Spreadsheets.BulkView(v.Context(), v.Who.Actor, id); err == nil {
			p.Bulk = &view
		}
	case spreadsheet.UndoImport.Name:
		p.Undo = true
		var view spreadsheet.BulkView
		if view, err = v.App.Spreadsheets.BulkView(v.Context(), v.Who.Actor, id); err == nil {
			p.Bulk = &view
		}
	default:
		return v.Missing()
	}
	if err != nil {
		return ui.Response{}, err
	}
	p.describe()
	if p.Running || p.Undo || j.EndedAt == nil {
		return ui.Show("share_job", p)
	}
	if p.Until = j.EndedAt.Add(material.UndoTime); v.App.DB.Read().Now.Before(p.Until) {
		switch {
		case p.Imports != nil && !p.Imports.Preview:
			p.Listed = int64(p.Imports.Listed)
		case p.Bulk != nil && p.Bulk.Stored && p.Bulk.Result != nil:
			p.Listed = p.Bulk.Result.Created
		}
	}
	return ui.Show("share_job", p)
}

// showImports reads the outcomes: from the result of a finished job, otherwise from its checkpoint.
func (p *jobPage) showImports() error {
	var order material.BatchImportOptions
	if err := json.Unmarshal(p.Job.Args, &order); err != nil {
		return err
	}
	i := &importsView{Preview: order.Preview}
	if len(order.Orders) > 0 {
		i.Lab, i.Grant = order.Orders[0].OrganizationID, order.Orders[0].GrantID
	}
	var result material.BatchImportResult
	if p.Job.Result != nil {
		if err := json.Unmarshal(p.Job.Result, &result); err != nil {
			return err
		}
	} else if p.Job.Checkpoint != nil {
		var list []*material.ImportOutcome
		if err := json.Unmarshal(p.Job.Checkpoint, &list); err != nil {
			return err
		}
		for _, o := range list {
			if o != nil {
				result.Add(*o)
			}
		}
	}
	i.Outcomes, i.Ready, i.Listed, i.Existing, i.Refused = result.Outcomes, result.WouldImport, result.Imported,
		result.Existing, result.Refused
	i.Left = len(order.Identifiers) - len(i.Outcomes)
	p.Imports = i
	return nil
}

// describe states how far the job is.
func (p *jobPage) describe() {
	j, done := p.Job, p.Job.Progress
	what, doing := "Spreadsheet", "Checking rows"
	if p.Imports != nil {
		if what, doing = "Import", "Looking up"; p.Imports.Preview {
			what = "Preview of an import"
		}
	} else if p.Undo {
		what, doing = "Undo of an import", "Archiving"
	} else if p.Bulk.Order.Mode == material.BulkDryRun {
		what = "Check of a spreadsheet"
	} else if strings.HasPrefix(done.Note, "storing") {
		doing = "Storing rows"
	}
	p.Head = what
	switch {
	case j.State == exchange.JobFailed:
		p.Says = "It failed: " + j.Error
	case j.State == exchange.JobCancelled:
		p.Says = "Cancelled. What was already done is kept."
	case j.State == exchange.JobDone:
		p.Says = "Completed."
	case j.Error != "":
		p.Says = "It failed and will be retried: " + j.Error
	case done.Total == 0:
		p.Says = "Starting soon."
	default:
		p.Says = fmt.Sprintf("%s: %s of %s done.", doing, ui.Count(done.Done), ui.Count(done.Total))
	}
	p.Title = what + ", " + map[bool]string{true: "under way", false: strings.ToLower(string(j.State))}[p.Running]
}

// Share returns the percentage that is done.
func (p *jobPage) Share() int64 {
	if p.Job.Progress.Total == 0 {
		return 0
	}
	return 100 * p.Job.Progress.Done / p.Job.Progress.Total
}

// storeJob stores what a trial run has checked.
func (v *pageRequest) storeJob(id int64) (ui.Response, error) {
	j, err := v.App.Spreadsheets.BulkAgain(v.Context(), v.Who.Actor, id, material.BulkMode(v.PostFormValue("mode")))
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/share/jobs/%d", j.ID)), nil
}

// correctJob checks the rows again, with values replaced as in the form.
func (v *pageRequest) correctJob(id int64) (ui.Response, error) {
	at := func(name string, i int) string {
		if i < len(v.PostForm[name]) {
			return v.PostForm[name][i]
		}
		return ""
	}
	var list []material.Replacement
	for i, header := range v.PostForm["header"] {
		if to := strings.TrimSpace(at("with", i)); to != "" {
			list = append(list, material.Replacement{Header: header, From: at("value", i), To: to})
		}
	}
	if len(list) == 0 {
		_, err := v.App.Spreadsheets.BulkView(v.Context(), v.Who.Actor, id)
		return ui.SeeOther(fmt.Sprintf("/share/jobs/%d#values", id)).Saying("Enter at least one correct value."),
			err
	}
	j, err := v.App.Spreadsheets.CorrectBulk(v.Context(), v.Who.Actor, id, list)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/share/jobs/%d", j.ID)).Saying(ui.Plural(len(list), "value") +
		" will be replaced in every row that has it."), nil
}

func (v *pageRequest) cancelShareJob(id int64) (ui.Response, error) {
	if _, err := v.App.CancelJob(v.Context(), v.Who.Actor, id); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/share/jobs/%d", id)).Saying("Cancelled. What was already done is kept."),
		nil
}

// undoJob archives what an import listed.
func (v *pageRequest) undoJob(id int64) (ui.Response, error) {
	j, err := v.App.Spreadsheets.Undo(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/share/jobs/%d", j.ID)), nil
}

// shareReport sends the outcome of every row.
func (v *pageRequest) shareReport(id int64) (ui.Response, error) {
	view, err := v.App.Spreadsheets.BulkView(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	return v.SendSheet(fmt.Sprintf("report-%d.csv", id), func(out io.Writer) error {
		return v.App.Spreadsheets.BulkReport(v.Context(), v.Who.Actor, view.OrganizationID, id,
			func() io.Writer { return out })
	})
}
