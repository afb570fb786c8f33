package fulltext_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"aliquot/internal/exchange/fulltext"
	"aliquot/internal/exchange/identifier"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// vocabulary lists the pieces from which texts and queries are made.
var vocabulary = []string{
	"HeLa", "HT-29", "HT", "29", "SK-BR-3", "br", "3", "TNFα", "β", "catenin", "Müller", "up-regulated", "cells",
	"cell", "lines",
	"a", "the", "of", "and", "in", "幹細胞", "한국어", "ไทย", "שלום", "हिन्दी", "RRID:CVCL_0320", "12260", "PMID:",
	"10.1000/182", "GSE2122",
	"(x)", "Trp53<tm1Tyj>", "p.Val600Glu", "CO₂", "½", "ﬁbrin", "ΑΒΓ", "κύτταρο", "🔬", "5′", "don’t", "Σίσυφος",
	"e\u0301", "İ",
}

var (
	anyText  = rapid.StringOfN(rapid.Rune(), 0, 60, -1)
	someText = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 8).Draw(t, "words"), " ")
	})
	text  = rapid.OneOf(anyText, someText)
	query = rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for range rapid.IntRange(0, 8).Draw(t, "n") {
			b.WriteString(rapid.SampledFrom([]string{"", " ", " ", "-", `"`, " -", ` "`, "\x00", "-\""}).Draw(t,
				"between"))
			b.WriteString(rapid.OneOf(rapid.SampledFrom(vocabulary), rapid.StringN(0, 8, -1)).Draw(t, "word"))
		}
		return b.String()
	})
)

func document(t *rapid.T) (title, long string, d fulltext.Doc) {
	title, long = text.Draw(t, "title"), text.Draw(t, "long")
	name := text.Draw(t, "name")
	return title, long, fulltext.New([]fulltext.Field{{Weight: fulltext.Title, Text: title},
		{Weight: fulltext.Name, Text: name}, {Weight: fulltext.Body, Text: long}},
		[]identifier.ID{{Kind: "rrid", Canonical: "RRID:CVCL_0320"}}, []string{name}, []string{"category=CELL_LINE"})
}

func TestQuery_TakesAnyTextWithinItsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		checkQuery(t, query.Draw(t, "query"), text.Draw(t, "text"))
	})
}

// checkQuery checks what holds for every query and every text.
func checkQuery(t interface{ Fatalf(string, ...any) }, query, text string) {
	q := fulltext.Parse(query)
	e := q.Expr()
	checkExpr(t, e)
	if size := e.Size(); size > fulltext.MaxTokens {
		t.Fatalf("%q asks for %d tokens", query, size)
	}
	d := fulltext.New([]fulltext.Field{{Weight: fulltext.Title, Text: text}, {Weight: fulltext.Body, Text: query}}, nil,
		[]string{query}, nil)
	checkDoc(t, d)
	if title, ok := q.TitleExpr(); ok {
		checkExpr(t, title)
		if title.Match(d) && !e.Match(d) {
			t.Fatalf("%q finds %q by title and not at all", query, text)
		}
	}
	if score := q.Score(d.Weights); score < 0 || score > 8_000_000_000 {
		t.Fatalf("%q scores %d", query, score)
	}
	q.Score(text)
	fulltext.Spellings(text)
	for _, n := range []int{0, 20, 1000} {
		whole := ""
		for _, piece := range q.Highlight(text, n) {
			if piece.Text == "" {
				t.Fatalf("%q in %q gives an empty piece", query, text)
			}
			whole += piece.Text
		}
		if !strings.Contains(text, whole) {
			t.Fatalf("%q in %q gives %q", query, text, whole)
		}
	}
	for i, word := range q.Words() {
		if again := q.Replace(i, word); again != query {
			t.Fatalf("%q with its own word %d is %q", query, i, again)
		}
	}
}

// checkExpr checks that exactly one field is set and lists have at least two items.
func checkExpr(t interface{ Fatalf(string, ...any) }, e fulltext.Expr) {
	set := 0
	for _, is := range []bool{e.Token != "", e.Phrase != nil, e.And != nil, e.Or != nil, e.But != nil} {
		if is {
			set++
		}
	}
	if set != 1 || len(e.Phrase) == 1 || len(e.And) == 1 || len(e.Or) == 1 || slices.Contains(e.Phrase, "") {
		t.Fatalf("bad expression %+v", e)
	}
	for _, sub := range slices.Concat(e.And, e.Or) {
		checkExpr(t, sub)
	}
	if e.But != nil {
		checkExpr(t, e.But.Yes)
		checkExpr(t, e.But.No)
	}
}

// checkDoc checks the form of tokens that both databases rely on.
func checkDoc(t interface{ Fatalf(string, ...any) }, d fulltext.Doc) {
	marks := map[string]bool{}
	for i, token := range d.Tokens {
		isMark := token != "" && strings.ContainsRune("=~^#@", rune(token[0]))
		switch {
		case !utf8.ValidString(token), strings.ContainsAny(token, " \x00'\"\\:|+*"), len(token) > 4*256:
			t.Fatalf("bad token %q", token)
		case isMark && marks[token]:
			t.Fatalf("%q stands twice", token)
		case isMark:
			marks[token] = true
		case len(marks) > 0:
			t.Fatalf("%q follows marks", token)
		case token == fulltext.Gap && (i == 0 || d.Tokens[i-1] == fulltext.Gap):
			t.Fatalf("a gap between nothing")
		}
	}
	if !marks[fulltext.All] || !utf8.ValidString(d.Weights) {
		t.Fatalf("%q, %q", d.Tokens, d.Weights)
	}
}

func TestQuery_FindsByEachWordAndTheTitle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		title, long, d := document(t)
		for word := range strings.FieldsSeq(fulltext.Fold(title + " " + long)) {
			if !fulltext.Parse(word).Expr().Match(d) {
				t.Fatalf("%q does not find %q", word, d.Tokens)
			}
		}
		plain := strings.Map(func(r rune) rune {
			if strings.ContainsRune(`-"“”`, r) {
				return ' '
			}
			return r
		}, title)
		runes := []rune(plain)
		for n := range len(runes) + 1 {
			q := fulltext.Parse(string(runes[:n]))
			last := fulltext.Fold(string(runes[:n]))
			last = last[strings.LastIndexByte(last, ' ')+1:]
			strange := n > 0 && runes[n-1] >= utf8.RuneSelf // may be written differently before other letters
			if n < len(runes) && (utf8.RuneCountInString(last) < 2 || strange) {
				continue
			}
			if !q.Cut && !q.Expr().Match(titled(plain)) {
				t.Fatalf("%q does not find %q: %+v", runes[:n], titled(plain).Tokens, q.Expr())
			}
		}
	})
}

func TestTokens_EqualForEqualSpellings(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := text.Draw(t, "text")
		for _, other := range []string{norm.NFC.String(s), norm.NFD.String(s),
			norm.NFKC.String(strings.ReplaceAll(s, "™", " "))} {
			if a, b := titled(s), titled(other); utf8.ValidString(s) && !strings.ContainsAny(s, "™℠ªº") &&
				!slices.Equal(a.Tokens, b.Tokens) {
				t.Fatalf("%q gives %q, %q gives %q", s, a.Tokens, other, b.Tokens)
			}
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, query := range []string{
		"", "hela cells", `"unclosed`, `-"not this" -x y`, "a AND b OR (c NEAR/2 d*) ^e : \"",
		"'; DROP TABLE materials; --", "\x00\xff\xfe",
		strings.Repeat("a ", 5000), strings.Repeat("a-", 5000), strings.Repeat("\"-", 5000), strings.Repeat("α", 5000),
		strings.Repeat("e\u0301", 2000),
		strings.Repeat("1", 10_000), strings.Repeat("幹", 3000), "\u202eשלום", "🔬🧬 CO₂ ½", "https://doi.org/10.1000/%zz",
		"12-34-56 78 9a b c d",
		strings.Repeat("\u0301", 10_000), strings.Repeat("3T3 ", 100), strings.Repeat("RRID:CVCL_0320 ", 40),
		"PMID 1 PMID 2",
	} {
		f.Add(query, "HeLa cells of Müller, HT-29 and TNFα 幹細胞")
		f.Add("hela -cells \"ht 29\" tnf", query)
	}
	f.Fuzz(func(t *testing.T, query, text string) { checkQuery(t, query, text) })
}

func FuzzThing(f *testing.F) {
	for _, text := range []string{
		"", "HeLa cells", strings.Repeat("a1 ", 3000), strings.Repeat("a-1-", 3000), strings.Repeat("αβ", 3000),
		strings.Repeat("x", 20_000),
		"10.1000/182", "\x00\xff", strings.Repeat("\u0301", 3000), "=all ~a ^b #c @d |x +AB", "a|b +AAx",
	} {
		f.Add(text, text, "CVCL_0320", "disease="+text)
	}
	f.Fuzz(func(t *testing.T, title, long, id, facet string) {
		d := fulltext.New([]fulltext.Field{{Weight: fulltext.Title, Text: title}, {Weight: fulltext.Name, Text: id},
			{Weight: fulltext.About, Text: long}, {Weight: fulltext.Body, Text: long}},
			[]identifier.ID{{Kind: "rrid", Canonical: id}, {Canonical: title}}, []string{id, title}, []string{facet})
		checkDoc(t, d)
		if most := 100 * (len(title) + len(long) + len(id) + 10); len(d.Tokens) > most || len(d.Weights) > most {
			t.Fatalf("%d tokens, %d bytes of weights", len(d.Tokens), len(d.Weights))
		}
		checkQuery(t, title, long)
	})
}
