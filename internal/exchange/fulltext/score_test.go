package fulltext_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"
)

// thing makes a Doc from lines of "weight: text"; "key:" is an RRID and "whole:" another whole name.
func thing(lines ...string) fulltext.Doc {
	var fields []fulltext.Field
	var ids []identifier.ID
	var wholes []string
	for _, line := range lines {
		kind, text, _ := strings.Cut(line, ": ")
		switch kind {
		case "key":
			ids = append(ids, identifier.ID{Kind: "rrid", Canonical: text})
		case "whole":
			wholes = append(wholes, text)
			fields = append(fields, fulltext.Field{Weight: fulltext.Name, Text: text})
		default:
			weight := slices.Index([]string{"body", "about", "name", "title"}, kind)
			fields = append(fields, fulltext.Field{Weight: fulltext.Weight(weight), Text: text})
		}
	}
	return fulltext.New(fields, ids, wholes, nil)
}

// TestScore_BestMatchComesFirst lists objects in the order in which a search must return them.
func TestScore_BestMatchComesFirst(t *testing.T) {
	t.Parallel()
	for query, order := range map[string][]fulltext.Doc{
		"HeLa": {
			thing("title: HeLa"),
			thing("title: Cells of 1951", "whole: HeLa"),
			thing("title: HeLa S3"),
			thing("title: HeLa S3 of the lab"),
			thing("title: HeLaX S3 of the lab"),
			thing("title: Lysate", "name: HeLa"),
			thing("title: Lysate", "name: HeLaX"),
			thing("title: Lysate", "about: From HeLa"),
			thing("title: Lysate", "body: From HeLa"),
		},
		"CVCL_0320": {
			thing("title: HT-29", "key: RRID:CVCL_0320"),
			thing("title: Daughter of CVCL_0320"),
			thing("title: Daughter", "body: of CVCL_0320"),
		},
		"ht29": {
			thing("title: HT-29"),
			thing("title: HT 29 cells"),
			thing("title: HT-29 cells with luciferase"),
			thing("title: Lysate", "name: HT-29"),
			thing("title: Lysate", "body: HT-29"),
		},
		"colon carcinoma": {
			thing("title: Carcinoma of the colon"),
			thing("title: Carcinoma of the colon, grade two, fresh"),
			thing("title: Carcinoma", "name: Colon"),
			thing("title: Carcinoma", "about: Colon"),
			thing("title: Carcinoma", "body: Colon"),
			thing("title: Mass", "body: Colon carcinoma"),
		},
		"PMID 12345": {
			fulltext.New([]fulltext.Field{{Weight: fulltext.Title, Text: "Mice"}},
				[]identifier.ID{{Kind: "pmid", Canonical: "12345"}}, nil, nil),
			thing("title: PMID 12345"),
		},
		"happy mou": {
			thing("title: Happy mou"),
			thing("title: Happy mouse"),
			thing("title: Happy", "name: mouse"),
		},
	} {
		q := fulltext.Parse(query)
		last := 0
		for i, d := range order {
			score := q.Score(d.Weights)
			if i > 0 && score >= last {
				t.Errorf("%q: %d. scores %d, the one before %d: %q", query, i+1, score, last, d.Weights)
			}
			last = score
			if !q.Expr().Match(d) && !strings.HasSuffix(d.Tokens[0], "lysat") {
				t.Errorf("%q does not find %d.", query, i+1)
			}
		}
	}
}

func TestHighlight(t *testing.T) {
	t.Parallel()
	long := "First line. " + strings.Repeat("Some words that say nothing at all. ", 40) +
		"Here HT-29 cells of Müller meet TNF\u03b1 at last. " + strings.Repeat("And go on for long. ", 40)
	for _, row := range []struct {
		query, text string
		n           int
		want        string
	}{
		{"hela", "HeLa cells", 100, "[HeLa] cells"},
		{"cell", "HeLa cells", 100, "HeLa [cells]"},
		{"mouse", "HeLa cells", 100, ""},
		{"", "HeLa cells", 100, ""},
		{"-hela", "HeLa cells", 100, ""},
		{"ht29", "The HT-29 line", 100, "The [HT-29] line"},
		{"HT-29", "The HT 29 line, HT29, 29", 100, "The [HT 29] line, [HT29], 29"},
		{"muller", "Dr. Mu\u0308ller’s", 100, "Dr. [Mu\u0308ller’s]"},
		{"tnf-alpha", "of TNFα.", 100, "of [TNFα]."},
		{`"cells of"`, "cells in cells of", 100, "cells in [cells of]"},
		{"the cells", "the cells", 100, "the [cells]"},
		{"hel", "HeLa", 100, "[HeLa]"},
		{"細胞", "幹細胞", 100, "幹[細胞]"},
		{"ht29 muller", long, 50, "Here [HT-29] cells of [Müller] meet TNFα at last."},
		{"ht29", long, 1, "[HT-29]"},
		{"hela", "<b>HeLa</b>", 100, "<b>[HeLa]</b>"},
	} {
		var got strings.Builder
		for _, piece := range fulltext.Parse(row.query).Highlight(row.text, row.n) {
			if piece.Match {
				fmt.Fprintf(&got, "[%s]", piece.Text)
			} else {
				got.WriteString(piece.Text)
			}
		}
		if got.String() != row.want {
			t.Errorf("%q in %.40q: %q, want %q", row.query, row.text, got.String(), row.want)
		}
	}
}

func TestQuery_NamesWordsThatMayBeMistyped(t *testing.T) {
	t.Parallel()
	q := fulltext.Parse(`the carcinmoa "of the" HT-29 12260 -colom Müler`)
	if got := q.Words(); !slices.Equal(got, []string{"carcinmoa", "Müler"}) {
		t.Errorf("plain words are %q", got)
	}
	if got := q.Replace(0, "carcinoma"); got != `the carcinoma "of the" HT-29 12260 -colom Müler` {
		t.Errorf("corrected: %q", got)
	}
	for _, row := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"carcinmoa", "carcinoma", 1}, {"colom", "colon", 1}, {"colon", "colons", 1},
		{"müller", "muller", 1}, {"abc", "cab", 2}, {"hela", "mouse", 5}} {
		if got := fulltext.Distance(row.a, row.b); got != row.want || fulltext.Distance(row.b, row.a) != got {
			t.Errorf("distance of %q and %q is %d", row.a, row.b, got)
		}
	}
	if got := fulltext.Spellings(thing("title: Happy HT-29 cells", "name: Happy mice", "about: colon",
		"body: dust").Weights); !slices.Equal(got, []string{"happy", "ht", "29", "cells", "mice"}) {
		t.Errorf("spellings are %q", got)
	}
}

func TestQuery_IgnoresWordsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("word ", fulltext.MaxWords)
	if fulltext.Parse(many).Cut || !fulltext.Parse(many+"more").Cut || fulltext.Parse(many+" ...").Cut {
		t.Error("the limit is not where it is said to be")
	}
	if !fulltext.Parse(many + "more").Expr().Match(titled(many)) {
		t.Error("what is beyond the limit counts")
	}
	long := strings.Repeat("a", 70)
	if !fulltext.Parse(long + "b").Expr().Match(titled(long + "c")) {
		t.Error("a word's letters beyond 64 count")
	}
}

var abstract = strings.Repeat("Human colon adenocarcinoma cells grown in McCoy's medium were treated with TNFα, "+
	"harvested and sequenced. ", 10)

func BenchmarkDoc(b *testing.B) {
	for b.Loop() {
		thing("title: HT-29 human colorectal adenocarcinoma cell line", "name: Homo sapiens",
			"name: Colon adenocarcinoma", "about: Müller lab", "body: "+abstract, "key: RRID:CVCL_0320")
	}
}

func BenchmarkScore(b *testing.B) {
	d := thing("title: HT-29 human colorectal adenocarcinoma cell line", "name: Homo sapiens",
		"name: Colon adenocarcinoma", "name: Epithelial", "about: Müller lab of cell biology", "key: RRID:CVCL_0320")
	for _, query := range []string{"HT-29", "human colon cell", "RRID:CVCL_0320"} {
		q := fulltext.Parse(query)
		b.Run(query, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				q.Score(d.Weights)
			}
		})
	}
}
