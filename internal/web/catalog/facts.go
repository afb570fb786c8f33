package catalog

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

// factSection is a section of a category's form, with the fields that have values.
type factSection struct {
	ID, Name string
	Facts    []fact
	Loci     []locus // of an STR profile
}

type fact struct {
	Label string
	Items []factItem
	Long  bool // has several lines

	Private bool // not everybody sees it
}

type factItem struct {
	Text    string
	Italic  bool // a species
	Address string
}

// Private reports whether some of the facts are shown only to the lab and to accepted requesters.
func (s factSection) Private() bool {
	return slices.ContainsFunc(s.Facts, func(f fact) bool { return f.Private })
}

// locus is a place in the genome with its alleles.
type locus struct{ Name, Alleles string }

// sectionsOf returns the facts of a material, by the sections of its category's form.
func sectionsOf(c category.Category, m material.Shown) []factSection {
	var values map[string]json.RawMessage
	_ = json.Unmarshal(m.Metadata, &values) // it is stored as an object
	lede := shortDescription(m)
	var sections []factSection
	for i, s := range c.Sections() {
		section := factSection{ID: "s-" + slug(s.Name), Name: s.Name}
		if i == 0 {
			section.ID, section.Name = "about", "About"
			if len(m.Organisms) > 0 {
				section.Facts = append(section.Facts, organisms(m.Organisms, category.Items(values["organism_ids"])))
			}
		}
		for _, f := range s.Fields {
			if f.Key == "organism_ids" && len(m.Organisms) > 0 {
				continue
			}
			if f.Key == "str_profile" {
				if section.Loci = lociOf(strings.Join(category.Items(values[f.Key]), "\n")); section.Loci != nil {
					section.Facts = append(section.Facts,
						fact{Label: f.Label, Items: []factItem{{Text: ui.Count(len(section.Loci)) + " loci"}}})
					continue
				}
			}
			if one, known := factOf(f, values[f.Key]); known && (lede == "" || one.Items[0].Text != lede) {
				section.Facts = append(section.Facts, one)
			}
		}
		if i == 0 && m.AdditionalInfo != nil && *m.AdditionalInfo != "" {
			section.Facts = append(section.Facts,
				fact{Label: "More information", Items: []factItem{{Text: *m.AdditionalInfo}}, Long: true})
		}
		if i == 0 {
			section.Facts = append(section.Facts, furtherFacts(&m.Material)...)
		}
		if len(section.Facts) > 0 {
			sections = append(sections, section)
		}
	}
	return sections
}

// furtherFacts returns the facts of the fields whose descriptors name a section.
func furtherFacts(m *material.Material) (list []fact) {
	for _, f := range field.Facts(material.Descriptors, m) {
		list = append(list, fact{Label: f.Label, Items: []factItem{{Text: f.Text}}, Long: f.Long})
	}
	return list
}

// organisms returns the species of a material, with their taxa if each has one.
func organisms(names, taxa []string) fact {
	one := fact{Label: "Organism"}
	for i, name := range names {
		item := factItem{Text: name, Italic: true}
		if len(taxa) == len(names) {
			if l, is := linkIn("taxonomy", taxa[i]); is {
				item.Address = l.Address
			}
		}
		one.Items = append(one.Items, item)
	}
	return one
}

// factOf returns a field's value as a fact; false if it has none.
func factOf(f category.Field, raw json.RawMessage) (fact, bool) {
	one := fact{Label: f.Label, Long: f.Type == category.Long, Private: f.Private}
	for _, text := range labelled(f, raw) {
		item := factItem{Text: text}
		if day, err := time.Parse(time.DateOnly, text); err == nil && f.Type == category.Date {
			item.Text = day.Format("2 Jan 2006")
		}
		if f.Type == category.Integer {
			item.Text = ui.Count(text)
		}
		if f.Unit != "" {
			item.Text += " " + f.Unit
		}
		if f.Vocabulary != "" {
			if l, is := linkIn(f.Vocabulary, text); is {
				item.Address = l.Address
			}
		} else if webAddress(text) && f.Type != category.Long {
			item.Address = text
		}
		item.Italic = f.Key == "insert_species" || f.Key == "model_organism"
		one.Items = append(one.Items, item)
	}
	return one, len(one.Items) > 0
}

// locusLine matches a line of an STR profile: a locus and its alleles.
var locusLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9 _-]{1,15}?)\s*[:=\t ]\s*((?:\d{1,2}(?:\.\d)?|[XY])` +
	`(?:\s*[,/ ]\s*(?:\d{1,2}(?:\.\d)?|[XY]))*)$`)

// fewestLoci is how many loci make an STR profile.
const fewestLoci = 3

// lociOf parses an STR profile, nil if it is written differently.
func lociOf(text string) []locus {
	var loci []locus
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == ';' }) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		found := locusLine.FindStringSubmatch(line)
		if found == nil {
			return nil
		}
		alleles := strings.FieldsFunc(found[2], func(r rune) bool { return r == ',' || r == '/' || r == ' ' })
		loci = append(loci, locus{found[1], strings.Join(alleles, ", ")})
	}
	if len(loci) < fewestLoci {
		return nil
	}
	return loci
}

// slug returns a name as part of an address.
func slug(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }
