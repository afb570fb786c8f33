// Package webhook sends signed messages to addresses from users, according to the Standard Webhooks specification
// (standardwebhooks.com, version 1.0.0), and only to public servers.
package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// The form of a secret: this prefix, and base64 of 24 to 64 random bytes; ours have 32.
const (
	secretPrefix                          = "whsec_"
	leastSecret, ourSecret, longestSecret = 24, 32, 64
)

// NewSecret returns a new random secret.
func NewSecret() string {
	key := make([]byte, ourSecret)
	_, _ = rand.Read(key) // cannot fail
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// Sign returns the header webhook-signature for a payload, id and time: one signature for each secret, separated by a
// blank. A receiver accepts a message if one matches, so that a secret can be changed without a gap.
func Sign(secrets []string, id string, at time.Time, payload []byte) (string, error) {
	var list []string
	for _, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return "", err
		}
		sum := hmac.New(sha256.New, key)
		sum.Write([]byte(id + "." + timestampHeader(at) + "."))
		sum.Write(payload)
		list = append(list, "v1,"+base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	return strings.Join(list, " "), nil
}

// timestampHeader returns the header webhook-timestamp: whole seconds since 1970.
func timestampHeader(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

func keyOf(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < leastSecret || len(key) > longestSecret {
		return nil, errors.New("a webhook has a secret that is none")
	}
	return key, nil
}
