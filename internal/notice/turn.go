package notice

import (
	"fmt"
	"strings"
	"time"

	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// turn is whose turn it is in a request, as the reader sees it; nobody's if the inner one is nil.
type turn struct {
	*request.Turn
	as role
}

// turnOf returns whose turn it is, as seen by a reader, who may be on both sides.
func turnOf(r request.Detail, as role, reader uuid.UUID) turn {
	t := turn{request.WaitingOn(r.Terms, r.Targets, r.Request), as}
	switch {
	case t.Turn == nil:
	case t.Side == request.RequesterSide && reader == r.Requester:
		t.as = requester
	case t.Side == request.LabSide && reader == r.AssignedTo:
		t.as = assignee
	}
	return t
}

// mine reports whether it is the turn of the reader's side.
func (t turn) mine() bool { return t.Turn != nil && t.Side == t.as.side() }

// whose describes whose turn it is, if it is somebody's.
func (t turn) whose() string {
	switch {
	case t.mine() && (t.as == requester || t.as == assignee):
		return "Your turn"
	case t.mine():
		return "Your lab's turn"
	default:
		return "The " + string(t.Side) + "'s turn"
	}
}

// sentence returns the turn with everything that is known about it.
func (t turn) sentence(in *time.Location) string {
	if t.Turn == nil {
		return "The request is closed."
	}
	what := make([]string, len(t.What))
	for i, w := range t.What {
		what[i] = request.DescribeTask(w)
	}
	s := fmt.Sprintf("%s since %s: %s.", t.whose(), moment(t.Since, in), joinWords(what))
	switch {
	case t.Due == nil:
		return s
	case t.mine():
		return s + " It is due by " + day(*t.Due, in) + "."
	default:
		return s + " The lab aims to do it by " + day(*t.Due, in) + "."
	}
}

// anchor returns the anchor on the request's page where the turn is taken.
func (t turn) anchor() string {
	for _, q := range request.Requirements(request.Terms{}, request.Request{}) {
		if t.What[0] == string(q.Need) {
			return requirement(t.What[0])
		}
	}
	return "next"
}

// requirement returns the anchor of a requirement on the request's page.
func requirement(need string) string {
	return "requirement-" + strings.ReplaceAll(strings.TrimPrefix(need, "requester_"), "_", "-")
}

// needs returns the requirements still open, with who owes each. A closed request has none, nor one that the lab
// continues in spite of them. For the document in the slot withoutReason the reason
// for its return is left out.
func needs(r request.Detail, as role, withoutReason document.Slot) []need {
	if !r.Active || r.Override != "" {
		return nil
	}
	from := map[request.Due]string{request.OwedByRequester: "the requester", request.OwedByLab: "the lab"}
	switch as {
	case requester:
		from[request.OwedByRequester] = "you"
	case assignee:
		from[request.OwedByLab] = "you"
	default:
		from[request.OwedByLab] = "your lab"
	}
	var list []need
	for _, q := range request.Requirements(r.Terms, r.Request) {
		who, open := from[q.State]
		if !open {
			continue
		}
		n := need{What: request.DescribeTask(string(q.Need)) + ", from " + who}
		if q.Need == request.NeedAbstract && r.Status != request.Open { // it can no longer be written
			n.What = request.DescribeTask(string(q.Need)) + ", for which " + from[request.OwedByLab] +
				" can return the request"
		}
		if q.Note != "" && string(q.Need) != string(withoutReason) {
			n.What, n.Lines = n.What+", returned because:", lines(q.Note)
		}
		list = append(list, n)
	}
	return list
}
