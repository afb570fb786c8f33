package ui

import (
	"slices"
	"strings"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
)

// StatusView is the state of a request, in the words for one viewer.
type StatusView struct {
	Tone     string // turn, good, bad, info; "": grey
	Icon     string
	Words    string // a few words, for a tag
	Sentence string
	Verb     string // the label of the button that leads to the viewer's next step; "": none
	Stage    Stage  // NoStage: it ended before it was received
	Mine     bool   // it is the turn of the viewer's side
}

// Stage is a stage of a request.
type Stage int

// The stages. A request whose material requires no documents has no StageDocuments, and so on.
const (
	NoStage Stage = iota
	StageSent
	StageAccepted
	StageDocuments
	StageCountersign
	StageShipping
	StageReceived
	StageDone // after the last stage: all are complete
)

// Travels reports whether something is shipped to an address, unlike data.
func Travels(q request.Detail) bool {
	return q.Terms.Address || q.Address != nil || q.Shipment != nil
}

// stages returns the stages of a request. One whose requester submitted documents unasked has that stage too.
func stages(q request.Detail) []Stage {
	list := []Stage{StageSent, StageAccepted}
	t := q.Terms
	if t.MTA || t.IRB || t.Address || t.Payment || q.Current(document.SignedMTA) != nil ||
		q.Current(document.IRB) != nil {
		list = append(list, StageDocuments)
	}
	if t.MTA || q.Current(document.ExecutedMTA) != nil {
		list = append(list, StageCountersign)
	}
	return append(list, StageShipping, StageReceived)
}

// stageName returns the name of a stage.
func stageName(q request.Detail, s Stage) string {
	if s == StageShipping && !Travels(q) {
		return "Delivery"
	}
	return map[Stage]string{StageSent: "Requested", StageAccepted: "Accepted", StageDocuments: "Documents",
		StageCountersign: "Countersign",
		StageShipping:    "Shipping", StageReceived: "Received"}[s]
}

// StageView is a stage in the progress bar of a request.
type StageView struct {
	Stage Stage
	Name  string
	State string // ok: complete; now: current, and it is the viewer's turn; wait: current; "": still to come
}

// TrackOf returns the stages of a request with their states; none if it ended early.
func TrackOf(q request.Detail, v StatusView) []StageView {
	if v.Stage == NoStage {
		return nil
	}
	var list []StageView
	for _, s := range stages(q) {
		view := StageView{Stage: s, Name: stageName(q, s)}
		switch {
		case s < v.Stage:
			view.State = "ok"
		case s == v.Stage && v.Mine:
			view.State = "now"
		case s == v.Stage:
			view.State = "wait"
		}
		list = append(list, view)
	}
	return list
}

// StatusOf returns the state of a request for a viewer. All texts about statuses are here.
func StatusOf(q request.Detail, viewer exchange.Actor) StatusView {
	turn := request.WaitingOn(q.Terms, q.Targets, q.Request)
	if turn == nil {
		return ended(q)
	}
	mine := turn.Side == request.RequesterSide && viewer.Is(q.Requester) || turn.Side == request.LabSide &&
		viewer.MemberOf(q.Organization)
	stage := stageOf(q, *turn)
	if stage > StageAccepted && !slices.Contains(stages(q), stage) { // the terms have changed
		stage = StageShipping
	}
	var v StatusView
	if turn.Side == request.RequesterSide {
		v = requesterTurn(q, *turn, mine)
	} else {
		v = labTurn(q, *turn, stage, mine)
	}
	v.Stage, v.Mine = stage, mine
	if mine && v.Tone == "" {
		v.Tone = "turn"
	}
	if !mine {
		v.Verb = ""
	}
	return v
}

// checking reports whether the lab has a submitted document to review.
func checking(q request.Detail) bool {
	return slices.ContainsFunc([]document.Slot{document.SignedMTA, document.IRB}, func(s document.Slot) bool {
		d := q.Current(s)
		return d != nil && d.State == document.Delivered
	})
}

// stageOf returns the stage of a turn.
func stageOf(q request.Detail, turn request.Turn) Stage {
	switch turn.What[0] {
	case request.StepDecision, request.StepCorrection, string(request.NeedAbstract):
		return StageSent
	case request.StepReceipt:
		return StageReceived
	case request.StepIssue:
		return StageShipping
	case request.StepShipment:
		if q.Status == request.Approved && checking(q) {
			return StageDocuments
		}
		return StageShipping
	case string(request.NeedExecutedMTA):
		if checking(q) {
			return StageDocuments
		}
		return StageCountersign
	}
	return StageDocuments
}

// requesterTurn returns the state of a request on its requester's turn.
func requesterTurn(q request.Detail, turn request.Turn, mine bool) StatusView {
	switch what := turn.What[0]; {
	case what == request.StepCorrection && mine:
		return StatusView{Icon: "turn", Words: "Answer the lab", Verb: "Answer",
			Sentence: "The lab decides once you answered or corrected the request."}
	case what == request.StepCorrection:
		return StatusView{Icon: "clock", Words: "Waiting for an answer",
			Sentence: "The lab asked the requester for an answer or a correction."}
	case what == string(request.NeedAbstract) && mine:
		return StatusView{Icon: "abstract", Words: "Abstract needed", Verb: "Write",
			Sentence: "The lab decides once it knows what the material is for."}
	case what == string(request.NeedAbstract):
		return StatusView{Icon: "clock", Words: "Waiting for the abstract",
			Sentence: "The requester has not written the research abstract yet."}
	case what == request.StepReceipt && mine:
		return StatusView{Icon: "truck", Words: "Confirm receipt", Verb: "Confirm",
			Sentence: "Confirm when it arrives, or report a problem."}
	case what == request.StepReceipt && !Travels(q):
		return StatusView{Tone: "info", Icon: "truck", Words: "Delivered",
			Sentence: "The requester has not confirmed receipt yet."}
	case what == request.StepReceipt:
		return StatusView{Tone: "info", Icon: "truck", Words: request.StatusName(q.Status),
			Sentence: "The parcel is on its way. The requester confirms receipt."}
	}
	documents := slices.ContainsFunc(turn.What,
		func(w string) bool { return w == string(request.NeedSignedMTA) || w == string(request.NeedIRB) })
	switch {
	case documents && q.Letter != 0 && slices.Contains(turn.What, string(request.NeedSignedMTA)):
		return agreementTurn(q, turn, mine)
	case documents && mine:
		return StatusView{Icon: "turn", Words: "Documents needed", Verb: "Upload",
			Sentence: "The lab continues once it receives " + OwedList(turn.What) + "."}
	case documents:
		return StatusView{Icon: "clock", Words: "Waiting for documents", Sentence: "Needed from the requester: " +
			OwedList(turn.What) + "."}
	case mine:
		return StatusView{Icon: "pin", Words: "Shipping details needed", Verb: "Complete",
			Sentence: "The lab continues once it receives " + OwedList(turn.What) + "."}
	}
	return StatusView{Icon: "clock", Words: "Waiting for shipping details", Sentence: "Needed from the requester: " +
		OwedList(turn.What) + "."}
}

// agreementTurn returns the state of a request on its requester's turn while an agreement is under way, which takes the
// place of the signed MTA.
func agreementTurn(q request.Detail, turn request.Turn, mine bool) StatusView {
	number := letter.Number(q.Letter)
	others := slices.DeleteFunc(slices.Clone(turn.What), func(w string) bool {
		return w == string(request.NeedSignedMTA)
	})
	v := StatusView{Icon: "mta", Words: "Agreement under way", Verb: "Open", Sentence: "The agreement " + number +
		" takes the place of the signed MTA once everybody has signed it."}
	if len(others) == 0 {
		return v
	}
	v.Sentence += " Also needed from the requester: " + OwedList(others) + "."
	if mine {
		v.Icon, v.Words, v.Verb = "turn", "Documents needed", "Upload"
		v.Sentence = "The lab continues once the agreement " + number + " is executed and it receives " +
			OwedList(others) + "."
	}
	return v
}

// labTurn returns the state of a request on its lab's turn.
func labTurn(q request.Detail, turn request.Turn, stage Stage, mine bool) StatusView {
	switch {
	case turn.What[0] == request.StepDecision && mine:
		return StatusView{Icon: "turn", Words: "Accept or decline", Verb: "Decide",
			Sentence: "Your lab needs to decide on this request."}
	case turn.What[0] == request.StepDecision:
		return StatusView{Tone: "info", Icon: "sent", Words: request.StatusName(q.Status),
			Sentence: "The lab is deciding on the request."}
	case turn.What[0] == request.StepIssue && mine:
		return StatusView{Tone: "bad", Icon: "alert", Words: "Problem to resolve", Verb: "Answer",
			Sentence: "A problem with this transfer was reported."}
	case turn.What[0] == request.StepIssue:
		return StatusView{Tone: "bad", Icon: "alert", Words: "Problem reported",
			Sentence: "A problem was reported. The lab is resolving it."}
	case stage == StageDocuments && mine:
		return StatusView{Icon: "irb", Words: "Check it", Verb: "Check",
			Sentence: "A submitted document needs checking."}
	case stage == StageDocuments:
		return StatusView{Tone: "info", Icon: "clock", Words: "The lab is checking it",
			Sentence: "The lab is checking the documents."}
	case stage == StageCountersign && q.Letter != 0:
		return StatusView{Tone: "info", Icon: "mta", Words: "Agreement under way", Verb: "Open",
			Sentence: "The agreement " + letter.Number(q.Letter) +
				" takes the place of the executed MTA once everybody has signed it."}
	case stage == StageCountersign && mine:
		return StatusView{Icon: "mta", Words: "Countersign the MTA", Verb: "Countersign",
			Sentence: "The signed MTA is accepted. It now needs your institution’s signature."}
	case stage == StageCountersign:
		return StatusView{Tone: "info", Icon: "mta", Words: "Being countersigned",
			Sentence: "The lab’s institution is signing the MTA."}
	case mine && !Travels(q):
		return StatusView{Icon: "truck", Words: "Deliver it", Verb: "Deliver",
			Sentence: "Everything is ready. Deliver the material."}
	case mine:
		return StatusView{Icon: "truck", Words: "Pack and ship", Verb: "Ship",
			Sentence: "Everything is ready. Pack the material and ship it."}
	}
	return StatusView{Tone: "info", Icon: "truck", Words: "Being prepared",
		Sentence: "The lab is preparing the material."}
}

// ended returns the state of a request that is nobody's turn any more.
func ended(q request.Detail) StatusView {
	switch q.Status {
	case request.Verified:
		return StatusView{Tone: "good", Icon: "done", Words: request.StatusName(q.Status),
			Sentence: "The requester confirmed receipt.", Stage: StageDone}
	case request.Rejected:
		return StatusView{Icon: "declined", Words: request.StatusName(q.Status),
			Sentence: "The lab declined this request."}
	case request.Cancelled:
		return StatusView{Icon: "cancelled", Words: request.StatusName(q.Status),
			Sentence: "The requester cancelled this request."}
	case request.Invalid:
		return StatusView{Icon: "cancelled", Words: request.StatusName(q.Status),
			Sentence: "This request was withdrawn as invalid."}
	}
	return StatusView{Icon: "archive", Words: "Closed by the lab",
		Sentence: "The lab closed this request without outcome."}
}

// OwedList lists what a turn owes, as "the signed MTA and the IRB document".
func OwedList(what []string) string {
	words := make([]string, len(what))
	for i, w := range what {
		words[i] = request.DescribeTask(w)
	}
	return Listed(words)
}

// Listed joins words as a sentence does.
func Listed(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
}
