package lab

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app/labs"
	"aliquot/internal/app/transfer"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

type labPeoplePage struct {
	labPage
	Members       []person.User
	Total         exchange.Count
	Links         links
	Invitations   []lab.ShownInvitation
	Joins         []lab.ShownJoinRequest
	Suggested     []person.User // to invite
	Invited, Role string        // of the form of an invitation
	Days          string
	Asking        string // of the form that asks to join
	Open          bool   // a form is open
	Owner         string // of the form that transfers ownership
	MoreInvited   bool   // there are more invitations than these
	MoreJoins     bool
}

// All reports whether the page shows all members.
func (p *labPeoplePage) All() bool { return int64(len(p.Members)) == p.Total.N }

// inviteDays is how long an invitation can be answered by default.
var inviteDays = strconv.Itoa(int(lab.InvitationLifetime.Hours() / 24))

func (v *pageRequest) readPeople() (*labPeoplePage, error) {
	base, err := v.readLab("people", "People")
	if err != nil {
		return nil, err
	}
	p := &labPeoplePage{labPage: base, Days: inviteDays, Role: string(lab.MemberRole)}
	members, err := v.App.Labs.Members(v.Context(), base.Lab.ID, v.pageOf())
	if err != nil {
		return nil, err
	}
	p.Members, p.Total, p.Links = members.Items, members.Total, v.linksOf(members.Next)
	if base.Lab.May(exchange.InvitationRead) {
		for _, status := range []lab.InvitationStatus{lab.InvitationPending, lab.InvitationExpired} {
			list, err := v.App.Labs.Invitations(v.Context(), v.Who.Actor, base.Lab.ID,
				lab.InvitationFilter{Status: &status}, exchange.Page{Limit: maxOfPage})
			if err != nil {
				return nil, err
			}
			p.Invitations, p.MoreInvited = append(p.Invitations, list.Items...), p.MoreInvited || list.Next != nil
		}
	}
	if base.Lab.May(exchange.InvitationWrite) {
		if p.Suggested, err = v.App.Labs.SuggestedInvitees(v.Context(), v.Who.Actor, base.Lab.ID); err != nil {
			return nil, err
		}
	}
	if base.Lab.May(exchange.JoinRead) {
		list, err := v.App.Labs.JoinRequests(v.Context(), v.Who.Actor, base.Lab.ID,
			lab.JoinFilter{Status: new(lab.JoinPending)}, exchange.Page{Limit: maxOfPage})
		if err != nil {
			return nil, err
		}
		p.Joins, p.MoreJoins = list.Items, list.Next != nil
	}
	return p, nil
}

func (v *pageRequest) labPeople() (ui.Response, error) {
	p, err := v.readPeople()
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("lab-people", p)
}

// removalPage states what follows before somebody is removed from a lab, or leaves it.
type removalPage struct {
	labPage
	labs.Removal
	Leaving bool          // the visitor leaves
	Others  []person.User // whom the listings and requests can go to
	More    bool          // there are more than these
	To      string        // the chosen one
}

func (v *pageRequest) readRemoval(action exchange.Action, id int64, member uuid.UUID) (*removalPage, error) {
	removal, err := v.App.Labs.Removal(v.Context(), v.Who.Actor, action, id, member)
	if err != nil {
		return nil, err
	}
	p := &removalPage{Removal: removal, Leaving: action == exchange.OrganizationLeave, To: removal.Owner.ID.String()}
	title := "Remove " + removal.Member.Name()
	if p.Leaving {
		title = "Leave lab"
	}
	if p.labPage, err = v.readLab("people", title); err != nil {
		return nil, err
	}
	members, err := v.App.Labs.Members(v.Context(), id, exchange.Page{Limit: maxOfPage})
	p.More = members.Next != nil
	p.Others = slices.DeleteFunc(members.Items, func(u person.User) bool { return u.ID == member })
	if p.More {
		p.To = removal.Owner.Name() + ", " + removal.Owner.RegistryID
	}
	return p, err
}

func (v *pageRequest) askRemoval(id int64) (ui.Response, error) {
	member, _ := uuid.Parse(v.URL.Query().Get("member")) // an invalid id is not found
	p, err := v.readRemoval(exchange.OrganizationUpdate, id, member)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("lab-remove", p)
}

func (v *pageRequest) askLeaving(id int64) (ui.Response, error) {
	p, err := v.readRemoval(exchange.OrganizationLeave, id, v.Who.ID)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("lab-remove", p)
}

// removeMember removes a member, unless the visitor undoes this. The member chosen in "to", the owner if none is, takes
// their listings and requests.
func (v *pageRequest) removeMember(id int64) (ui.Response, error) {
	member, _ := uuid.Parse(v.PostFormValue("member")) // an invalid id is not found
	action := transfer.PendingAction{Organization: id, Member: member}
	p, err := v.readRemoval(exchange.OrganizationUpdate, id, member)
	if err != nil {
		return ui.Response{}, err
	}
	var pending int64
	if typed := v.PostFormValue("to"); typed != "" {
		p.To = typed
		action.To, err = v.Person(typed, id)
	}
	if err == nil {
		pending, err = v.App.Schedule(v.Context(), v.Who.Actor, action, nil)
	}
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		p.Errors = ui.FieldErrors{"to": ui.AsSentences(slices.Concat(fields["person"], fields["to"]))}
		return ui.Invalid("lab-remove", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab("/people")).Undoable(p.Member.Name()+" will be removed from the lab.", pending), nil
}

func (v *pageRequest) handLabOver() (ui.Response, error) {
	id, err := v.labFor(exchange.OrganizationUpdate)
	if err != nil {
		return ui.Response{}, err
	}
	again := func(field string, texts ...string) (ui.Response, error) {
		p, err := v.readPeople()
		if err != nil {
			return ui.Response{}, err
		}
		p.Errors, p.Owner = ui.FieldErrors{field: texts}, v.PostFormValue("member")
		return ui.Invalid("lab-people", p)
	}
	member, err := v.Person(v.PostFormValue("member"), id)
	if fields, wrong := ui.FieldErrorsIn(err); wrong {
		return again("owner", ui.AsSentences(fields["person"])...)
	} else if err != nil {
		return ui.Response{}, err
	}
	seen, err := v.App.Accounts.User(v.Context(), v.Who.Actor, member)
	if err != nil {
		return ui.Response{}, err
	}
	u := seen.User
	if v.PostFormValue("sure") == "" {
		return again("sure", "Tick the box to transfer ownership: you cannot undo this yourself.")
	}
	o, err := v.App.Labs.UpdateOrganization(v.Context(), v.Who.Actor, id,
		lab.OrganizationPatch{Owner: exchange.Some(exchange.UserRef(u.ID))}, nil)
	if text, ok := refusal(err); ok {
		return again("owner", text)
	} else if err != nil {
		return ui.Response{}, err
	}
	if o.Owner != u.ID {
		return ui.SeeOther(v.lab("/people")).Saying(u.Name() + " is invited to own the lab. You remain the owner " +
			"until they accept."), nil
	}
	return ui.SeeOther(v.lab("/people")).Saying(u.Name() + " now owns the lab. The former owner stays a member."),
		nil
}

func (v *pageRequest) leaveLab(id int64) (ui.Response, error) {
	if err := v.App.Labs.Leave(v.Context(), v.Who.Actor, id); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther("/labs").Saying("You left the lab. Your listings and requests went to its owner."), nil
}

// invite invites everyone the form names, one per line, by e-mail address or registry id.
func (v *pageRequest) invite() (ui.Response, error) {
	id, err := v.labFor(exchange.InvitationWrite)
	if err != nil {
		return ui.Response{}, err
	}
	role := lab.Role(v.PostFormValue("role"))
	var wrong, left []string
	sent := 0
	named := strings.Join(append(v.PostForm["known"], v.PostFormValue("who")), "\n")
	lines := slices.DeleteFunc(strings.FieldsFunc(named,
		func(r rune) bool { return r == '\n' || r == '\r' || r == ',' || r == ';' }),
		func(line string) bool { return strings.TrimSpace(line) == "" })
	problems := ui.FieldErrors{}
	expires, problem := v.expiry()
	if problem != "" {
		problems["days"] = []string{problem}
	}
	switch {
	case len(lines) == 0:
		wrong = append(wrong, "Enter at least one e-mail address or researcher id.")
	case len(lines) > lab.MaxInvited:
		wrong = append(wrong, "Name at most "+strconv.Itoa(lab.MaxInvited)+" people at once.")
	case role == lab.OwnerRole && len(lines) > 1:
		wrong = append(wrong, "Invite one person as owner; a lab has one.")
	case problem == "":
		for _, line := range lines {
			line = strings.TrimSpace(line)
			n := lab.InvitationNew{Role: exchange.Some(role), ExpiresAt: expires}
			if strings.Contains(line, "@") {
				n.Email = exchange.Some(line)
			} else {
				n.RegistryID = exchange.Some(line)
			}
			if _, _, err = v.App.Labs.Invite(v.Context(), v.Who.Actor, id, n); err == nil {
				sent++
				continue
			}
			text, ok := refusal(err)
			if !ok {
				return ui.Response{}, err
			}
			wrong, left = append(wrong, line+": "+text), append(left, line)
		}
	}
	if len(wrong) == 0 && problem == "" {
		return ui.SeeOther(v.lab("/people")).Saying(ui.Plural(sent, "invitation") +
			" sent. People become members when they accept."), nil
	}
	p, err := v.readPeople()
	if err != nil {
		return ui.Response{}, err
	}
	if len(wrong) > 0 {
		problems["who"] = wrong
	}
	p.Invited, p.Role, p.Days, p.Open, p.Errors = strings.TrimSpace(named), string(role), v.PostFormValue("days"), true,
		problems
	if sent > 0 { // those need no other invitation
		p.Invited = strings.Join(left, "\n")
	}
	return ui.Invalid("lab-people", p)
}

// expiry returns until when an invitation can be answered, as the form says.
func (v *pageRequest) expiry() (o exchange.Opt[exchange.Instant], problem string) {
	n, err := strconv.Atoi(strings.TrimSpace(v.PostFormValue("days")))
	if err != nil || n < 1 || n > 90 {
		return o, "Enter a whole number of days from 1 to 90."
	}
	return exchange.Some(exchange.Instant(v.App.DB.Read().Now.Add(time.Duration(n)*24*time.Hour - time.Minute))), ""
}

// refusal returns why something was refused; ok reports whether the visitor can correct that in the form.
func refusal(err error) (text string, ok bool) {
	if fields, is := ui.FieldErrorsIn(err); is && len(fields) > 0 {
		var list []string
		for _, texts := range fields {
			list = append(list, strings.Join(texts, ", "))
		}
		slices.Sort(list)
		return strings.Join(list, "; "), true
	}
	switch exchange.CodeOf(err) {
	case exchange.InvalidInput, exchange.Conflict, exchange.RateLimited, exchange.AttachmentInUse,
		exchange.UnsupportedMedia, exchange.TooLarge, exchange.QuotaExceeded:
		return exchange.MessageOf(err), true
	}
	return "", false
}

func (v *pageRequest) invitationOf() (lab, id int64, err error) {
	if lab, err = v.PathID("id"); err == nil {
		id, err = v.PathID("invitation")
	}
	return lab, id, err
}

func (v *pageRequest) resendInvitation() (ui.Response, error) {
	lab, id, err := v.invitationOf()
	if err != nil {
		return ui.Response{}, err
	}
	sent, err := v.App.Labs.Resend(v.Context(), v.Who.Actor, lab, id)
	if text, ok := refusal(err); ok {
		return ui.SeeOther(v.lab("/people")).Saying(text), nil
	} else if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab("/people")).Saying("The invitation to " + sent.Addressee() + " was resent."), nil
}

func (v *pageRequest) revokeInvitation() (ui.Response, error) {
	lab, id, err := v.invitationOf()
	if err != nil {
		return ui.Response{}, err
	}
	if err := v.App.Labs.Withdraw(v.Context(), v.Who.Actor, lab, id, nil); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab("/people")).Saying("Invitation withdrawn. Its link no longer works."), nil
}

func (v *pageRequest) askToJoin(id int64) (ui.Response, error) {
	_, existed, err := v.App.Labs.AskToJoin(v.Context(), v.Who.Actor, id,
		lab.JoinNew{Note: exchange.Some(v.PostFormValue("note"))})
	if text, ok := refusal(err); ok {
		p, err := v.readPeople()
		if err != nil {
			return ui.Response{}, err
		}
		p.Asking, p.Open, p.Errors = v.PostFormValue("note"), true, ui.FieldErrors{"note": {text}}
		return ui.Invalid("lab-people", p)
	} else if err != nil {
		return ui.Response{}, err
	}
	if existed {
		return ui.SeeOther(v.lab("/people")).Saying("You already asked; the owner has not answered yet."), nil
	}
	return ui.SeeOther(v.lab("/people")).Saying("The lab’s owner was notified. You will be notified of the " +
		"answer."), nil
}

func (v *pageRequest) joinOf() (lab, id int64, err error) {
	if lab, err = v.PathID("id"); err == nil {
		id, err = v.PathID("join")
	}
	return lab, id, err
}

func (v *pageRequest) acceptJoin() (ui.Response, error) {
	labID, id, err := v.joinOf()
	if err != nil {
		return ui.Response{}, err
	}
	j, err := v.App.Labs.AnswerJoin(v.Context(), v.Who.Actor, labID, id, lab.JoinAccepted, lab.JoinDecline{})
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab("/people")).Saying(j.Asker.Name() + " is now a member."), nil
}

func (v *pageRequest) declineJoin() (ui.Response, error) {
	labID, id, err := v.joinOf()
	if err != nil {
		return ui.Response{}, err
	}
	j, err := v.App.Labs.AnswerJoin(v.Context(), v.Who.Actor, labID, id, lab.JoinDeclined,
		lab.JoinDecline{Reason: exchange.Some(v.PostFormValue("reason"))})
	if err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab("/people")).Saying(j.Asker.Name() + " will be notified that the lab declined."), nil
}

func (v *pageRequest) withdrawJoin() (ui.Response, error) {
	lab, id, err := v.joinOf()
	if err != nil {
		return ui.Response{}, err
	}
	if err := v.App.Labs.WithdrawJoin(v.Context(), v.Who.Actor, lab, id, nil); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.lab("/people")).Saying("Join request withdrawn."), nil
}
