package core

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

// linkSecret is the name of the key for tokens in mail links. The key is in the database, so that every process has the
// same one after every start.
const linkSecret = "links"

// markBytes is the length of a token's MAC: half a SHA-256, which cannot be guessed.
const markBytes = 16

var tokenText = base64.RawURLEncoding

// Seal makes a token that carries text for one purpose and that only this installation can make. Whoever has a token
// can read its text.
func Seal(ctx context.Context, tx store.Conn, purpose, text string) (string, error) {
	key, err := tx.Secrets.Known(ctx, linkSecret)
	if exchange.CodeOf(err) == exchange.NotFound {
		key, err = tx.Secrets.Get(ctx, linkSecret, rand.Text()+rand.Text())
	}
	return tokenText.EncodeToString([]byte(text)) + "." + tokenText.EncodeToString(mark(key, purpose, text)), err
}

// Unseal returns the text of a token that seal made for the same purpose; NotFound for any other token.
func Unseal(ctx context.Context, c store.Conn, purpose, token string) (string, error) {
	first, second, _ := strings.Cut(token, ".")
	text, err := tokenText.DecodeString(first)
	got, markErr := tokenText.DecodeString(second)
	key, keyErr := c.Secrets.Known(ctx, linkSecret)
	if keyErr != nil && exchange.CodeOf(keyErr) != exchange.NotFound {
		return "", keyErr
	}
	if err != nil || markErr != nil || keyErr != nil || !hmac.Equal(got, mark(key, purpose, string(text))) {
		return "", exchange.Errorf(exchange.NotFound, "This link is not valid; use the latest one that you received.")
	}
	return string(text), nil
}

func mark(key, purpose, text string) []byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(purpose + "\n" + text))
	return h.Sum(nil)[:markBytes]
}
