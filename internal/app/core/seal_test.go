package core

import (
	"context"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestSeal_OpensOnlyForItsPurpose(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := t.Context()
		if _, err := Unseal(ctx, db.Read(), "join", "bm8.bm8"); exchange.CodeOf(err) != exchange.NotFound {
			t.Errorf("before any was made: got %v, want NOT_FOUND", err)
		}
		var tokens [2]string
		for i := range tokens {
			err := db.Tx(ctx, func(ctx context.Context, tx store.Conn) (err error) {
				tokens[i], err = Seal(ctx, tx, "join", "7 ünï\ncode")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if tokens[0] != tokens[1] {
			t.Errorf("got %s and %s, want the same key for both", tokens[0], tokens[1])
		}
		if text, err := Unseal(ctx, db.Read(), "join", tokens[0]); err != nil || text != "7 ünï\ncode" {
			t.Errorf("got %q, %v, want the text", text, err)
		}
		first, second, _ := strings.Cut(tokens[0], ".")
		for _, wrong := range []string{"", ".", "x", first, first + ".", "." + second, first[1:] + "." + second,
			tokens[0] + "A", tokens[0][:len(tokens[0])-2], "OA." + second} {
			if text, err := Unseal(ctx, db.Read(), "join", wrong); exchange.CodeOf(err) != exchange.NotFound {
				t.Errorf("%q: got %q, %v, want NOT_FOUND", wrong, text, err)
			}
		}
		if _, err := Unseal(ctx, db.Read(), "unsubscribe", tokens[0]); exchange.CodeOf(err) != exchange.NotFound {
			t.Errorf("for another purpose: got %v, want NOT_FOUND", err)
		}
	})
}
