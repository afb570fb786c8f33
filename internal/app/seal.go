package app

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// linkSecret is the key of the tokens in links of mail. It is in the database, so that every process and
// every start has the same.
const linkSecret = "links"

// markBytes is the length of the mark of a token: half a SHA-256, which nobody guesses.
const markBytes = 16

var tokenText = base64.RawURLEncoding

// seal makes a token that carries text, for one purpose, which only this installation can have made.
// Everybody who has a token can read its text.
func seal(ctx context.Context, tx store.Conn, purpose, text string) (string, error) {
	key, err := tx.Secret(ctx, linkSecret, rand.Text()+rand.Text())
	return tokenText.EncodeToString([]byte(text)) + "." + tokenText.EncodeToString(mark(key, purpose, text)), err
}

// unseal gives the text of a token that seal made for the same purpose; NotFound for any other one.
func unseal(ctx context.Context, c store.Conn, purpose, token string) (string, error) {
	first, second, _ := strings.Cut(token, ".")
	text, err := tokenText.DecodeString(first)
	got, markErr := tokenText.DecodeString(second)
	key, keyErr := c.KnownSecret(ctx, linkSecret)
	if keyErr != nil && exchange.CodeOf(keyErr) != exchange.NotFound {
		return "", keyErr
	}
	if err != nil || markErr != nil || keyErr != nil || !hmac.Equal(got, mark(key, purpose, string(text))) {
		return "", exchange.Errorf(exchange.NotFound, "This link is not valid; take the newest one that you were sent.")
	}
	return string(text), nil
}

func mark(key, purpose, text string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(purpose + "\n" + text))
	return h.Sum(nil)[:markBytes]
}
