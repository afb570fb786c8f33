package search

import (
	"testing"

	"aliquot/internal/exchange/fulltext"

	"pgregory.net/rapid"
)

func TestFTS5_ShortWayToItsTextEqualsTheLong(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var fields []fulltext.Field
		for range rapid.IntRange(0, 8).Draw(t, "fields") {
			fields = append(fields, fulltext.Field{Weight: fulltext.Weight(rapid.IntRange(0, 3).Draw(t, "weight")),
				Text: rapid.String().Draw(t, "text")})
		}
		doc := fulltext.New(fields, nil, nil, []string{"a=b"}).Tokens
		if short, long := FTSText(doc), ftsLongText(doc); short != long {
			t.Fatalf("%q\n%q", short, long)
		}
	})
}
