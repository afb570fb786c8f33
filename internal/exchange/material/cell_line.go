package material

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
)

// CellLine is what the Cellosaurus, the catalogue of cell lines, records of one.
type CellLine struct {
	Accession string   // canonical, such as CVCL_0030
	Former    []string // accessions that it had before
	Name      string
	Numbers   []string // under which collections have it, such as ATCC CCL-2
	Organisms []string // scientific names
	Taxa      []string // NCBI Taxonomy IDs
	Diseases  []string // of the donor
	Site      string   // from which the cells were taken
	CellType  string
	Sex       string // in the words of the Cellosaurus, as are age and category
	Age       string
	Category  string
	Problem   string // such as a contamination; "" if none is known
}

// MaxCellLineNumber is the longest number of a cell line that is looked up, in bytes.
const MaxCellLineNumber = 60

// NumberKey returns the key under which a catalogue number is stored and looked up: its capital letters, digits and
// full stops, so that CCL-2, ccl 2 and CCL2 are the same. Of a web address it takes the last part. It is "" for a text
// without a digit that is no accession, and for one that is too long for a number.
func NumberKey(text string) string {
	if _, path, is := strings.Cut(strings.TrimRight(text, "/"), "://"); is {
		text = path[strings.LastIndexByte(path, '/')+1:]
	}
	key := strings.Map(func(r rune) rune {
		if r == '.' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, strings.ToUpper(text))
	if len(key) > MaxCellLineNumber || !strings.ContainsAny(key, "0123456789") && !strings.HasPrefix(key, "CVCL") {
		return ""
	}
	return key
}

// Keys returns the keys under which l is looked up: of its accessions, and of its numbers with their collection and
// without.
func (l CellLine) Keys() []string {
	texts := append([]string{l.Accession}, l.Former...)
	for _, number := range l.Numbers {
		_, local, _ := strings.Cut(number, " ")
		texts = append(texts, number, local)
	}
	var keys []string
	for _, text := range texts {
		if key := NumberKey(text); key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// cellLineTypes are the options of line_type by the categories of the Cellosaurus; the others have none.
var cellLineTypes = map[string]string{
	"Cancer cell line": "cancer", "Transformed cell line": "immortalized",
	"Telomerase immortalized cell line": "immortalized", "Spontaneously immortalized cell line": "immortalized",
	"Conditionally immortalized cell line": "immortalized", "Embryonic stem cell": "esc",
	"Induced pluripotent stem cell": "ipsc", "Finite cell line": "primary", "Hybridoma": "hybridoma",
}

// cellLineSexes are the options of sex by the words of the Cellosaurus.
var cellLineSexes = map[string]string{
	"Female": "female", "Male": "male", "Mixed sex": "mixed", "Sex unspecified": "unknown",
}

var cellLineAge = regexp.MustCompile(`^(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?$`)

// oldest is the highest age in years that a form may state of a donor.
const oldest = "89"

// age returns the age of the donor in words, in place of 30Y6M.
func (l CellLine) age() string {
	parts := cellLineAge.FindStringSubmatch(l.Age)
	if parts == nil {
		return strings.TrimSuffix(l.Age, "Age unspecified")
	}
	if years := parts[1]; len(years) > len(oldest) || len(years) == len(oldest) && years > oldest {
		return "90 or over"
	}
	var words []string
	for i, unit := range []string{"year", "month", "week", "day"} {
		if n := parts[i+1]; n == "1" {
			words = append(words, n+" "+unit)
		} else if n != "" {
			words = append(words, n+" "+unit+"s")
		}
	}
	return strings.Join(words, " ")
}

// Material returns a material with what is known of l, and nothing of the stock that a lab has of it.
func (l CellLine) Material() Material {
	values := map[string]any{"cell_line_name": l.Name, "rrid": "RRID:" + l.Accession, "organism_ids": l.Taxa,
		"disease": strings.Join(l.Diseases, "; "), "tissue": l.Site, "cell_type": l.CellType,
		"line_type": cellLineTypes[l.Category], "sex": cellLineSexes[l.Sex], "age": l.age()}
	metadata := map[string]json.RawMessage{}
	for key, value := range values {
		switch v := value.(type) {
		case string:
			if v = exchange.Tidy(v); v != "" {
				metadata[key] = category.Quote(v)
			}
		case []string:
			if len(v) > 0 {
				metadata[key] = category.Quote(v)
			}
		}
	}
	return Material{Category: "CELL_LINE", Title: l.Name, Organisms: l.Organisms, Metadata: objectOf(metadata)}
}
