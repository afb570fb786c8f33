package share

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app/catalog"
	"aliquot/internal/app/core"
	"aliquot/internal/app/spreadsheet"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

type sheetPage struct {
	ui.Page
	Options    catalog.MaterialFormOptions
	Categories []category.Category
	Jobs       []sheetJob
	Limit      int64

	Sheet   *spreadsheet.BulkSheet // the uploaded one
	Order   material.BulkOptions
	Columns []sheetColumn
	Choices []material.Column
	Unknown int // number of columns that are not recognised
}

// sheetJob is a spreadsheet that the visitor uploaded earlier.
type sheetJob struct {
	ID    int64
	At    ui.When
	State string
}

// sheetColumn is a column of a spreadsheet and the field it stands for.
type sheetColumn struct {
	material.ColumnHeading
	Index   int
	Chosen  string // the field chosen on the page; "-": left out
	Unknown bool
	Extra   string // a field that is not among the choices
}

const leftOut = "-"

func (v *pageRequest) sheetPage(lab string) (*sheetPage, error) {
	p := &sheetPage{Page: ui.Page{Title: "List from a spreadsheet", Section: "share"}, Categories: category.All(),
		Limit: v.App.UploadLimit}
	var err error
	p.Options, err = v.App.Materials.MaterialFormOptions(v.Context(), v.Who.Actor, v.shareLab(lab), nil)
	return p, err
}

// maxJobs is how many earlier spreadsheets are listed.
const maxJobs = 5

// spreadsheet is the page for templates, uploads and exports.
func (v *pageRequest) spreadsheet() (ui.Response, error) {
	p, err := v.sheetPage(v.URL.Query().Get("lab"))
	if err != nil {
		return ui.Response{}, err
	}
	kind := core.BulkMaterials.Name
	jobs, err := v.App.Jobs(v.Context(), v.Who.Actor, exchange.Page{Limit: maxJobs}, exchange.JobFilter{Kind: &kind})
	if err != nil {
		return ui.Response{}, err
	}
	for _, j := range jobs.Items {
		state := map[exchange.JobState]string{exchange.JobDone: "done", exchange.JobFailed: "failed",
			exchange.JobCancelled: "cancelled"}[j.State]
		if state == "" {
			state = "under way"
		}
		p.Jobs = append(p.Jobs, sheetJob{j.ID, v.page().At(j.CreatedAt), state})
	}
	return ui.Show("share_sheet", p)
}

// sendSpreadsheet stores an uploaded spreadsheet and shows how its columns were understood.
func (v *pageRequest) sendSpreadsheet() (ui.Response, error) {
	sent, err := v.ReadForm(func(typed url.Values, body io.Reader) (document.Content, error) {
		return v.App.Spreadsheets.StoreBulk(v.Context(), v.Who.Actor, v.shareLab(typed.Get("lab")), body)
	}, "file")
	if err != nil {
		return ui.Response{}, err
	}
	p, err := v.sheetPage(sent.Fields.Get("lab"))
	if err != nil {
		v.Discard(sent)
		return ui.Response{}, err
	}
	file, err := sent.File("file")
	if err != nil {
		p.Errors = ui.FieldErrors{"file": {exchange.MessageOf(err)}}
		return ui.Invalid("share_sheet", p)
	}
	v.rememberLab(p.Options.Lab.ID)
	order := material.BulkOptions{Category: sent.Fields.Get("category")}
	s, err := v.App.Spreadsheets.InspectBulk(v.Context(), v.Who.Actor, p.Options.Lab.ID, order, file.Content,
		cleanName(file.Name))
	if err != nil {
		v.Discard(sent)
	}
	if fields, is := ui.FieldErrorsIn(err); is {
		p.Errors = ui.FieldErrors{}
		for field, texts := range fields {
			p.Errors[field] = []string{"The " + field + " " + texts[0]}
		}
		return ui.Invalid("share_sheet", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	p.columns(s, order, nil)
	return ui.Show("share_sheet", p)
}

// cleanName returns the name of a file as it is shown.
func cleanName(name string) string {
	clean, err := document.Filename(name)
	if err != nil {
		return "spreadsheet"
	}
	return clean
}

// columns shows how columns were understood, with the choices made so far.
func (p *sheetPage) columns(s spreadsheet.BulkSheet, order material.BulkOptions, chosen map[string]string) {
	p.Sheet, p.Order, p.Title = &s, order, "Columns of "+s.Filename
	c, _ := category.Get(order.Category)
	p.Choices = material.Columns(c)
	if c.Code == "" {
		for _, c := range category.All() {
			for _, column := range material.Columns(c) {
				if !slices.ContainsFunc(p.Choices,
					func(other material.Column) bool { return other.Field == column.Field }) {
					p.Choices = append(p.Choices, column)
				}
			}
		}
	}
	for i, h := range s.Columns {
		if strings.TrimSpace(h.Header) == "" {
			continue
		}
		column := sheetColumn{ColumnHeading: h, Index: i, Chosen: h.Field}
		if field, is := chosen[h.Header]; is {
			column.Chosen = field
		}
		if h.Field == "" && h.Remembered {
			column.Chosen = leftOut
		}
		column.Unknown = h.Field == "" && !h.Remembered && s.Faults["mapping"] != nil && column.Chosen == ""
		if column.Unknown {
			p.Unknown++
		}
		if !slices.ContainsFunc(p.Choices,
			func(choice material.Column) bool { return choice.Field == column.Chosen }) && column.Chosen != leftOut {
			column.Extra = column.Chosen
		}
		p.Columns = append(p.Columns, column)
	}
}

// Lacking returns the labels of fields that a new listing requires and that no column has.
func (p *sheetPage) Lacking() []string {
	var labels []string
	c, _ := category.Get(p.Order.Category)
	for _, f := range c.Fields {
		has := func(column sheetColumn) bool { return column.Chosen == metadataName+f.Key }
		if f.Required && !strings.HasSuffix(f.Key, "_name") && !slices.ContainsFunc(p.Columns, has) {
			labels = append(labels, f.Label)
		}
	}
	return labels
}

// fieldErrors returns errors of the columns in the words of the page.
func (p *sheetPage) fieldErrors(fields map[string][]string) ui.FieldErrors {
	out := ui.FieldErrors{}
	for _, c := range p.Columns {
		if c.Unknown {
			out["mapping"] = append(out["mapping"], "Say what “"+c.Header+
				"” is, leave it out, or keep it as a value of your own.")
		}
	}
	for field, texts := range fields {
		for _, text := range ui.AsSentences(texts) {
			switch {
			case field == "category":
				text = "Choose the category for rows without one."
			case len(out["mapping"]) > 0 && strings.HasPrefix(text, "Not recognised"): // the page shows it above
				continue
			}
			out[field] = append(out[field], strings.ReplaceAll(text, `or "" to leave it out`, "or leave it out"))
		}
	}
	return out
}

// sendColumns handles the choice of columns, and has the rows checked or stored.
func (v *pageRequest) sendColumns() (ui.Response, error) {
	order := material.BulkOptions{Mode: material.BulkMode(v.PostFormValue("mode")),
		Category: v.PostFormValue("category"), Sheet: v.PostFormValue("sheet"),
		Unknown: v.PostFormValue("unknown"), Lacking: material.LackingRefuse, Mapping: map[string]*string{}}
	chosen := map[string]string{}
	for i, header := range v.PostForm["header"] {
		field := v.PostFormValue(fmt.Sprintf("column.%d", indexOf(v.PostForm["index"], i)))
		if field == "" || field == v.PostFormValue(fmt.Sprintf("was.%d", indexOf(v.PostForm["index"], i))) {
			continue
		}
		if chosen[header] = field; field == leftOut {
			field = ""
		}
		order.Mapping[header] = &field
	}
	token := v.PostFormValue("token")
	s, err := v.App.Spreadsheets.InspectBulkAgain(v.Context(), v.Who.Actor, token, order)
	if err != nil {
		return ui.Response{}, err
	}
	p, err := v.sheetPage(fmt.Sprint(s.Organization))
	if err != nil {
		return ui.Response{}, err
	}
	p.columns(s, order, chosen)
	if len(s.Faults) > 0 || v.PostFormValue("do") == "look" {
		if p.Errors = p.fieldErrors(s.Faults); len(p.Errors) > 0 {
			return ui.Invalid("share_sheet", p)
		}
		return ui.Show("share_sheet", p)
	}
	j, err := v.App.Spreadsheets.BulkOf(v.Context(), v.Who.Actor, token, order)
	if fields, is := ui.FieldErrorsIn(err); is {
		p.Errors = p.fieldErrors(fields)
		return ui.Invalid("share_sheet", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(fmt.Sprintf("/share/jobs/%d", j.ID)), nil
}

// indexOf returns the column of the spreadsheet that line i of the form is about.
func indexOf(list []string, i int) int {
	if i >= len(list) {
		return i
	}
	n, _ := strconv.Atoi(list[i]) // our own forms have numbers
	return n
}

// sheetTemplate sends an empty spreadsheet to fill in.
func (v *pageRequest) sheetTemplate() (ui.Response, error) {
	c, known := category.Get(v.URL.Query().Get("category"))
	format, is := sheetFormat(v.URL.Query().Get("format"))
	if !known || !is {
		return v.Missing()
	}
	return v.SendSheet(strings.ToLower(c.Code)+"."+format,
		func(out io.Writer) error { return spreadsheet.Template(c, format, out) })
}

// sheetExport sends the materials of a lab in the format that can be uploaded again.
func (v *pageRequest) sheetExport() (ui.Response, error) {
	format, is := sheetFormat(v.URL.Query().Get("format"))
	lab, err := strconv.ParseInt(v.URL.Query().Get("lab"), 10, 64)
	if !is || err != nil {
		return v.Missing()
	}
	err = v.App.Expensive(v.Context(), v.Caller(),
		func(ctx context.Context) error { return v.App.Spreadsheets.MayExport(ctx, v.Who.Actor, &lab) })
	if err != nil {
		return ui.Response{}, err
	}
	keys, err := v.App.Spreadsheets.ExportKeys(v.Context(), v.Caller(), &lab)
	if err != nil {
		return ui.Response{}, err
	}
	return v.SendSheet(fmt.Sprintf("materials-%d.%s", lab, format), func(out io.Writer) error {
		return v.App.Spreadsheets.Export(v.Context(), v.Caller(), &lab, keys, format, out)
	})
}

// sheetFormat returns the requested format of spreadsheets; CSV by default.
func sheetFormat(asked string) (string, bool) {
	if asked == "" {
		return "csv", true
	}
	_, known := ui.SheetTypes[asked]
	return asked, known
}
