package request

import (
	"regexp"
	"slices"
	"strings"

	"aliquot/internal/agreement/lint"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// docLine is one line of the checklist: a document with its versions, a text or a choice.
type docLine struct {
	Need     request.Need
	Anchor   string
	Name     string
	Done     bool
	Tone     string // of its icon
	Icon     string
	Tag      tag
	Text     string   // a text that the requester wrote
	Lines    []string // the lines of an address
	Slot     document.Slot
	Versions []version        // newest first
	Paper    *lint.PaperCheck // what was found in the newest version; nil: that is not checked
	Reason   string           // why the current version was returned
	Withheld string           // why nobody can open the current version
	Review   bool
	Upload   bool
	Withdraw bool
	Form     string // abstract, address or payment, if the viewer may set it
}

// version is one version of a document.
type version struct {
	document.Document
	Number int
	File   document.Attachment
	There  bool // its content can be opened
	Mark   string
}

// Path returns the address of a version, relative to that of its request.
func (v version) Path() string { return "/documents/" + number(v.AttachmentID) }

// needNames are the names of the needs in the checklist.
var needNames = map[request.Need]string{
	request.NeedAbstract: "Research abstract", request.NeedSignedMTA: "Signed MTA", request.NeedIRB: "IRB approval",
	request.NeedAddress: "Shipping address", request.NeedPayment: "Shipping payment",
	request.NeedExecutedMTA: "Executed MTA",
}

// needLines returns the lines of the checklist that apply to the request.
func (p *requestPage) needLines() []docLine {
	var owed []string
	if t := p.Turn(); t != nil {
		owed = t.What
	}
	var list []docLine
	for _, q := range request.Requirements(p.R.Terms, p.R.Request) {
		l := docLine{Need: q.Need, Anchor: anchor(string(q.Need)), Name: needNames[q.Need],
			Done: q.State == request.Done, Slot: document.Slot(q.Need)}
		now := p.R.Active && p.R.Override == "" && slices.Contains(owed, string(q.Need)) // the present turn owes it
		if l.Slot.Valid() {
			p.documentLine(&l, q, now)
		} else {
			p.textLine(&l, q, now)
		}
		unasked := q.Need == request.NeedAddress && p.R.Active && !p.R.Item.Digital() // it cannot be shipped without
		if q.State != request.NotNeeded || len(l.Versions) > 0 || l.Text != "" || l.Lines != nil || unasked {
			list = append(list, l)
		}
	}
	return list
}

// textLine returns the line of a text or a choice.
func (p *requestPage) textLine(l *docLine, q request.Requirement, now bool) {
	var may bool
	switch q.Need {
	case request.NeedAbstract:
		l.Text, may, l.Form = p.R.Abstract, p.R.Offers.Abstract, "abstract"
	case request.NeedAddress:
		l.Lines, may, l.Form = addressLines(p.R.Address), p.R.Offers.Address && p.R.Offers.Roles.Requester, "address"
	default:
		l.Text, may, l.Form = p.Payment(), p.R.Offers.Payment, "payment"
	}
	if !may {
		l.Form = ""
	}
	switch {
	case l.Text != "" || l.Lines != nil:
		l.Done, l.Tone, l.Icon, l.Tag = true, "good", "done", tag{"good", "check", "Done"}
	case now && p.Requester:
		l.Tone, l.Icon, l.Tag = "turn", "turn", tag{"turn", "turn", "Your turn"}
	case !p.R.Active:
		l.Icon, l.Tag = "pen-ring", tag{"", "x", "Not given"}
	case p.R.Override != "":
		l.Icon, l.Tag = "pen-ring", tag{"", "info", "The lab continues without it"}
	default:
		l.Icon, l.Tag = "pen-ring", tag{"", "clock", "Not given yet"}
	}
}

// documentLine returns the line of a document.
func (p *requestPage) documentLine(l *docLine, q request.Requirement, now bool) {
	o := p.R.Offers
	nth := 0
	for _, d := range p.R.Documents {
		if d.Slot != l.Slot {
			continue
		}
		nth++
		file, known := p.R.Files[d.AttachmentID]
		l.Versions = append(l.Versions, version{Document: d, Number: nth, File: file, Mark: versionMark(d),
			There: known && file.Content != nil && !file.ContentDeleted && file.Content.Withheld() == nil})
	}
	slices.Reverse(l.Versions)
	d := p.R.Current(l.Slot)
	l.Paper = p.paper(d)
	l.Upload, l.Withdraw = o.Upload[l.Slot] && (p.mine(l.Slot) || o.Roles.Admin && !p.Lab && !p.Requester),
		o.Withdraw[l.Slot] && p.mine(l.Slot)
	l.Review = o.Review[l.Slot] && d != nil && d.State != document.Returned
	if d != nil && p.R.Files[d.AttachmentID].Content != nil {
		l.Withheld = exchange.MessageOf(p.R.Files[d.AttachmentID].Content.Withheld())
	}
	switch {
	case d == nil:
		p.missingLine(l, q, now)
	case d.State == document.Accepted:
		l.Done, l.Tone, l.Icon, l.Tag = true, "good", "done", tag{"good", "check", "Accepted"}
	case d.State == document.Returned && p.mine(l.Slot) && p.R.Active:
		l.Tone, l.Icon, l.Tag, l.Reason = "turn", "turn", tag{"turn", "turn", "Your turn: correct and upload"}, d.Reason
	case d.State == document.Returned:
		l.Icon, l.Tag, l.Reason = "clock", tag{"", "clock", "Waiting for a corrected version"}, d.Reason
	case l.Slot == document.ExecutedMTA:
		l.Done, l.Tone, l.Icon, l.Tag = true, "good", "done", tag{"good", "check", "Countersigned"}
	case !p.R.Active:
		l.Icon, l.Tag = "file", tag{"", "file", "Submitted"}
	case p.Lab:
		l.Done, l.Tone, l.Icon, l.Tag = false, "turn", "turn", tag{"turn", "turn", "Check it"}
	default:
		l.Done, l.Tone, l.Icon, l.Tag = false, "info", "clock", tag{"info", "clock", "The lab is checking it"}
	}
}

// paper returns what was found in a document of the request; nil: it is not checked.
func (p *requestPage) paper(d *document.Document) *lint.PaperCheck {
	for _, found := range p.R.Papers {
		if d != nil && found.Slot == d.Slot && found.Attachment == d.AttachmentID {
			return &found
		}
	}
	return nil
}

// Where returns where something was found in a paper, for people.
func (*requestPage) Where(code string) string { return ui.Words(code) }

// missingLine returns the line of a missing document.
func (p *requestPage) missingLine(l *docLine, q request.Requirement, now bool) {
	l.Icon = "pen-ring"
	switch mine := p.mine(l.Slot); {
	case q.State == request.NotNeeded:
		l.Tag = tag{"", "info", "Not needed"}
	case p.Agreement.marks(l):
	case !p.R.Active:
		l.Tag = tag{"", "x", "Not submitted"}
	case p.R.Override != "":
		l.Tag = tag{"", "info", "The lab continues without it"}
	case l.Slot == document.ExecutedMTA &&
		(p.R.Current(document.SignedMTA) == nil || p.returned(string(document.SignedMTA)) != ""):
		l.Tag = tag{"", "lock", "After the signed MTA"}
	case now && mine && l.Slot == document.ExecutedMTA:
		l.Tone, l.Icon, l.Tag = "turn", "turn", tag{"turn", "turn", "Your turn: countersign"}
	case now && mine:
		l.Tone, l.Icon, l.Tag = "turn", "turn", tag{"turn", "turn", "Your turn: upload"}
	case now && l.Slot == document.ExecutedMTA:
		l.Tone, l.Icon, l.Tag = "info", "mta", tag{"info", "mta", "Being countersigned"}
	default:
		l.Tag = tag{"", "clock", "Not submitted yet"}
	}
}

// mine reports whether the viewer's side submits the document of a slot.
func (p *requestPage) mine(s document.Slot) bool {
	if s == document.ExecutedMTA {
		return p.Lab
	}
	return p.Requester
}

func versionMark(d document.Document) string {
	return map[document.Review]string{document.Accepted: "accepted", document.Returned: "returned",
		document.Superseded: "replaced or withdrawn"}[d.State]
}

// addressLines returns the lines of an address as on a parcel.
func addressLines(a *person.Address) []string {
	if a == nil {
		return nil
	}
	town := strings.TrimSpace(a.Locality + strings.TrimRight(", "+strings.TrimSpace(a.State+" "+a.PostalCode), ", "))
	lines := []string{a.Name, a.Institution, a.Line1, a.Line2, town, a.Country}
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

// paymentWords are the labels of the ways to pay for shipping.
var paymentWords = map[string]string{"SHIPPING_CODE": "Requester’s courier account",
	"REIMBURSEMENT": "The lab pays and is reimbursed", "OTHER": "Another way"}

// Payment returns how shipping is paid. Account numbers are shown only to the lab, while it needs them.
func (p *requestPage) Payment() string {
	notes := p.R.PaymentNotes
	if !p.Lab || !p.R.Active {
		notes = masked(notes)
	}
	return paidBy(p.R.Payment, notes)
}

// paidBy returns a way to pay for shipping, with its notes.
func paidBy(method, notes string) string { return strings.Trim(paymentWords[method]+", "+notes, ", ") }

// accounts matches runs of letters and digits that may be account numbers.
var accounts = regexp.MustCompile(`[A-Za-z]*[0-9](?:[ -]?[0-9A-Z]|[a-z])+`)

// masked hides the middle of possible account numbers; what is called an account number is hidden in any format.
func masked(text string) string {
	if before, account, named := strings.Cut(text, ", account "); named {
		return before + ", account " + clipped(account)
	}
	return accounts.ReplaceAllStringFunc(text, func(s string) string {
		if len(s) < 5 {
			return s
		}
		return clipped(s)
	})
}

// clipped hides all of a number but its ends.
func clipped(s string) string {
	letters := []rune(s)
	switch n := len(letters); {
	case n < 5:
		return "•••"
	case n < 9:
		return "•••" + string(letters[n-2:])
	default:
		return string(letters[:3]) + "•••" + string(letters[n-3:])
	}
}

// PaymentChoice is a way to pay.
type PaymentChoice struct{ Value, Words string }

// Payments returns the ways to pay that the lab accepts.
func (p *requestPage) Payments() []PaymentChoice {
	var list []PaymentChoice
	s := p.R.Shipping
	for _, value := range []string{"SHIPPING_CODE", "REIMBURSEMENT", "OTHER"} {
		takes := s == nil || value == "SHIPPING_CODE" && s.AcceptsShippingCode || value == "REIMBURSEMENT" &&
			s.AcceptsReimbursement || value == "OTHER" && s.AcceptsOther
		if takes || p.R.Payment == value {
			list = append(list, PaymentChoice{value, paymentWords[value]})
		}
	}
	return list
}

// tag is the state of a document: its tone, icon and text.
type tag struct{ Tone, Icon, Text string }
