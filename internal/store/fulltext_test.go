package store

import (
	"testing"

	"aliquot/internal/exchange/words"

	"pgregory.net/rapid"
)

func TestTheShortWayToTheTextOfFTS5IsTheLongOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var fields []words.Field
		for range rapid.IntRange(0, 8).Draw(t, "fields") {
			fields = append(fields, words.Field{Weight: words.Weight(rapid.IntRange(0, 3).Draw(t, "weight")), Text: rapid.String().Draw(t, "text")})
		}
		doc := words.New(fields, nil, nil, []string{"a=b"}).Tokens
		if short, long := ftsText(doc), ftsLongText(doc); short != long {
			t.Fatalf("%q\n%q", short, long)
		}
	})
}
