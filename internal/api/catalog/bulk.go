package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"

	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app"
	"aliquot/internal/app/spreadsheet"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
)

// BulkQuery holds the parameters of a spreadsheet upload. A form may have them as fields.
type BulkQuery struct {
	Mode     *material.BulkMode `query:"mode"`
	Category *string            `query:"category" help:"Category of rows that name none."`
	Sheet    *string            `query:"sheet" help:"Name of the sheet of an XLSX or ODS; without it the first one."`
	Unknown  *string            `query:"unknown"`
	Lacking  *string            `query:"lacking" help:"New rows without a field that forms require: keep or refuse."`
	Mapping  *string            `query:"mapping"`
}

// BulkMaterials accepts a spreadsheet as the whole body, or as the part "file" of a form, and answers with the job that
// imports it.
func BulkMaterials(c *rest.Call, _ rest.None) (shape.Job, error) {
	id := c.ID("id")
	if err := c.App.Spreadsheets.MayBulk(c.Context(), c.Actor, id); err != nil { // refused before the form is validated
		return shape.Job{}, err
	}
	var asked BulkQuery
	if err := c.ReadQuery(&asked); err != nil {
		return shape.Job{}, err
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
	c.Location(err, "/jobs/%d", j.ID)
	return shape.ShowJob(j), err
}

// bulkContent stores the spreadsheet. The caller has to discard the returned content, also when there is an error.
func bulkContent(c *rest.Call, organization int64, asked *BulkQuery) (*document.Content, error) {
	kind, _, _ := mime.ParseMediaType(c.Header.Get("Content-Type"))
	store := func(body io.Reader) (*document.Content, error) {
		content, err := c.App.Spreadsheets.StoreBulk(c.Context(), c.Actor, organization, rest.Incoming{Reader: body})
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
	err := rest.ReadForm(c.Request, rest.MaxParts*rest.FieldLimit, func(part *multipart.Part) (err error) {
		content, err = store(part)
		return err
	}, asked.set)
	if err == nil && content == nil {
		err = exchange.FieldErrors{"file": {"is required: the part with the spreadsheet"}}.Err()
	}
	return content, err
}

// set sets a parameter from a field of a form.
func (q *BulkQuery) set(name, text string) {
	switch name {
	case "mode":
		q.Mode = (*material.BulkMode)(&text)
	case "category":
		q.Category = &text
	case "sheet":
		q.Sheet = &text
	case "unknown":
		q.Unknown = &text
	case "lacking":
		q.Lacking = &text
	case "mapping":
		q.Mapping = &text
	}
}

func (q BulkQuery) order() (material.BulkOptions, error) {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return strings.TrimSpace(*s)
	}
	o := material.BulkOptions{Mode: material.BulkMode(text((*string)(q.Mode))), Category: text(q.Category),
		Unknown: text(q.Unknown), Lacking: text(q.Lacking)}
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

// BulkReport sends the result of every row.
func BulkReport(c *rest.Call, _ rest.None) (rest.None, error) {
	id := c.ID("job")
	return rest.None{}, c.SendFile(fmt.Sprintf("report-%d.csv", id), func(begin func() io.Writer) error {
		return c.App.Spreadsheets.BulkReport(c.Context(), c.Actor, c.ID("id"), id, begin)
	})
}

// exportQuery holds the parameters of an export.
type exportQuery struct {
	Format *string `query:"format" help:"csv (the usual), xlsx, or json: an array of materials as GET shows them."`
}

// ExportMaterials sends the materials of an organization in the format that the bulk call accepts.
func ExportMaterials(c *rest.Call, asked exportQuery) (rest.None, error) {
	id := c.ID("id")
	format, err := oneOf("format", asked.Format, "csv", "xlsx", "json")
	if err == nil {
		err = c.App.Expensive(c.Context(), c.Caller(),
			func(ctx context.Context) error { return c.App.Spreadsheets.MayExport(ctx, c.Actor, &id) })
	}
	if err != nil {
		return rest.None{}, err
	}
	return rest.None{}, c.SendFile(fmt.Sprintf("materials-%d.%s", id, format), func(begin func() io.Writer) error {
		return Export(c.Context(), c.App, c.Caller(), &id, format, begin)
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
		return rest.Encoded(shape.ShowMaterial(m), func(raw []byte) error {
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

// MaterialTemplate sends a spreadsheet to fill in.
func MaterialTemplate(c *rest.Call, asked templateQuery) (rest.None, error) {
	format, err := oneOf("format", asked.Format, "xlsx", "csv")
	if err != nil {
		return rest.None{}, err
	}
	code := "OTHER"
	if asked.Category != nil {
		code = *asked.Category
	}
	of, _ := category.Get(code) // ReadQuery has checked that it exists
	if err := c.App.Labs.MayToLab(c.Context(), c.Actor, exchange.MaterialTemplate, c.ID("id")); err != nil {
		return rest.None{}, err
	}
	return rest.None{}, c.SendFile(strings.ToLower(code)+"."+format, func(begin func() io.Writer) error {
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
