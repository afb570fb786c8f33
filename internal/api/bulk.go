package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"

	"aliquot/internal/app"
	"aliquot/internal/app/spreadsheet"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
)

// bulkQuery holds the parameters of a spreadsheet upload. A form may have them as fields.
type bulkQuery struct {
	Mode     *material.BulkMode `query:"mode"`
	Category *string            `query:"category" help:"Category of rows that name none."`
	Sheet    *string            `query:"sheet" help:"Name of the sheet of an XLSX or ODS; without it the first one."`
	Unknown  *string            `query:"unknown"`
	Mapping  *string            `query:"mapping"`
}

// bulkMaterials accepts a spreadsheet as the whole body, or as the part "file" of a form, and answers with the job that
// imports it.
func bulkMaterials(c *Call, _ None) (Job, error) {
	id := c.id("id")
	if err := c.App.Spreadsheets.MayBulk(c.Context(), c.Actor, id); err != nil { // refused before the form is validated
		return Job{}, err
	}
	var asked bulkQuery
	if err := c.readQuery(&asked); err != nil {
		return Job{}, err
	}
	content, err := bulkContent(c, id, &asked)
	var order material.BulkOptions
	if err == nil {
		order, err = asked.order()
	}
	var j exchange.Job
	if err == nil {
		j, err = c.App.Spreadsheets.Bulk(c.Context(), c.Actor, id, order, *content)
	}
	if err != nil && content != nil {
		c.App.Spreadsheets.DiscardBulk(c.Context(), *content, err)
	}
	c.location(err, "/jobs/%d", j.ID)
	return showJob(j), err
}

// bulkContent stores the spreadsheet. The caller has to discard the returned content, also when there is an error.
func bulkContent(c *Call, organization int64, asked *bulkQuery) (*document.Content, error) {
	kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	store := func(body io.Reader) (*document.Content, error) {
		content, err := c.App.Spreadsheets.StoreBulk(c.Context(), c.Actor, organization, incoming{body})
		if err != nil {
			return nil, err
		}
		return &content, nil
	}
	if kind == "application/json" {
		return nil, exchange.Errorf(exchange.UnsupportedMedia,
			"The body must be a spreadsheet, CSV, XLSX or ODS: send it as it is, or as the part file of a form.")
	}
	if kind != "multipart/form-data" {
		if c.ContentLength > c.App.UploadLimit {
			return nil, exchange.Errorf(exchange.TooLarge, "A file may be at most %d bytes.",
				c.App.UploadLimit).With("limit", c.App.UploadLimit)
		}
		return store(c.Body)
	}
	var content *document.Content
	err := readForm(c.Request, maxParts*fieldLimit, func(part *multipart.Part) (err error) {
		content, err = store(part)
		return err
	}, asked.set)
	if err == nil && content == nil {
		err = exchange.FieldErrors{"file": {"is required: the part with the spreadsheet"}}.Err()
	}
	return content, err
}

// set sets a parameter from a field of a form.
func (q *bulkQuery) set(name, text string) {
	switch name {
	case "mode":
		q.Mode = (*material.BulkMode)(&text)
	case "category":
		q.Category = &text
	case "sheet":
		q.Sheet = &text
	case "unknown":
		q.Unknown = &text
	case "mapping":
		q.Mapping = &text
	}
}

func (q bulkQuery) order() (material.BulkOptions, error) {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return strings.TrimSpace(*s)
	}
	o := material.BulkOptions{Mode: material.BulkMode(text((*string)(q.Mode))), Category: text(q.Category),
		Unknown: text(q.Unknown)}
	if q.Sheet != nil {
		o.Sheet = *q.Sheet
	}
	if s := text(q.Mapping); s != "" {
		if err := json.Unmarshal([]byte(s), &o.Mapping); err != nil {
			return o, exchange.FieldErrors{"mapping": {"must be a JSON object from headers to names of fields, such " +
				"as {\"Box\": \"additional_metadata.storage\"}"}}.Err()
		}
	}
	return o, nil
}

// bulkReport sends the result of every row.
func bulkReport(c *Call, _ None) (None, error) {
	id := c.id("job")
	return None{}, c.sendFile(fmt.Sprintf("report-%d.csv", id), func(begin func() io.Writer) error {
		return c.App.Spreadsheets.BulkReport(c.Context(), c.Actor, c.id("id"), id, begin)
	})
}

// exportQuery holds the parameters of an export.
type exportQuery struct {
	Format *string `query:"format" help:"csv (the usual), xlsx, or json: an array of materials as GET shows them."`
}

// exportMaterials sends the materials of an organization in the format that the bulk call accepts.
func exportMaterials(c *Call, asked exportQuery) (None, error) {
	id := c.id("id")
	format, err := oneOf("format", asked.Format, "csv", "xlsx", "json")
	if err == nil {
		err = c.App.Expensive(c.Context(), c.caller(),
			func(ctx context.Context) error { return c.App.Spreadsheets.MayExport(ctx, c.Actor, &id) })
	}
	if err != nil {
		return None{}, err
	}
	return None{}, c.sendFile(fmt.Sprintf("materials-%d.%s", id, format), func(begin func() io.Writer) error {
		return Export(c.Context(), c.App, c.caller(), &id, format, begin)
	})
}

// Export writes the materials of an organization, or of all, as CSV, XLSX or JSON. It calls begin for the writer once
// only the machine can still fail.
func Export(ctx context.Context, a *app.App, caller string, organization *int64, format string,
	begin func() io.Writer) error {
	if format != "json" {
		keys, err := a.Spreadsheets.ExportKeys(ctx, caller, organization)
		if err != nil {
			return err
		}
		return a.Spreadsheets.Export(ctx, caller, organization, keys, format, begin())
	}
	out := begin()
	comma := "[\n"
	err := a.Spreadsheets.EachMaterial(ctx, caller, organization, func(m material.Shown) error {
		return encoded(showMaterial(m), func(raw []byte) error {
			_, err := io.WriteString(out, comma+strings.TrimSuffix(string(raw), "\n"))
			comma = ",\n"
			return err
		})
	})
	if err == nil && comma == "[\n" {
		_, err = io.WriteString(out, "[")
	}
	if err == nil {
		_, err = io.WriteString(out, "\n]\n")
	}
	return err
}

// templateQuery holds the parameters of a template.
type templateQuery struct {
	Category *string `query:"category" help:"Whose columns it has; without it OTHER."`
	Format   *string `query:"format" help:"xlsx (the usual), which offers values to choose from, or csv."`
}

// materialTemplate sends a spreadsheet to fill in.
func materialTemplate(c *Call, asked templateQuery) (None, error) {
	format, err := oneOf("format", asked.Format, "xlsx", "csv")
	if err != nil {
		return None{}, err
	}
	code := "OTHER"
	if asked.Category != nil {
		code = *asked.Category
	}
	of, _ := category.Get(code) // readQuery has checked that it exists
	if err := c.App.Labs.MayToLab(c.Context(), c.Actor, exchange.MaterialTemplate, c.id("id")); err != nil {
		return None{}, err
	}
	return None{}, c.sendFile(strings.ToLower(code)+"."+format, func(begin func() io.Writer) error {
		return spreadsheet.Template(of, format, begin())
	})
}

// oneOf returns said if it is one of words, and the first of words if said is absent.
func oneOf(name string, said *string, words ...string) (string, error) {
	if said == nil {
		return words[0], nil
	}
	if !slices.Contains(words, *said) {
		return "", exchange.FieldErrors{name: {"must be one of " + strings.Join(words, ", ")}}.Err()
	}
	return *said, nil
}

// mediaTypes are the content types of the spreadsheets that are sent.
var mediaTypes = map[string]string{"csv": "text/csv; charset=utf-8", "json": "application/json",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}

// sendFile sends a file that write produces as it goes. If write fails after it began, the connection is cut, so that
// nobody takes a part for the whole.
func (c *Call) sendFile(name string, write func(begin func() io.Writer) error) error {
	begun := false
	err := write(func() io.Writer {
		begun = true
		c.extendDeadlines(0)
		h := c.w.Header()
		h.Set("Content-Type", mediaTypes[name[strings.LastIndexByte(name, '.')+1:]])
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "private, no-store")
		c.w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(c.w).Flush() // sent in chunks: its length is not known
		return uploadDeadline{c}
	})
	if c.written = begun; begun && err != nil {
		panic(http.ErrAbortHandler)
	}
	return err
}

// patientWriter extends the deadline of the connection for each part of a file whose size is not known.
type uploadDeadline struct{ *Call }

func (s uploadDeadline) Write(p []byte) (int, error) {
	s.extendDeadlines(int64(len(p)))
	return s.w.Write(p)
}
