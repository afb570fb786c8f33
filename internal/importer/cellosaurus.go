package importer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/identifier"
	"aliquot/internal/exchange/material"
)

// maxCellLineRow is the longest row of the Cellosaurus that is read, in bytes; its longest has about 20,000.
const maxCellLineRow = 1 << 20

// collections are the databases of cross-references in the Cellosaurus that are collections of cell lines, which give
// them catalogue numbers.
var collections = []string{"ATCC", "BCRC", "BCRJ", "BEI_Resources", "CCLV", "CCTCC", "CLS", "Coriell", "DSMZ", "ECACC",
	"IBRC", "ICLC", "IZSLER", "JCRB", "KCB", "KCLB", "NCBI_Iran", "NHRI", "RCB", "TKG", "TNGB", "WiCell"}

// CellLines reads cellosaurus.txt, the flat file of the Cellosaurus (https://www.cellosaurus.org, CC BY 4.0), one cell
// line after the other. It ends at the first entry that is not in the format, with an error that names its row.
func CellLines(r io.Reader) iter.Seq2[material.CellLine, error] {
	return func(yield func(material.CellLine, error) bool) {
		rows := bufio.NewScanner(r)
		rows.Buffer(nil, maxCellLineRow)
		var line material.CellLine
		row, began, found := 0, 0, false
		wrong := func(format string, args ...any) {
			yield(material.CellLine{}, fmt.Errorf("row %d: %s", row, fmt.Sprintf(format, args...)))
		}
		for rows.Scan() {
			row++
			code, text, coded := strings.Cut(rows.Text(), "   ")
			text = exchange.Tidy(strings.ToValidUTF8(text, ""))
			switch {
			case coded && code == "ID":
				if began != 0 {
					wrong("an entry begins before the one of row %d has ended", began)
					return
				}
				line, began = material.CellLine{Name: text}, row
			case began == 0: // the head of the file
			case rows.Text() == "//":
				if line.Accession == "" {
					wrong("the entry of row %d has no accession", began)
					return
				}
				began, found = 0, true
				if !yield(line, nil) {
					return
				}
			case coded:
				if err := addToCellLine(&line, code, text); err != nil {
					wrong("%v", err)
					return
				}
			}
		}
		row++
		switch err := rows.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			wrong("it has more than %d bytes", maxCellLineRow)
		case err != nil:
			yield(material.CellLine{}, err)
		case began != 0:
			wrong("the file ends within the entry of row %d", began)
		case !found:
			yield(material.CellLine{}, errors.New("this is not cellosaurus.txt: no entry begins with ID"))
		}
	}
}

// addToCellLine adds a row of an entry to a cell line.
func addToCellLine(l *material.CellLine, code, text string) (err error) {
	parts := strings.Split(text, "; ")
	switch code {
	case "AC":
		l.Accession, err = identifier.Cellosaurus(text)
	case "AS":
		for _, former := range parts {
			if former, err := identifier.Cellosaurus(former); err == nil {
				l.Former = append(l.Former, former)
			}
		}
	case "DR":
		if len(parts) == 2 && slices.Contains(collections, parts[0]) {
			l.Numbers = append(l.Numbers, parts[0]+" "+parts[1])
		}
	case "DI":
		same := func(other string) bool { return strings.EqualFold(other, parts[len(parts)-1]) }
		if !slices.ContainsFunc(l.Diseases, same) {
			l.Diseases = append(l.Diseases, parts[len(parts)-1])
		}
	case "OX":
		id, name, _ := strings.Cut(text, ";")
		taxon, err := identifier.Taxonomy(strings.TrimPrefix(id, "NCBI_TaxID="))
		if err != nil {
			return err
		}
		name, _, _ = strings.Cut(strings.TrimLeft(name, " !"), " (")
		l.Taxa, l.Organisms = append(l.Taxa, taxon), append(l.Organisms, name)
	case "SX":
		l.Sex = text
	case "AG":
		l.Age = text
	case "CA":
		l.Category = text
	case "CC":
		commentOnCellLine(l, text)
	}
	return err
}

// commentOnCellLine adds a comment to a cell line: a topic, and what there is to say about it.
func commentOnCellLine(l *material.CellLine, text string) {
	topic, text, _ := strings.Cut(strings.TrimSuffix(text, "."), ": ")
	switch topic {
	case "Problematic cell line":
		l.Problem = text
	case "Derived from site": // In situ; Uterus, cervix; UBERON=UBERON_0000002
		if parts := strings.Split(text, "; "); len(parts) > 1 {
			l.Site = parts[1]
		}
	case "Cell type": // Fibroblast of skin; CL=CL_0002620
		l.CellType, _, _ = strings.Cut(text, ";")
	}
}
