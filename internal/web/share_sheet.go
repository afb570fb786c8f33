package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
)

// sheetTypes are the media types of spreadsheets by file name extension.
var sheetTypes = map[string]string{"csv": "text/csv; charset=utf-8",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}

// patient extends the connection's deadline for each part of a file of unknown size.
type uploadDeadline struct{ http.ResponseWriter }

func (p uploadDeadline) Write(b []byte) (int, error) {
	// a test's recorder has no deadlines
	_ = http.NewResponseController(p.ResponseWriter).SetWriteDeadline(time.Now().Add(time.Minute))
	return p.ResponseWriter.Write(b)
}

type sheetPage struct {
	Page
	Desk       app.MaterialFormOptions
	Categories []category.Category
	Jobs       []sheetJob
	Limit      int64

	Sheet   *app.BulkSheet // the uploaded one
	Order   exchange.BulkOptions
	Columns []sheetColumn
	Choices []exchange.Column
	Unknown int // number of columns that are not recognised
}

// sheetJob is a spreadsheet that the visitor uploaded earlier.
type sheetJob struct {
	ID    int64
	At    When
	State string
}

// sheetColumn is a column of a spreadsheet and the field it stands for.
type sheetColumn struct {
	exchange.ColumnHeading
	Index   int
	Chosen  string // the field chosen on the page; "-": left out
	Unknown bool
	Extra   string // a field that is not among the choices
}

const leftOut = "-"

func (v *pageRequest) sheetPage(lab string) (*sheetPage, error) {
	p := &sheetPage{Page: Page{Title: "List from a spreadsheet", Section: "share"}, Categories: category.All(),
		Limit: v.app.UploadLimit}
	var err error
	p.Desk, err = v.app.MaterialFormOptions(v.Context(), v.who.Actor, v.shareLab(lab), nil)
	return p, err
}

// maxJobs is how many earlier spreadsheets are listed.
const maxJobs = 5

// spreadsheet is the page for templates, uploads and exports.
func (v *pageRequest) spreadsheet() (response, error) {
	p, err := v.sheetPage(v.URL.Query().Get("lab"))
	if err != nil {
		return response{}, err
	}
	kind := app.BulkMaterials.Name
	jobs, err := v.app.Jobs(v.Context(), v.who.Actor, exchange.Page{Limit: maxJobs}, exchange.JobFilter{Kind: &kind})
	if err != nil {
		return response{}, err
	}
	for _, j := range jobs.Items {
		state := map[exchange.JobState]string{exchange.JobDone: "done", exchange.JobFailed: "failed",
			exchange.JobCancelled: "cancelled"}[j.State]
		if state == "" {
			state = "under way"
		}
		p.Jobs = append(p.Jobs, sheetJob{j.ID, v.page().At(j.CreatedAt), state})
	}
	return show("share_sheet", p)
}

// sendSpreadsheet stores an uploaded spreadsheet and shows how its columns were understood.
func (v *pageRequest) sendSpreadsheet() (response, error) {
	sent, err := v.readForm(func(typed url.Values, body io.Reader) (exchange.Content, error) {
		return v.app.StoreBulk(v.Context(), v.who.Actor, v.shareLab(typed.Get("lab")), body)
	}, "file")
	if err != nil {
		return response{}, err
	}
	p, err := v.sheetPage(sent.fields.Get("lab"))
	if err != nil {
		v.discard(sent)
		return response{}, err
	}
	file, err := sent.file("file")
	if err != nil {
		p.Errors = FieldErrors{"file": {messageOf(err)}}
		return invalid("share_sheet", p)
	}
	v.rememberLab(p.Desk.Lab.ID)
	order := exchange.BulkOptions{Category: sent.fields.Get("category")}
	s, err := v.app.LookAtBulk(v.Context(), v.who.Actor, p.Desk.Lab.ID, order, file.content, cleanName(file.name))
	if err != nil {
		v.discard(sent)
	}
	if fields, is := faults(err); is {
		p.Errors = FieldErrors{}
		for field, texts := range fields {
			p.Errors[field] = []string{"The " + field + " " + texts[0]}
		}
		return invalid("share_sheet", p)
	} else if err != nil {
		return response{}, err
	}
	p.columns(s, order, nil)
	return show("share_sheet", p)
}

// cleanName returns the name of a file as it is shown.
func cleanName(name string) string {
	clean, err := exchange.Filename(name)
	if err != nil {
		return "spreadsheet"
	}
	return clean
}

// columns shows how columns were understood, with the choices made so far.
func (p *sheetPage) columns(s app.BulkSheet, order exchange.BulkOptions, chosen map[string]string) {
	p.Sheet, p.Order, p.Title = &s, order, "Columns of "+s.Filename
	c, _ := category.Get(order.Category)
	p.Choices = exchange.Columns(c)
	if c.Code == "" {
		for _, c := range category.All() {
			for _, column := range exchange.Columns(c) {
				if !slices.ContainsFunc(p.Choices,
					func(other exchange.Column) bool { return other.Field == column.Field }) {
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
			func(choice exchange.Column) bool { return choice.Field == column.Chosen }) && column.Chosen != leftOut {
			column.Extra = column.Chosen
		}
		p.Columns = append(p.Columns, column)
	}
}

// told returns errors of the columns in the words of the page.
func (p *sheetPage) told(fields map[string][]string) FieldErrors {
	out := FieldErrors{}
	for _, c := range p.Columns {
		if c.Unknown {
			out["mapping"] = append(out["mapping"], "Say what “"+c.Header+
				"” is, leave it out, or keep it as a value of your own.")
		}
	}
	for field, texts := range fields {
		for _, text := range asSentences(texts) {
			switch {
			case field == "category":
				text = "Choose the category of rows that name none."
			case len(out["mapping"]) > 0 && strings.HasPrefix(text, "Nobody knows"): // the page shows it above
				continue
			}
			out[field] = append(out[field], strings.ReplaceAll(text, `or "" to leave it out`, "or leave it out"))
		}
	}
	return out
}

// sendColumns handles the choice of columns, and has the rows checked or stored.
func (v *pageRequest) sendColumns() (response, error) {
	order := exchange.BulkOptions{Mode: exchange.BulkMode(v.PostFormValue("mode")),
		Category: v.PostFormValue("category"), Sheet: v.PostFormValue("sheet"),
		Unknown: v.PostFormValue("unknown"), Mapping: map[string]*string{}}
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
	s, err := v.app.LookAgain(v.Context(), v.who.Actor, token, order)
	if err != nil {
		return response{}, err
	}
	p, err := v.sheetPage(fmt.Sprint(s.Organization))
	if err != nil {
		return response{}, err
	}
	p.columns(s, order, chosen)
	if len(s.Faults) > 0 || v.PostFormValue("do") == "look" {
		if p.Errors = p.told(s.Faults); len(p.Errors) > 0 {
			return invalid("share_sheet", p)
		}
		return show("share_sheet", p)
	}
	j, err := v.app.BulkOf(v.Context(), v.who.Actor, token, order)
	if fields, is := faults(err); is {
		p.Errors = p.told(fields)
		return invalid("share_sheet", p)
	} else if err != nil {
		return response{}, err
	}
	return seeOther(fmt.Sprintf("/share/jobs/%d", j.ID)), nil
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
func (v *pageRequest) sheetTemplate() (response, error) {
	c, known := category.Get(v.URL.Query().Get("category"))
	format, is := sheetFormat(v.URL.Query().Get("format"))
	if !known || !is {
		return v.missing()
	}
	return v.sendSheet(strings.ToLower(c.Code)+"."+format,
		func(out io.Writer) error { return app.Template(c, format, out) })
}

// sheetExport sends the materials of a lab in the format that can be uploaded again.
func (v *pageRequest) sheetExport() (response, error) {
	format, is := sheetFormat(v.URL.Query().Get("format"))
	lab, err := strconv.ParseInt(v.URL.Query().Get("lab"), 10, 64)
	if !is || err != nil {
		return v.missing()
	}
	err = v.app.Expensive(v.Context(), v.caller(),
		func(ctx context.Context) error { return v.app.MayExport(ctx, v.who.Actor, &lab) })
	if err != nil {
		return response{}, err
	}
	keys, err := v.app.ExportKeys(v.Context(), v.caller(), &lab)
	if err != nil {
		return response{}, err
	}
	return v.sendSheet(fmt.Sprintf("materials-%d.%s", lab, format), func(out io.Writer) error {
		return v.app.Export(v.Context(), v.caller(), &lab, keys, format, out)
	})
}

// sheetFormat returns the requested format of spreadsheets; CSV by default.
func sheetFormat(asked string) (string, bool) {
	if asked == "" {
		return "csv", true
	}
	_, known := sheetTypes[asked]
	return asked, known
}
