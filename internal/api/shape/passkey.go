package shape

import (
	"encoding/base64"
	"encoding/json"

	"aliquot/internal/agreement/signing"
)

// Passkey is a key with which its user signs, or signed.
type Passkey struct {
	ID           int64  `json:"id"`
	Name         string `json:"name"`
	CredentialID string `json:"credential_id"`
	PublicKey    string `json:"public_key"`
	Identified   string `json:"identified"`
	SignedInAt   Time   `json:"signed_in_at"`
	CreatedAt    Time   `json:"created_at"`
	RemovedAt    *Time  `json:"removed_at"`
}

// ShowPasskey is the JSON form of a passkey.
func ShowPasskey(k signing.Registered) Passkey {
	return Passkey{k.ID, k.Name, base64.RawURLEncoding.EncodeToString(k.Passkey.ID),
		base64.RawURLEncoding.EncodeToString(k.Passkey.Public), k.Identified, Time(k.SignedInAt), Time(k.CreatedAt),
		timeOf(k.RemovedAt)}
}

// PasskeyOptions are what a browser passes to navigator.credentials.create.
type PasskeyOptions struct {
	Options json.RawMessage `json:"options"`
}
