// Package webhook sends signed messages to addresses that people gave us, as the Standard Webhooks
// specification says (standardwebhooks.com, version 1.0.0), and lets them lead nowhere but to public
// servers.
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

// The form of a secret: this word, and base64 of 24 to 64 random bytes; ours have 32.
const (
	secretPrefix                          = "whsec_"
	leastSecret, ourSecret, longestSecret = 24, 32, 64
)

// NewSecret makes a secret.
func NewSecret() string {
	key := make([]byte, ourSecret)
	_, _ = rand.Read(key) // cannot fail
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// Sign gives the header webhook-signature of a payload that is sent under an id at a moment: one
// signature for each secret, with a blank between them. A receiver takes it where one fits, so
// that a secret can be changed without a gap.
func Sign(secrets []string, id string, at time.Time, payload []byte) (string, error) {
	var list []string
	for _, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return "", err
		}
		sum := hmac.New(sha256.New, key)
		sum.Write([]byte(id + "." + stamp(at) + "."))
		sum.Write(payload)
		list = append(list, "v1,"+base64.StdEncoding.EncodeToString(sum.Sum(nil)))
	}
	return strings.Join(list, " "), nil
}

// stamp is the header webhook-timestamp: whole seconds since 1970.
func stamp(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }

func keyOf(secret string) ([]byte, error) {
	text, ok := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < leastSecret || len(key) > longestSecret {
		return nil, errors.New("a webhook has a secret that is none")
	}
	return key, nil
}
