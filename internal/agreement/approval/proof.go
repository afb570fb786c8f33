package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
)

// document is what the signature of an approval is on, in its canonical JSON.
type document struct {
	Format         string            `json:"format"`
	Institution    int64             `json:"institution"`
	Approval       int64             `json:"approval"`
	Version        int               `json:"version"`
	Direction      party.Direction   `json:"direction"`
	Families       []string          `json:"families"`
	Categories     []string          `json:"categories"`
	LargestBSL     int               `json:"largest_bsl"`
	Human          requirement.Human `json:"human"`
	Members        []string          `json:"members"`
	Counterparties []int64           `json:"counterparties"`
	From           exchange.Date     `json:"from"`
	Until          exchange.Date     `json:"until"`
	Texts          []string          `json:"texts"`
}

// canonical is the document of an approval in canonical JSON (RFC 8785).
func (a Approval) canonical() ([]byte, error) {
	return letter.Canonical(document{"aliquot-approval/1", a.Institution, a.ID, a.Version, a.Direction, a.Families,
		a.Categories, a.LargestBSL, a.Human, a.Members, a.Counterparties, a.From, a.Until, a.Texts})
}

// Document names the version of an approval that is signed, by the hash of its canonical JSON.
func (a Approval) Document() (signing.Document, error) {
	b, err := a.canonical()
	sum := sha256.Sum256(b)
	return signing.Document{Letter: fmt.Sprintf("Standing approval %d", a.ID), Version: a.Version,
		SHA256: hex.EncodeToString(sum[:])}, err
}

// Role is the role in which an approval signs letters.
func (a Approval) Role() string {
	if a.Direction == party.Provide {
		return party.ProviderOfficial
	}
	return party.RecipientOfficial
}

// proof is what is kept of a passkey's signature on an approval: what was signed, and the evidence.
type proof struct {
	Document json.RawMessage  `json:"document"`
	Passkey  signing.Evidence `json:"passkey"`
}

// Proof returns the signature of a passkey on an approval together with what was signed, as JSON.
func (a Approval) Proof(e signing.Evidence) (string, error) {
	b, err := a.canonical()
	if err != nil {
		return "", err
	}
	kept, err := json.Marshal(proof{b, e})
	return string(kept), err
}
