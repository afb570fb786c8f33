package lint_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/letter/lettertest"
	"aliquot/internal/agreement/lint"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/exchange"
)

const (
	day          = exchange.Date("2026-06-15")
	cleanCases   = 100
	casesOfClass = 20
	corpusSeed   = 20260615
)

// corpus makes letters and papers, always the same ones.
type corpus struct {
	*rand.Rand
	t    testing.TB
	made int
}

func pick[T any](c *corpus, list ...T) T { return list[c.IntN(len(list))] }

var (
	firstNames = []string{"Ines", "Jon", "Łucja", "Søren", "Ana María", "Wei", "Yuki", "Olu", "Priya", "Jean-Luc", "Zoë", "May"}
	lastNames  = []string{"Ortega", "Lind", "Świątek", "Kjærgaard", "García López", "Zhang", "Tanaka", "Adeyemi", "Church",
		"Hall", "Laborde", "Institoris", "O'Neil", "van der Berg", "Rivers", "Temple"}
	places = []string{"Aarlund University", "Berg Institute for Cell Biology", "University of Nordhavn", "Universität der Flüsse",
		"Max Planck Institute of Streams", "St Mary's Hospital", "École de Médecine de Lac", "National Research Council of Ostia"}
	streets = []string{"12 Main Street, Building 4, 8000 Aarlund, Denmark", "Bergstraße 5, 69120 Heidelberg, Germany",
		"1 Hospital Road, Oxford OX1 2AB, United Kingdom", "77 Mass Avenue, Cambridge MA 02139, USA"}
	materials = []string{"HEK293 β-catenin reporter", "pUC19-GFP", "C57BL/6 Trp53 flox", "anti-CD3 hybridoma, clone OKT3",
		"α-synuclein A53T fibroblasts", "E. coli DH5α"}
	quantities = []string{"1 vial", "2 vials", "10 µg", "5 ml", "3 plates", "1.5 ml", "two breeding pairs"}
	forms      = []string{"UBMTA_LETTER", "SIMPLE_LETTER_1995", "OPEN_MTA", "HUMAN_MTA", "DATA_USE", "MTA_TO"}
)

func (c *corpus) person() string {
	name := pick(c, firstNames...) + " " + pick(c, lastNames...)
	return pick(c, "", "Dr. ", "Prof. ", "Prof. Dr. ") + name + pick(c, "", "", ", PhD")
}

// side makes an institution with a person who may sign for it.
func (c *corpus) side(id int64, name string, official party.Person) lint.Side {
	return lint.Side{
		Institution: party.Institution{ID: id, LegalName: name, Address: pick(c, streets...)},
		Register: party.Register{
			Positions: []party.Position{{ID: id, Title: "Director, Technology Transfer", Period: party.Period{From: "2020-01-01"}}},
			Authorities: []party.Authority{{ID: id, Position: id, Holder: official, Direction: party.Both, LargestBSL: 2,
				Period: party.Period{From: "2020-01-01", Until: "2030-01-01"}}},
		},
	}
}

// clean makes a case with nothing wrong. Every second one has a paper.
func (c *corpus) clean() lint.Case {
	c.made++
	i := lettertest.Instrument(c.t, pick(c, forms...))
	if c.made%3 == 0 {
		i.Template += "1. The recipient stores the materials in a locked freezer and keeps a list of everybody who uses them.\n" +
			"2. Results are published in the usual way, and a copy is sent to the provider scientist within four weeks.\n"
	}
	names := slices.Clone(places)
	c.Shuffle(len(names), func(a, b int) { names[a], names[b] = names[b], names[a] })
	officials := []party.Person{{Name: c.person(), Mail: "a@example.edu"}, {Name: c.person(), Mail: "b@example.org"}}
	out := lint.Case{Day: day, Instrument: i, Quantities: map[int64]string{}, Provider: c.side(1, names[0], officials[0]),
		Recipient: c.side(2, names[1], officials[1])}
	var requests []letter.Request
	for n := range 1 + c.IntN(5) {
		q := letter.Request{ID: int64(100*c.made + n), Material: fmt.Sprintf("%s %d", pick(c, materials...), n+1), Quantity: pick(c, quantities...)}
		requests = append(requests, q)
		out.Quantities[q.ID] = pick(c, q.Quantity, strings.ToUpper(q.Quantity[:1])+q.Quantity[1:], strings.ReplaceAll(q.Quantity, "2 ", "two "))
	}
	scientists := []string{c.person(), c.person()}
	out.Letter = letter.New(fmt.Sprint("A-", c.made), pick(c, day, "2026-06-01", "2026-05-20"), i, 1, 2, requests,
		map[string]string{"provider_name": names[0], "recipient_name": names[1], "provider_scientist": scientists[0],
			"recipient_scientist": scientists[1]})
	act := func(d party.Direction) []party.Act {
		return []party.Act{{Direction: d, Family: i.Family, Category: "PLASMID", BSL: 1}}
	}
	out.Signatures = []lint.Signature{
		{Role: "PROVIDER_SCIENTIST", Person: party.Person{Name: scientists[0]}, Institution: 1, Date: day},
		{Role: "RECIPIENT_SCIENTIST", Person: party.Person{Name: scientists[1]}, Institution: 2, Date: out.Letter.Date},
		{Role: "PROVIDER_OFFICIAL", Person: officials[0], Institution: 1, Acts: act(party.Provide), Date: pick(c, day, "")},
		{Role: "RECIPIENT_OFFICIAL", Person: officials[1], Institution: 2, Acts: act(party.Receive)},
	}
	address := out.Recipient.Institution.Address
	out.Addresses = []lint.Address{{Party: "recipient", Source: "institution", Text: address},
		{Party: "recipient", Source: "request", Text: c.rewritten(address)}, {Party: "provider", Source: "institution", Text: streets[0]}}
	out.Permits = []requirement.Permit{{Regime: "IRB", Number: "old", From: "2024-01-01", Until: "2025-01-01"},
		{Regime: "IRB", Number: "new", From: "2025-01-01", Until: pick[exchange.Date](c, "", "2026-06-16", "2027-01-01")}}
	out.Grants = []lint.Grant{{Number: "R01-7", Until: pick[exchange.Date](c, "", "2026-06-16", "2028-12-31")}}
	other := out.Letter
	other.Number, other.Recipient = "A-other", 3
	out.Others = []letter.Letter{out.Letter, other}
	if c.made%2 == 0 {
		out.Paper = c.paper(out.Letter, i, true)
	}
	return out
}

// rewritten writes an address as another form has it.
func (c *corpus) rewritten(address string) string {
	return pick(c, address, strings.ToUpper(address), strings.ReplaceAll(address, "Street", "St."),
		strings.NewReplacer("Avenue", "Ave", "straße", "str.", "Road", "Rd").Replace(address), strings.ReplaceAll(address, ", ", "\n"),
		strings.TrimSuffix(strings.TrimSuffix(address, ", Denmark"), ", Germany"))
}

// paper returns a letter as it is read of an upload: its lines broken elsewhere, with hyphens, ligatures and ends of
// pages, and with what people wrote on it.
func (c *corpus) paper(l letter.Letter, i instrument.Instrument, signed bool) *lint.Paper {
	var list []string
	for line := range strings.Lines(l.Printed(i)) {
		list = append(append(list, strings.Fields(line)...), "\n")
		if signed && slices.ContainsFunc(i.Signers, func(s string) bool { return strings.TrimSpace(line) == letter.SignatureLabel(s) }) {
			list = append(append(list, strings.Fields(c.person()+", Director of Technology Transfer, 12 June 2026")...), "\n")
		}
	}
	width := 40 + c.IntN(60)
	var lines []string
	line := ""
	for _, w := range list {
		switch {
		case w == "\n":
			lines = append(lines, line)
			line = ""
		case len(line)+len(w) > width && len(w) > 9 && !strings.ContainsAny(w, "0123456789-_{[") && c.IntN(3) == 0:
			runes := []rune(w)
			lines = append(lines, line+" "+string(runes[:4])+pick(c, "-", "\u00ad"))
			line = string(runes[4:])
		case len(line)+len(w) > width:
			lines = append(lines, line)
			line = w
		default:
			line += pick(c, " ", " ", " ", "  ", "\u00a0") + w
		}
	}
	lines = append(lines, line)
	pages := min(1+c.IntN(3), len(lines))
	p := &lint.Paper{}
	for n, chunk := range slices.Collect(slices.Chunk(lines, (len(lines)+pages-1)/pages)) {
		text := strings.NewReplacer("fi", "ﬁ", "fl", "ﬂ").Replace(strings.Join(chunk, "\n"))
		p.Pages = append(p.Pages, lint.Page{Text: text, Images: n % 2})
	}
	for n := range p.Pages {
		p.Pages[n].Text += fmt.Sprintf("\n%s, version %d, page %d of %d\n", l.Number, l.Version, n+1, len(p.Pages))
	}
	return p
}

// reprint returns the paper of a letter with other text.
func (c *corpus) reprint(k *lint.Case, change func(*letter.Letter, *instrument.Instrument)) {
	l, i := k.Letter, k.Instrument
	l.Fields = map[string]string{}
	for name, value := range k.Letter.Fields {
		l.Fields[name] = value
	}
	l.Requests = slices.Clone(l.Requests)
	change(&l, &i)
	k.Paper = c.paper(l, i, true)
}

// mistakes are what each class does to a clean case. n counts the cases of the class.
var mistakes = map[lint.Class]func(c *corpus, k *lint.Case, n int){
	lint.SignerWithoutAuthority: func(c *corpus, k *lint.Case, n int) {
		s, a := &k.Signatures[2], &k.Provider.Register.Authorities[0]
		switch n % 7 {
		case 0:
			s.Person = party.Person{Name: c.person(), Mail: "somebody@example.edu"}
		case 1:
			a.Until = day
		case 2:
			a.From = "2026-06-16"
		case 3:
			a.Direction = party.Receive
		case 4:
			a.Families = []string{"NO_SUCH"}
		case 5:
			s.Acts = append(s.Acts, party.Act{Direction: party.Provide, Family: k.Instrument.Family, BSL: 3})
		case 6:
			s.Acts = append(s.Acts, party.Act{Direction: party.Provide, Family: k.Instrument.Family, Human: true})
		}
		s.Date = day
	},
	lint.PersonIsOrganization: func(c *corpus, k *lint.Case, n int) {
		wrong := []string{"University of Nordhavn", "Department of Genetics", "Ortega Lab Inc.", "Institut für Biologie", "Office of Technology Transfer",
			k.Provider.Institution.LegalName, "Świątek Laboratory", "Hospital Clínic", "Faculty of Medicine", "Novel Cures GmbH"}[n%10]
		if n%2 == 0 {
			k.Letter.Fields["recipient_scientist"] = wrong
		} else {
			k.Signatures[0].Person.Name = wrong
		}
		k.Paper = nil
	},
	lint.InstitutionsDiffer: func(c *corpus, k *lint.Case, n int) {
		k.Signatures[n%4].Institution = []int64{2, 1, 9, 9}[n%4]
	},
	lint.AddressesDiffer: func(c *corpus, k *lint.Case, n int) {
		a := k.Addresses[0].Text
		k.Addresses[1].Text = []string{strings.ReplaceAll(strings.ReplaceAll(a, "1", "3"), "5", "6"), streets[(slices.Index(streets, a)+1)%4],
			"Other Lane, " + a[strings.Index(a, ",")+2:]}[n%3]
	},
	lint.TextDiffers: func(c *corpus, k *lint.Case, n int) {
		c.reprint(k, func(l *letter.Letter, i *instrument.Instrument) {
			switch n % 5 {
			case 0:
				i.Template = strings.Replace(i.Template, " and ", " or ", 1)
			case 1:
				i.Template = strings.Replace(i.Template, "the recipient", "the recipient and its affiliates", 1)
			case 2:
				i.Template = strings.Replace(i.Template, "The work is led by", "The work may be led by", 1)
			case 3:
				i.Template += "The recipient indemnifies the provider against every claim, loss and expense that arises from any use of anything sent.\n"
			case 4:
				i.Template, _, _ = strings.Cut(i.Template, "The work is led by")
			}
		})
	},
	lint.PartsMissing: func(c *corpus, k *lint.Case, n int) {
		k.Paper = c.paper(k.Letter, k.Instrument, true)
		for len(k.Paper.Pages) < 2 {
			k.Paper = c.paper(k.Letter, k.Instrument, true)
		}
		if n%3 == 0 {
			c.reprint(k, func(_ *letter.Letter, i *instrument.Instrument) { i.Signers = i.Signers[1:] })
			return
		}
		k.Paper.Pages = slices.Delete(k.Paper.Pages, n%2, n%2+1)
	},
	lint.DatesOutOfOrder: func(c *corpus, k *lint.Case, n int) {
		switch n % 4 {
		case 0:
			k.Signatures[n%3].Date = "2026-05-01"
		case 1:
			k.Signatures[n%3].Date = "2026-06-16"
		case 2:
			k.Letter.Date, k.Paper = "2026-06-20", nil
		case 3:
			k.Permits = append(k.Permits, requirement.Permit{Regime: "IBC", Number: "7", From: "2027-01-01", Until: "2026-12-01"})
		}
	},
	lint.PermitExpired: func(c *corpus, k *lint.Case, n int) {
		if n%2 == 0 {
			k.Permits = []requirement.Permit{{Regime: "IACUC", Number: "3", From: "2025-01-01", Until: pick[exchange.Date](c, day, "2026-01-01")}}
		} else {
			k.Grants = append(k.Grants, lint.Grant{Number: "F32", Until: pick[exchange.Date](c, day, "2025-12-31")})
		}
	},
	lint.BlankTemplate: func(c *corpus, k *lint.Case, n int) {
		i := k.Instrument
		gap := []string{"[%s]", "{{%s}}", "______________%.0s", "            %.0s"}[n%4]
		for _, f := range i.Fields {
			i.Template = strings.ReplaceAll(i.Template, "{{"+f.Name+"}}", fmt.Sprintf(gap, f.Name))
		}
		blank := letter.Letter{Date: k.Letter.Date, Instrument: i.ID, Edition: i.Version, TextHash: i.SHA256}
		k.Paper = c.paper(blank, i, n%2 == 0)
	},
	lint.UnreadableScan: func(c *corpus, k *lint.Case, n int) {
		k.Paper = c.paper(k.Letter, k.Instrument, true)
		page := &k.Paper.Pages[n%len(k.Paper.Pages)]
		page.Text, page.Images = []string{"", "\n \n", "l1 ;", "x"}[n%4], 1
		if n%5 == 0 {
			k.Paper = &lint.Paper{Pages: []lint.Page{{}, {Text: "."}}}
		}
	},
	lint.SeveralLetters: func(c *corpus, k *lint.Case, n int) {
		other := k.Letter
		other.Number = fmt.Sprint("A-again-", n)
		k.Others = append(k.Others, other)
	},
	lint.QuantitiesDiffer: func(c *corpus, k *lint.Case, n int) {
		wrong := []string{"20 vials", "15 ml", "1 kg", "3 breeding pairs", "", "4 plates"}[n%6]
		q := k.Letter.Requests[n%len(k.Letter.Requests)]
		if n%2 == 0 {
			k.Quantities[q.ID] = wrong
			return
		}
		c.reprint(k, func(l *letter.Letter, _ *instrument.Instrument) { l.Requests[n%len(l.Requests)].Quantity = wrong })
	},
}

func classes(findings []lint.Finding) (list []lint.Class) {
	for _, f := range findings {
		list = append(list, f.Class)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestCheck_MeetsTheBarsOfTheCorpus counts as precision how many of the findings are of the class that was put there,
// and as recall in how many cases of a class it was found. The table of docs/decisions/agreements.md is its output.
func TestCheck_MeetsTheBarsOfTheCorpus(t *testing.T) {
	t.Parallel()
	c := &corpus{Rand: rand.New(rand.NewPCG(corpusSeed, 0)), t: t}
	for n := range cleanCases {
		k := c.clean()
		if found := lint.Check(k); len(found) > 0 {
			t.Errorf("clean case %d: %+v", n, found)
		}
	}
	found, right := map[lint.Class]int{}, map[lint.Class]int{}
	for _, class := range lint.Classes() {
		for n := range casesOfClass {
			k := c.clean()
			mistakes[class](c, &k, n)
			list := classes(lint.Check(k))
			if !slices.Contains(list, class) {
				t.Logf("%s %d: not found, but %v", class, n, list)
			}
			for _, have := range list {
				found[have]++
				if have == class {
					right[class]++
				} else {
					t.Logf("%s %d: %s found too", class, n, have)
				}
			}
		}
	}
	for _, class := range lint.Classes() {
		recall := float64(right[class]) / casesOfClass
		precision := float64(right[class]) / float64(max(1, found[class]))
		t.Logf("| `%s` | %.2f | %.2f |", class, precision, recall)
		if recall < 0.9 || precision < 0.9 {
			t.Errorf("%s: precision %.2f, recall %.2f", class, precision, recall)
		}
	}
}

func TestCheck_SaysHowToCorrectWhatItFinds(t *testing.T) {
	t.Parallel()
	c := &corpus{Rand: rand.New(rand.NewPCG(corpusSeed, 1)), t: t}
	for _, class := range lint.Classes() {
		k := c.clean()
		mistakes[class](c, &k, 0)
		found := lint.Check(k)
		if len(found) == 0 {
			t.Errorf("%s: nothing found", class)
		}
		for _, f := range found {
			if f.Where == "" || f.Severity == "" || strings.Count(f.Message, ".") == 0 || !strings.HasSuffix(f.Message, ".") {
				t.Errorf("%s: %+v", class, f)
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("page 1 of 9\n100 pUC19 2 vials", 1)
	f.Add(strings.Repeat("a ", 99)+"\u00ad\n", 0)
	f.Fuzz(func(t *testing.T, text string, images int) {
		l, i := lettertest.Short(t)
		lint.Check(lint.Case{Day: day, Letter: l, Instrument: i, Paper: &lint.Paper{Pages: []lint.Page{{Text: text, Images: images}}}})
	})
}

func BenchmarkCheck(b *testing.B) {
	c := &corpus{Rand: rand.New(rand.NewPCG(corpusSeed, 2)), t: b}
	k := c.clean()
	k.Paper = c.paper(k.Letter, k.Instrument, true)
	for b.Loop() {
		lint.Check(k)
	}
}
