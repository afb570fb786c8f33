package shape

import (
	"encoding/json"
	"fmt"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/lint"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/agreement/term"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange/mailing"

	"github.com/google/uuid"
)

// AgreementSummary is an agreement as lists have it.
type AgreementSummary struct {
	ID                int64        `json:"id"`
	Number            string       `json:"number"`
	State             letter.State `json:"state"`
	Instrument        string       `json:"instrument"`
	InstrumentVersion string       `json:"instrument_version"`
	Version           int          `json:"version"`
	SHA256            string       `json:"sha256"`
	Provider          int64        `json:"provider"`
	Recipient         int64        `json:"recipient"`
	Organization      int64        `json:"organization"`
	Requester         uuid.UUID    `json:"requester"`
	Requests          []int64      `json:"requests"`
	Reason            string       `json:"reason"`
	MadeBy            uuid.UUID    `json:"made_by"`
	CreatedAt         Time         `json:"created_at"`
	UpdatedAt         Time         `json:"updated_at"`
	SentAt            *Time        `json:"sent_at"`
	EndedAt           *Time        `json:"ended_at"`
	ClosedAt          *Time        `json:"closed_at"`
}

// SummarizeAgreement is the JSON form of an agreement in a list.
func SummarizeAgreement(l letter.Agreement) AgreementSummary {
	return AgreementSummary{l.ID, l.Letter.Number, l.State, l.Letter.Instrument, l.Letter.Edition, l.Letter.Version,
		l.SHA256, l.Letter.Provider, l.Letter.Recipient, l.Organization, l.Requester, l.Letter.RequestIDs(), l.Reason,
		l.MadeBy, Time(l.CreatedAt), Time(l.UpdatedAt), timeOf(l.SentAt), timeOf(l.EndedAt),
		timeOf(l.ClosedAt)}
}

// Agreement is an agreement with all that is known of it.
type Agreement struct {
	AgreementSummary
	Title      string                 `json:"title"`
	Purpose    string                 `json:"purpose"`
	Choice     string                 `json:"choice"`
	Reason     string                 `json:"choice_reason"`
	Fields     map[string]string      `json:"fields"`
	Missing    []letters.MissingField `json:"missing"`
	Because    []AgreementReason      `json:"because"`
	Questions  []letter.Question      `json:"questions"`
	Findings   []AgreementFinding     `json:"findings"`
	Signatures []AgreementSignature   `json:"signatures"`
	Unsigned   []string               `json:"unsigned"`
	Approvals  []AgreementCoverage    `json:"approvals"`
	Conflicts  []AgreementConflict    `json:"conflicts"`
	Precedent  *AgreementPrecedent    `json:"precedent"`
	PDF        string                 `json:"pdf"`
}

// AgreementReason is why an agreement has its instrument.
type AgreementReason struct {
	Rule     string `json:"rule"`
	Why      string `json:"why"`
	Citation string `json:"citation"`
}

// AgreementFinding is what may be wrong with an agreement.
type AgreementFinding struct {
	Class    string `json:"class"`
	Severity string `json:"severity"`
	Where    string `json:"where"`
	Message  string `json:"message"`
}

// AgreementSignature is a signature on an agreement.
type AgreementSignature struct {
	ID         int64           `json:"id"`
	Version    int             `json:"version"`
	SHA256     string          `json:"sha256"`
	Role       string          `json:"role"`
	Signer     *uuid.UUID      `json:"signer"`
	Name       string          `json:"name"`
	Position   string          `json:"position"`
	Authority  *int64          `json:"authority"`
	Represents string          `json:"represents"`
	Level      string          `json:"level"`
	SignedAt   Time            `json:"signed_at"`
	Evidence   json.RawMessage `json:"evidence"`
	Approval   *int64          `json:"approval"`

	ApprovalVersion *int `json:"approval_version"`
}

// AgreementCoverage is whether a standing approval signs an agreement in the role of an official or, if none does, why.
type AgreementCoverage struct {
	Role     string              `json:"role"`
	Approval *int64              `json:"approval"`
	Why      []letters.Uncovered `json:"why"`
}

func showCoverage(c letters.Coverage) AgreementCoverage {
	out := AgreementCoverage{Role: c.Role, Why: List(c.Why, func(u letters.Uncovered) letters.Uncovered { return u })}
	if c.Approval != nil {
		out.Approval = &c.Approval.ID
	}
	return out
}

// ShowAgreement is the JSON form of an agreement.
func ShowAgreement(v letters.View) Agreement {
	return Agreement{SummarizeAgreement(v.Agreement), v.Instrument.Title, v.Purpose, v.Choice, v.Basis.ChoiceReason,
		v.Letter.Fields,
		v.Missing(), List(v.Basis.Because, showReason), v.Basis.Questions, List(v.Findings, showFinding),
		List(v.Signatures, showSignature), List(v.Unsigned(), asItself), List(v.Coverage, showCoverage),
		List(v.Conflicts, showConflict), showPrecedent(v.Precedent),
		fmt.Sprintf("/agreements/%d/document", v.ID)}
}

// AgreementConflict is a term of an agreement, or its form, that an institution does not agree to by its playbook.
type AgreementConflict struct {
	Term     *term.Term        `json:"term"`
	Of       int64             `json:"of"`
	Position playbook.Position `json:"position"`
	Settled  bool              `json:"settled"`
	Text     string            `json:"text"`
	How      string            `json:"how"`
}

func showConflict(c letters.Conflict) AgreementConflict {
	return AgreementConflict{termOrNull(c.Conflict), c.Of.ID, c.Position, c.Settled, c.Text(c.Of.LegalName),
		c.Mend(c.Of.LegalName)}
}

// AgreementPrecedent is the newest of the executed agreements of two institutions by an instrument.
type AgreementPrecedent struct {
	Agreement         int64  `json:"agreement"`
	Number            string `json:"number"`
	InstrumentVersion string `json:"instrument_version"`
	Category          string `json:"category"`
	Times             int    `json:"times"`
	ExecutedAt        Time   `json:"executed_at"`
}

func showPrecedent(p *instrument.Precedent) *AgreementPrecedent {
	if p == nil {
		return nil
	}
	return &AgreementPrecedent{p.Agreement, letter.Number(p.Agreement), p.Version, p.Category, p.Times, Time(p.On)}
}

func asItself(role string) string { return role }

func showReason(r instrument.Reason) AgreementReason {
	return AgreementReason{r.Rule, r.Why, r.Citation}
}

func showFinding(f lint.Finding) AgreementFinding {
	return AgreementFinding{string(f.Class), string(f.Severity), f.Where, f.Message}
}

func showSignature(s signing.Kept) AgreementSignature {
	out := AgreementSignature{ID: s.ID, Version: s.Document.Version, SHA256: s.Document.SHA256, Role: s.Role,
		Name: s.Signer.Person.Name, Position: s.Signer.Position.Title, Represents: s.Represents,
		Level: string(s.Level), SignedAt: Time(s.At), Evidence: s.Evidence}
	if user := s.Signer.Person.User; user != uuid.Nil {
		out.Signer = &user
	}
	if s.Signer.Authority != 0 {
		out.Authority = &s.Signer.Authority
	}
	if s.Approval != nil {
		out.Approval, out.ApprovalVersion = &s.Approval.ID, &s.Approval.Version
	}
	return out
}

// AgreementVersion is a version of an agreement.
type AgreementVersion struct {
	ID                int64             `json:"id"`
	Version           int               `json:"version"`
	SHA256            string            `json:"sha256"`
	Instrument        string            `json:"instrument"`
	InstrumentVersion string            `json:"instrument_version"`
	Requests          []int64           `json:"requests"`
	Fields            map[string]string `json:"fields"`
	MadeBy            *uuid.UUID        `json:"made_by"`
	CreatedAt         Time              `json:"created_at"`
}

// ShowAgreementVersion is the JSON form of a version.
func ShowAgreementVersion(v letter.Version) AgreementVersion {
	out := AgreementVersion{ID: v.ID, Version: v.Letter.Version, SHA256: v.SHA256, Instrument: v.Letter.Instrument,
		InstrumentVersion: v.Letter.Edition, Requests: v.Letter.RequestIDs(), Fields: v.Letter.Fields,
		CreatedAt: Time(v.CreatedAt)}
	if v.MadeBy != uuid.Nil {
		out.MadeBy = &v.MadeBy
	}
	return out
}

// AgreementLink is a link by which somebody without an account signs an agreement.
type AgreementLink struct {
	ID        int64         `json:"id"`
	Version   int           `json:"version"`
	Role      string        `json:"role"`
	Name      string        `json:"name"`
	Title     string        `json:"title"`
	Mail      string        `json:"mail"`
	MailState mailing.State `json:"mail_state"`
	ExpiresAt Time          `json:"expires_at"`
	UsedAt    *Time         `json:"used_at"`
	MadeBy    uuid.UUID     `json:"made_by"`
	CreatedAt Time          `json:"created_at"`
}

// ShowAgreementLink is the JSON form of a link, which has neither token nor code.
func ShowAgreementLink(l signing.Link) AgreementLink {
	return AgreementLink{l.ID, l.Document.Version, l.Role, l.Signer.Name, l.Signer.Title, l.Signer.Mail, l.Mail,
		Time(l.Expires), timeOf(l.UsedAt), l.MadeBy, Time(l.CreatedAt)}
}

// AgreementsSigned are agreements that one touch of a passkey signed.
type AgreementsSigned struct {
	Agreements []AgreementSummary `json:"agreements"`
}

// AgreementPasskeyOptions is what a browser is asked to sign agreements with a passkey.
type AgreementPasskeyOptions struct {
	Statement string          `json:"statement"`
	Options   json.RawMessage `json:"options"`
}
