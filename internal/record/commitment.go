package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// Opening opens a commitment: it proves what the text was. Without it the commitment tells nothing of the text.
type Opening struct {
	Salt string `json:"salt"` // hex of 32 random bytes
	Text string `json:"text"`
}

// saltSize is the length of a salt in bytes; padding is what the length of a committed text is padded to a multiple of.
const saltSize, padding = 32, 64

// NewOpening returns an opening of a text with a new salt.
func NewOpening(text string) Opening {
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt) // never fails
	return Opening{hex.EncodeToString(salt), text}
}

// Commitment returns the hex HMAC-SHA256, by the salt, of the text as a part, padded with zeros to a multiple of 64
// bytes. A salt that is not hex opens nothing.
func (o Opening) Commitment() string {
	salt, err := hex.DecodeString(o.Salt)
	if err != nil || len(salt) != saltSize {
		return ""
	}
	text := appendPart(nil, o.Text)
	text = append(text, make([]byte, (padding-len(text)%padding)%padding)...)
	h := hmac.New(sha256.New, salt)
	h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// Opens reports whether o opens a commitment.
func (o Opening) Opens(commitment string) bool {
	return commitment != "" && o.Commitment() == commitment
}
