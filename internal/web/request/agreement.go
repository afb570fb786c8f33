package request

import (
	"slices"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// agreementCard is the card of a request's agreement.
type agreementCard struct {
	*letters.Card
	viewer    exchange.Actor
	requester string // the name
}

// Problem returns why no agreement can be drafted for the request today; nil: one can.
func (c *agreementCard) Problem() *ui.LetterProblem { return ui.LetterProblemOf(c.NotNow) }

// State returns the state of the agreement.
func (c *agreementCard) State() ui.LetterState { return ui.LetterStateOf(c.Letter.State) }

// Path returns the address of the agreement.
func (c *agreementCard) Path() string { return ui.LetterPath(c.Letter.ID) }

// Words returns the name of a field of the agreement.
func (*agreementCard) Words(field string) string { return ui.Words(field) }

// Roles returns who has signed the agreement, and who is next.
func (c *agreementCard) Roles() []ui.LetterRole {
	var mine []string
	if c.Letter.State == letter.Sent && c.viewer.Is(c.Letter.Requester) {
		mine = append(mine, party.RecipientScientist)
	}
	if c.Letter.State == letter.Sent && c.viewer.Is(c.Letter.Scientist) {
		mine = append(mine, party.ProviderScientist)
	}
	return ui.LetterRoles(*c.Letter, mine, map[string]string{party.RecipientScientist: c.requester})
}

// open reports whether there is an agreement that is not executed yet, which takes the place of signed papers.
func (c *agreementCard) open() bool { return c != nil && c.Letter != nil && c.Letter.State.Open() }

// next makes the next step the one of the agreement. The paper way stays open.
func (c *agreementCard) next(n *nextStep, owed request.Need) {
	number := c.Letter.Letter.Number
	n.Head, n.Button, n.Icon, n.Link = "Complete the agreement "+number, "Open the agreement", "mta", c.Path()
	n.Text = "It takes the place of the signed and the executed MTA once everybody has signed. " +
		map[letter.State]string{letter.Draft: "It is a draft, and has to be sent to be signed.",
			letter.Sent:     "It is being signed; the agreement says who is next.",
			letter.Declined: "It was declined; a new version can answer the reason."}[c.Letter.State]
	n.Second, n.Other = "Use a signed paper instead", "#"+anchor(string(owed))
}

// marks marks the line of a document in whose place the agreement is; false: it is in the place of none.
func (c *agreementCard) marks(l *docLine) bool {
	if !c.open() || l.Slot != document.SignedMTA && l.Slot != document.ExecutedMTA {
		return false
	}
	l.Tone, l.Icon, l.Tag = "info", "mta", tag{"info", "mta", "By the agreement " + c.Letter.Letter.Number}
	return true
}

// draftAgreement drafts an agreement for the request, and for others that were sent with it.
func (v *pageRequest) draftAgreement(id int64) (ui.Response, error) {
	p, err := v.requestPage()
	if err != nil {
		return ui.Response{}, err
	}
	refs := []exchange.Ref{exchange.Ref(id)}
	for _, text := range v.PostForm["request"] {
		other := ui.ParseID(text)
		if other != nil && p.Agreement != nil && slices.ContainsFunc(p.Agreement.Together, func(q request.Detail) bool {
			return q.ID == *other
		}) {
			refs = append(refs, exchange.Ref(*other))
		}
	}
	n := letter.DraftNew{Terms: letter.Terms{Requests: exchange.Some(refs)}}
	if at := ui.ParseID(v.PostFormValue("recipient")); at != nil {
		n.Recipient = exchange.NullOf(exchange.Ref(*at))
	}
	made, err := v.App.Letters.Draft(v.Context(), v.Who.Actor, n)
	if err != nil {
		return v.refused("agreement", err)
	}
	return ui.SeeOther(ui.LetterPath(made.ID)).Saying("Agreement " + made.Letter.Number + " drafted."), nil
}
