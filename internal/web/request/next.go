package request

import (
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

// nextStep is the next step of a request, as one side sees it.
type nextStep struct {
	Mine   bool
	Lead   string // whose step it is
	Head   string
	Text   string
	Due    bool // the turn has a due date by the lab's targets
	To     request.Status
	Button string // the label of the main button: it changes the status to To, or links to Link
	Icon   string
	Link   string
	Second string // the label of another link
	Other  string // its address
}

// nextStep returns the next step.
func (p *requestPage) nextStep() nextStep {
	turn := request.WaitingOn(p.R.Terms, p.R.Targets, p.R.Request)
	if turn == nil {
		return p.overStep()
	}
	n := nextStep{Mine: p.View.Mine, Due: turn.Due != nil}
	if !n.Mine {
		n.Lead, n.Head, n.Text = "Waiting for "+p.sideName(turn.Side), p.View.Words, p.View.Sentence
		if p.Requester && turn.Side == request.LabSide || p.Lab && turn.Side == request.RequesterSide {
			n.Text += " You do not need to do anything now."
		}
		return n
	}
	n.Lead = "Your next step"
	if turn.Side == request.RequesterSide {
		p.requesterStep(&n, *turn)
	} else {
		p.labStep(&n, *turn)
	}
	return n
}

// sideName returns the name of the other side.
func (p *requestPage) sideName(s request.Side) string {
	if s == request.LabSide {
		return p.R.Lab.Name
	}
	return p.Mid(p.R.Requester)
}

// overStep returns the card of a request in which nothing is left to do.
func (p *requestPage) overStep() nextStep {
	n := nextStep{Lead: "Nothing to do", Head: p.View.Words, Text: p.View.Sentence}
	switch {
	case p.R.Status == request.Rejected && p.R.Rejection != "":
		n.Text += " Reason: “" + p.R.Rejection + "”"
		if p.Lab {
			n.Text = "Your lab declined this request: “" + p.R.Rejection + "”"
		}
	case p.R.Status == request.Verified && p.R.Typical > 0:
		n.Text += " It took " + p.Pace.Took(p.Pace.Total) + "."
	}
	return n
}

func (p *requestPage) requesterStep(n *nextStep, turn request.Turn) {
	n.Text = p.View.Sentence
	switch what := turn.What[0]; what {
	case request.StepCorrection:
		n.Head, n.Text = "Answer the lab", p.R.Correction
		n.Button, n.Icon, n.Link = "Write to the lab", "message", "#message"
		if p.R.Offers.Abstract {
			n.Button, n.Icon, n.Link = "Change the abstract", "edit", "#"+anchor(string(request.NeedAbstract))
			n.Second, n.Other = "Write to the lab", "#message"
		}
	case request.StepReceipt:
		n.Head, n.Button, n.Icon, n.To = "Confirm that it arrived", "Confirm receipt", "check", request.Verified
		n.Second, n.Other = "Report a problem", "#issues"
	default:
		if what == string(request.NeedSignedMTA) && p.Agreement.open() {
			if len(turn.What) == 1 {
				p.Agreement.next(n, request.NeedSignedMTA)
				return
			}
			what = turn.What[1]
		}
		n.Link, n.Icon = "#"+anchor(what), "upload"
		words, again := request.DescribeTask(what), p.returned(what)
		switch request.Need(what) {
		case request.NeedSignedMTA, request.NeedIRB:
			n.Head, n.Button = "Upload "+words, "Upload "+strings.TrimPrefix(words, "the ")
			if again != "" {
				n.Head, n.Text = "Upload a corrected "+strings.TrimPrefix(words, "the "), again
			}
		case request.NeedAddress:
			n.Head, n.Button, n.Icon = "Choose a shipping address", "Choose an address", "pin"
		case request.NeedPayment:
			n.Head, n.Button, n.Icon = "Choose how shipping is paid", "Enter payment details", "truck"
		default:
			n.Head, n.Button, n.Icon = "Write "+words, "Write the abstract", "edit"
		}
		if again != "" && len(turn.What) > 1 {
			n.Text += " Still needed: " + ui.OwedList(turn.What) + "."
		}
	}
}

// returned returns why the document of a need was returned; "" if it was not.
func (p *requestPage) returned(need string) string {
	if d := p.R.Current(document.Slot(need)); d != nil && d.State == document.Returned {
		return d.Reason
	}
	return ""
}

func (p *requestPage) labStep(n *nextStep, turn request.Turn) {
	n.Text = p.View.Sentence
	requester := p.Name(p.R.Requester)
	switch {
	case turn.What[0] == request.StepDecision:
		n.Head, n.Button, n.Icon, n.To = "Accept or decline", "Accept", "check", request.Approved
		n.Text = requester + " asks for " + p.R.Material + "."
		if p.R.Quantity != "" {
			n.Text = requester + " asks for " + p.R.Quantity + " of " + p.R.Material + "."
		}
		n.Second, n.Other = "Decline", p.Path+"/move?to="+string(request.Rejected)
	case turn.What[0] == request.StepIssue:
		n.Head, n.Button, n.Icon, n.Link = "Resolve the reported problem", "See the problem", "alert", "#issues"
		for _, i := range p.R.Issues.Items {
			if i.ClosedAt == nil {
				n.Text = i.Text
			}
		}
	case p.View.Stage == ui.StageDocuments:
		for _, s := range []document.Slot{document.SignedMTA, document.IRB} {
			if d := p.R.Current(s); n.Head == "" && d != nil && d.State == document.Delivered {
				words := request.DescribeTask(string(s))
				n.Head, n.Button, n.Icon, n.Link = "Check "+words, "Check document", "eye", "#"+anchor(string(s))
				n.Text = "From " + p.Mid(d.AddedBy) + ". Accept it, or return it for correction."
			}
		}
	case turn.What[0] == string(request.NeedExecutedMTA) && p.Agreement.open():
		p.Agreement.next(n, request.NeedExecutedMTA)
	case turn.What[0] == string(request.NeedExecutedMTA):
		n.Head, n.Button, n.Icon, n.Link = "Countersign the MTA", "Upload the executed MTA", "mta", "#"+
			anchor(string(request.NeedExecutedMTA))
		if reason := p.returned(string(document.ExecutedMTA)); reason != "" {
			n.Head, n.Text = "Upload a corrected executed MTA", reason
		}
	case p.R.Offers.Can(request.Fulfilled):
		n.Head, n.Button, n.Icon, n.Link = "Pack and ship", "Ship it", "truck", p.Path+"/move?to="+
			string(request.Fulfilled)
		n.Second, n.Other = "Labels and packing slip", p.Path+"/labels"
		switch {
		case ui.Travels(p.R.Detail):
		case p.R.Item.Digital():
			n.Head, n.Button, n.Second = "Deliver it", "Mark as delivered", ""
		default:
			n.Second, n.Other = "Mark as delivered", n.Link
			n.Head, n.Button, n.Icon, n.Link = "Ask where to send it", "Write to the requester", "message", "#message"
			n.Text = "This request has no shipping address. If they collect the material, mark it as delivered."
		}
	}
}

// anchor returns the fragment of a need on the page, as links in mail have it.
func anchor(need string) string {
	return "requirement-" + strings.ReplaceAll(strings.TrimPrefix(need, "requester_"), "_", "-")
}

// Turn returns the present turn, nil if it is nobody's.
func (p *requestPage) Turn() *request.Turn {
	return request.WaitingOn(p.R.Terms, p.R.Targets, p.R.Request)
}

// PendingOf returns the name of the colleague whose action is pending; "" if there is none.
func (p *requestPage) PendingOf() string {
	if d := p.R.Pending; d != nil && d.Failed == "" && !p.viewer.Is(d.By.ID) {
		return d.By.Name()
	}
	return ""
}

// Pending returns the pending action, while it can be undone.
func (p *requestPage) Pending() string {
	if d := p.R.Pending; d != nil && d.Failed == "" {
		return p.words(d.Action.Status).soon(p.R.ID)
	}
	return ""
}

// Undone returns why the viewer's pending action failed in the end, until the next event.
func (p *requestPage) Undone() string {
	d := p.R.Pending
	if d == nil || d.Failed == "" || !d.Ended.After(p.R.UpdatedAt) {
		return ""
	}
	why := d.Failed
	switch to := d.Action.Status; {
	case p.R.Offers.Waives(to):
		why = p.missing()
	case !p.R.Offers.Now(to):
		why = p.standing()
	}
	return "Not done: " + p.words(d.Action.Status).Do + ". " + why
}

// standing matches the error that the status does not allow something.
func (p *requestPage) standing() string {
	return "The status of the request is “" + p.View.Words + "”, so this is not possible."
}

// Missing matches the error that something is missing to send a request.
func (p *requestPage) missing() string {
	return "Still missing: " + owedNeeds(p.R.Offers.Missing) + "."
}

// refusal explains why something failed, without the API's names of statuses.
func (p *requestPage) refusal(e *exchange.Error) string {
	switch e.Code {
	case exchange.InvalidTransition:
		return p.standing()
	case exchange.MissingRequirements:
		return p.missing()
	case exchange.RequestClosed:
		return "The request is closed, so this can no longer be changed."
	}
	return e.Message
}

// Undo returns the address that undoes the viewer's pending action.
func (p *requestPage) Undo() string { return "/undo/" + strconv.FormatInt(p.R.Pending.ID, 10) }

// Reached returns when a stage was completed, nil if that is not shown.
func (p *requestPage) Reached(s ui.Stage) *time.Time {
	switch s {
	case ui.StageSent:
		return &p.R.CreatedAt
	case ui.StageAccepted: // the end of its time as an open request
		var at *time.Time
		for _, t := range p.R.Turns {
			if t.Status == request.Open {
				return at
			}
			at = &t.BeganAt
		}
	case ui.StageShipping:
		for _, t := range p.R.Turns {
			if t.Status == request.Fulfilled {
				return &t.BeganAt
			}
		}
	case ui.StageReceived:
		return &p.R.Clock.Since
	}
	return nil
}
