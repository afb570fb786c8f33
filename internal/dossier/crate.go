package dossier

import (
	"bytes"
	_ "embed" // for the texts
	"encoding/json"
	"html/template"
	"strconv"
	"time"
)

// Program is verify.py, which checks a dossier with nothing but Python 3.
//
//go:embed verify.py
var Program string

//go:embed README.txt
var readme string

//go:embed cover.html
var coverText string

var coverPage = template.Must(template.New("cover").Funcs(template.FuncMap{
	"time": shownTime,
}).Parse(coverText))

func shownTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 MST") }

// cover returns the cover page.
func (d Dossier) cover() ([]byte, error) {
	var b bytes.Buffer
	err := coverPage.Execute(&b, map[string]any{"Dossier": d, "Last": d.last(),
		"Checkpoint": string(d.Chains[0].Proof.Checkpoint)})
	return b.Bytes(), err
}

// entity is an entity of an RO-Crate.
type entity map[string]any

func id(name string) entity { return entity{"@id": name} }

// crate returns the metadata of the RO-Crate.
func (d Dossier) crate() ([]byte, error) {
	const license, publisher = "#license", "#publisher"
	files := []entity{
		{"@id": "events.jsonl", "@type": "File", "name": "Events", "encodingFormat": "application/jsonl",
			"description": "All events of the record, one on each line; verify.py checks them."},
		{"@id": "cover.html", "@type": "File", "name": "Cover page", "encodingFormat": "text/html"},
		{"@id": "cover.pdf", "@type": "File", "name": "Cover page, to print", "encodingFormat": "application/pdf"},
	}
	for _, f := range d.Files {
		files = append(files, entity{"@id": f.Name, "@type": "File", "name": f.Title, "encodingFormat": f.MediaType,
			"contentSize": strconv.FormatInt(f.Size, 10), "identifier": "sha256:" + f.SHA256})
	}
	parts := make([]entity, len(files))
	for i, f := range files {
		parts[i] = id(f["@id"].(string))
	}
	graph := []entity{
		{"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": id("./"),
			"conformsTo": id("https://w3id.org/ro/crate/1.1")},
		{"@id": "./", "@type": "Dataset", "name": d.Title, "identifier": d.last().Chain,
			"description":   "The record of a transfer of research materials: its events, documents and proof.",
			"datePublished": d.last().At.UTC().Format(time.RFC3339), "license": id(license), "publisher": id(publisher),
			"hasPart": parts},
		{"@id": license, "@type": "CreativeWork", "name": "For the parties of the record",
			"description": "The documents belong to their authors. " +
				"The parties may keep and show this record as evidence."},
		{"@id": publisher, "@type": "Organization", "name": d.Publisher},
	}
	return json.MarshalIndent(entity{"@context": "https://w3id.org/ro/crate/1.1/context",
		"@graph": append(graph, files...)}, "", "  ")
}
