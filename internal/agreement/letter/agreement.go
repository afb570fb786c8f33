package letter

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// State is where a letter stands.
type State string

// The states of a letter. Only one that was sent can be signed, and what was executed never changes.
const (
	Draft     State = "DRAFT"
	Sent      State = "SENT"
	Executed  State = "EXECUTED"
	Declined  State = "DECLINED"
	Withdrawn State = "WITHDRAWN"
	Expired   State = "EXPIRED"
)

// States lists all of them.
var States = []State{Draft, Sent, Executed, Declined, Withdrawn, Expired}

// Act is what is done with a letter as a whole.
type Act string

// The acts, as they are named in errors.
const (
	Changing    Act = "changed"
	Sending     Act = "sent"
	Declining   Act = "declined"
	Withdrawing Act = "withdrawn"
	Expiring    Act = "expired"
)

// moves has the states in which an act is possible, and the state that follows.
var moves = map[Act]struct {
	from []State
	to   State
}{
	Changing:    {[]State{Draft, Sent, Declined}, Draft},
	Sending:     {[]State{Draft}, Sent},
	Declining:   {[]State{Sent}, Declined},
	Withdrawing: {[]State{Draft, Sent, Declined}, Withdrawn},
	Expiring:    {[]State{Draft, Sent, Declined}, Expired},
}

// After returns the state after an act; Conflict if the state does not allow it.
func (s State) After(act Act) (State, error) {
	if !s.Allows(act) {
		return s, exchange.Errorf(exchange.Conflict, "This letter is %s and cannot be %s any more.",
			strings.ToLower(string(s)), act)
	}
	return moves[act].to, nil
}

// Allows reports whether an act is possible.
func (s State) Allows(act Act) bool { return slices.Contains(moves[act].from, s) }

// Open reports whether the letter may still be executed, at once or after a change.
func (s State) Open() bool { return s.Allows(Withdrawing) }

// Life is how long a letter that nobody changes stays open.
const Life = 180 * 24 * time.Hour

// Agreement is a letter from its first draft on: its newest version, and what happened to it.
type Agreement struct {
	ID           int64
	State        State
	Letter       Letter // its newest version
	SHA256       string // of that version
	Requester    uuid.UUID
	Organization int64     // the lab that provides
	Scientist    uuid.UUID // who signs for the lab: its owner when the version was made
	Purpose      string
	Choice       string            // a family that somebody chose; empty: none
	Typed        map[string]string // the fields that people filled in
	Basis        Basis
	Waits        []string // while it is sent: the roles that have not signed its newest version
	Reason       string   // why it was declined or withdrawn
	Attachment   *int64   // the executed agreement as a sealed PDF; nil: it is not executed
	MadeBy       uuid.UUID
	CreatedAt    time.Time
	UpdatedAt    time.Time
	SentAt       *time.Time
	EndedAt      *time.Time // when it was executed, withdrawn or expired
	ClosedAt     *time.Time // when nothing was owed any more after its execution; nil: something is, or it has none
}

// Basis is why the letter has its instrument, as the resolver said when the version was made.
type Basis struct {
	Because      []instrument.Reason `json:"because"`
	Questions    []Question          `json:"questions"`
	ChoiceReason string              `json:"choice_reason,omitempty"` // why somebody chose a family
}

// Question is a fact of a material that nobody has stated.
type Question struct {
	Material int64  `json:"material"`
	Fact     string `json:"fact"`
}

// Number returns the number of a letter, by which people call it.
func Number(id int64) string { return fmt.Sprintf("A-%d", id) }

// ID returns the id of the letter with a number.
func ID(number string) (int64, error) {
	return strconv.ParseInt(strings.TrimPrefix(number, "A-"), 10, 64)
}

// numbers matches the numbers of letters.
var numbers = regexp.MustCompile(`\bA-[1-9]\d{0,8}\b`)

// FirstID returns the id of the letter whose number a text has first; 0: it has none.
func FirstID(text string) int64 {
	id, _ := ID(numbers.FindString(text))
	return id
}

// Version is one version of a letter.
type Version struct {
	ID        int64
	Letter    Letter
	SHA256    string
	MadeBy    uuid.UUID // uuid.Nil: Aliquot itself
	CreatedAt time.Time
}

// Filter narrows a list of letters.
type Filter struct {
	State       *State `query:"state"`
	Institution *int64 `query:"institution" help:"Only those that this institution provides or receives under."`
}

// Need is a request that needs an agreement and has none: what the offices of both institutions see of it.
type Need struct {
	Request      int64
	MaterialID   int64
	Material     string // its title
	Quantity     string
	Organization int64 // the lab that provides
	Requester    uuid.UUID
	CreatedAt    time.Time
}

// Desk is on whom the letters of an institution wait, as its office looks at them.
type Desk string

// The desks.
const (
	OnUs   Desk = "us"   // the official of the institution
	OnThem Desk = "them" // the official of the other one
	OnLab  Desk = "lab"  // a scientist, of either side
	OnAll  Desk = "all"  // letters in any state
)

// DeskFilter narrows the letters of an institution.
type DeskFilter struct {
	Desk         Desk
	Organization *int64     // the lab that provides
	Counterparty *int64     // the other institution
	Instrument   string     // "": any
	Category     string     // of one of its materials; "": any
	SentBefore   *time.Time // nil: any, also what was not sent
}

// DeskCounts has the number of letters on each desk.
type DeskCounts map[Desk]int64

// MaxRequests is how many requests a letter may have.
const MaxRequests = instrument.MaxMaterials

// maxVersion is beyond any number of a version.
const maxVersion = 1 << 31

// maxFields is how many fields a person may fill in, and maxCode how long a code may be.
const maxFields, maxCode = 100, 60

// Terms are what people decide about a letter.
type Terms struct {
	Requests exchange.Opt[[]exchange.Ref]    `json:"requests"`
	Purpose  exchange.Opt[string]            `json:"purpose"`
	Choice   exchange.Opt[string]            `json:"choice"`
	Reason   exchange.Opt[string]            `json:"choice_reason"`
	Fields   exchange.Opt[map[string]string] `json:"fields"`
}

// ChoiceReason returns why the family was chosen, old if the terms do not choose one.
func (t Terms) ChoiceReason(old string) string {
	if t.Choice.Set || t.Reason.Set {
		return exchange.Tidy(t.Reason.Value)
	}
	return old
}

// check returns what is wrong with the terms.
func (t Terms) check() (f exchange.FieldErrors) {
	var text string
	f.Rule("requests", exchange.Rule{Max: MaxRequests})
	f.Rule("purpose", exchange.Rule{Words: instrument.Purposes(), Name: "AgreementPurpose"})
	f.Line("choice", t.Choice, maxCode, &text)
	f.Line("choice_reason", t.Reason, exchange.LineLength, &text)
	for i, id := range t.Requests.Value {
		if slices.Contains(t.Requests.Value[:i], id) {
			f.Add("requests", "[%d] %d is there twice", i, id)
		}
	}
	if len(t.Requests.Value) > MaxRequests {
		f.Add("requests", "must be at most %d; there are %d", MaxRequests, len(t.Requests.Value))
	}
	if t.Purpose.Set && !slices.Contains(instrument.Purposes(), t.Purpose.Value) {
		f.Add("purpose", "must be one of %s", strings.Join(instrument.Purposes(), ", "))
	}
	if len(t.Fields.Value) > maxFields {
		f.Add("fields", "must be at most %d; there are %d", maxFields, len(t.Fields.Value))
	}
	for name, value := range t.Fields.Value {
		var wrong exchange.FieldErrors
		wrong.Line("fields", exchange.Some(value), exchange.LineLength, &text)
		for _, problem := range wrong["fields"] {
			f.Add("fields", "%q %s", name, problem)
		}
	}
	return f
}

// IDs returns the ids of the requests.
func (t Terms) IDs() []int64 {
	ids := make([]int64, len(t.Requests.Value))
	for i, id := range t.Requests.Value {
		ids[i] = int64(id)
	}
	return ids
}

// DraftNew is the body of POST /agreements.
type DraftNew struct {
	Terms
	Recipient exchange.Null[exchange.Ref] `json:"recipient"`
}

// Validate implements Body.
func (n DraftNew) Validate(bool) exchange.FieldErrors {
	f := n.check()
	f.Must("requests", len(n.Requests.Value) > 0, "is required: the ids of requests of one requester to one lab")
	return f
}

// VersionNew is the body of POST /agreements/:id/versions. What it leaves out stays as it is.
type VersionNew struct {
	Terms
	Version exchange.Opt[int64] `json:"version"`
}

// Validate implements Body.
func (n VersionNew) Validate(bool) exchange.FieldErrors {
	f := n.check()
	f.Rule("version", exchange.Rule{From: 1, To: maxVersion})
	f.Must("version", n.Version.Value >= 1 && n.Version.Value <= maxVersion,
		"is required: the number of the version that you saw")
	if n.Requests.Set && len(n.Requests.Value) == 0 {
		f.Add("requests", "must not be empty; withdraw the letter instead")
	}
	return f
}

// SignatureNew is the body of POST /agreements/:id/signatures.
type SignatureNew struct {
	Role    exchange.Opt[string] `json:"role"`
	Version exchange.Opt[int64]  `json:"version"`
	SHA256  exchange.Opt[string] `json:"sha256"`
}

// Validate implements Body.
func (n SignatureNew) Validate(bool) (f exchange.FieldErrors) {
	f.Rule("role", exchange.Rule{Words: party.Roles(), Name: "AgreementRole"})
	f.Rule("sha256", exchange.Rule{Pattern: "^[0-9a-f]{64}$"})
	f.Must("role", slices.Contains(party.Roles(), n.Role.Value), "must be one of "+
		strings.Join(party.Roles(), ", "))
	f.Rule("version", exchange.Rule{From: 1, To: maxVersion})
	f.Must("version", n.Version.Value >= 1 && n.Version.Value <= maxVersion,
		"is required: the number of the version that you sign")
	f.Must("sha256", hash.MatchString(n.SHA256.Value), "is required: the SHA-256 of the version that you sign, in hex")
	return f
}

// LinkNew is the body of POST /agreements/:id/links.
type LinkNew struct {
	Role exchange.Opt[string] `json:"role"`
	Mail exchange.Opt[string] `json:"mail"`
}

// Validate implements Body.
func (n LinkNew) Validate(bool) (f exchange.FieldErrors) {
	officials := slices.DeleteFunc(party.Roles(), func(role string) bool { return !party.IsOfficial(role) })
	f.Rule("role", exchange.Rule{Words: officials, Name: "AgreementOfficial"})
	f.Must("role", slices.Contains(officials, n.Role.Value), "must be one of "+strings.Join(officials, ", "))
	var text string
	f.Line("mail", n.Mail, exchange.LineLength, &text)
	return f
}

// LinkUse is what the holder of a link sends to sign or decline: the code of the latest mail, and the hash of the
// version that they saw.
type LinkUse struct{ Code, SHA256 string }

var hash = regexp.MustCompile("^[0-9a-f]{64}$")

// MaxTogether is how many letters are signed with one touch of a passkey.
const MaxTogether = 50

// PasskeyAsk is the body of POST /users/:id/signatures/options.
type PasskeyAsk struct {
	Role       exchange.Opt[string]         `json:"role"`
	Agreements exchange.Opt[[]exchange.Ref] `json:"agreements"`
}

// Validate implements Body.
func (n PasskeyAsk) Validate(bool) (f exchange.FieldErrors) {
	f.Rule("role", exchange.Rule{Words: party.Roles(), Name: "AgreementRole"})
	f.Rule("agreements", exchange.Rule{Max: MaxTogether})
	f.Must("role", slices.Contains(party.Roles(), n.Role.Value), "must be one of "+
		strings.Join(party.Roles(), ", "))
	f.Must("agreements", len(n.Agreements.Value) > 0, "is required: the ids of the agreements to sign")
	if len(n.Agreements.Value) > MaxTogether {
		f.Add("agreements", "must be at most %d; there are %d", MaxTogether, len(n.Agreements.Value))
	}
	return f
}

// IDs returns the ids of the agreements, each once, in order.
func (n PasskeyAsk) IDs() (ids []int64) {
	for _, id := range n.Agreements.Value {
		ids = append(ids, int64(id))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// WithdrawNew is the body of POST /agreements/:id/withdraw.
type WithdrawNew struct {
	Reason exchange.Opt[string] `json:"reason"`
}

// Check returns the tidy reason; it may be empty.
func (n WithdrawNew) Check() (string, error) {
	var f exchange.FieldErrors
	reason := ""
	f.Long("reason", n.Reason, &reason)
	return reason, f.Err()
}

// Validate implements Body.
func (n WithdrawNew) Validate(bool) exchange.FieldErrors {
	_, err := n.Check()
	return exchange.FieldsOf(err)
}
