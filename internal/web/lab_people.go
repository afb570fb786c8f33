package web

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/app"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

type labPeoplePage struct {
	labPage
	Members       []exchange.User
	Total         int64
	Links         links
	Invitations   []exchange.ShownInvitation
	Joins         []exchange.ShownJoinRequest
	Invited, Role string // of the form of an invitation
	Days          string
	Asking        string // of the form that asks to join
	Open          bool   // a form is open
	Owner         string // of the form that transfers ownership
	MoreInvited   bool   // there are more invitations than these
	MoreJoins     bool
}

// All reports whether the page shows all members.
func (p *labPeoplePage) All() bool { return int64(len(p.Members)) == p.Total }

// inviteDays is how long an invitation can be answered by default.
var inviteDays = strconv.Itoa(int(exchange.InvitationLifetime.Hours() / 24))

func (v *pageRequest) readPeople() (*labPeoplePage, error) {
	base, err := v.readLab("people", "People")
	if err != nil {
		return nil, err
	}
	p := &labPeoplePage{labPage: base, Days: inviteDays, Role: string(exchange.MemberRole)}
	members, err := v.app.Members(v.Context(), base.Lab.ID, v.pageOf())
	if err != nil {
		return nil, err
	}
	p.Members, p.Total, p.Links = members.Items, members.Total, v.linksOf(members.Next)
	if base.Lab.May(exchange.InvitationRead) {
		for _, status := range []exchange.InvitationStatus{exchange.InvitationPending, exchange.InvitationExpired} {
			list, err := v.app.Invitations(v.Context(), v.who.Actor, base.Lab.ID,
				exchange.InvitationFilter{Status: &status}, exchange.Page{Limit: maxOfPage})
			if err != nil {
				return nil, err
			}
			p.Invitations, p.MoreInvited = append(p.Invitations, list.Items...), p.MoreInvited || list.Next != nil
		}
	}
	if base.Lab.May(exchange.JoinRead) {
		list, err := v.app.JoinRequests(v.Context(), v.who.Actor, base.Lab.ID,
			exchange.JoinFilter{Status: new(exchange.JoinPending)}, exchange.Page{Limit: maxOfPage})
		if err != nil {
			return nil, err
		}
		p.Joins, p.MoreJoins = list.Items, list.Next != nil
	}
	return p, nil
}

func (v *pageRequest) labPeople() (response, error) {
	p, err := v.readPeople()
	if err != nil {
		return response{}, err
	}
	return show("lab-people", p)
}

// member returns the member that a form names.
func (v *pageRequest) member() (exchange.User, error) {
	id, err := uuid.Parse(v.PostFormValue("member"))
	if err != nil {
		return exchange.User{}, exchange.Errorf(exchange.NotFound, "There is no such member.")
	}
	u, err := v.app.User(v.Context(), v.who.Actor, id)
	return u.User, err
}

// removeMember removes a member, unless the visitor undoes this.
func (v *pageRequest) removeMember() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	u, err := v.member()
	if err != nil {
		return response{}, err
	}
	deed, err := v.app.Schedule(v.Context(), v.who.Actor, app.PendingAction{Organization: id, Member: u.ID}, nil)
	if err != nil {
		return response{}, err
	}
	return seeOther(v.lab("/people")).undoable(u.Name()+" will be removed from the lab.", deed), nil
}

func (v *pageRequest) handLabOver() (response, error) {
	id, err := v.labFor(exchange.OrganizationUpdate)
	if err != nil {
		return response{}, err
	}
	again := func(field string, texts ...string) (response, error) {
		p, err := v.readPeople()
		if err != nil {
			return response{}, err
		}
		p.Errors, p.Owner = FieldErrors{field: texts}, v.PostFormValue("member")
		return invalid("lab-people", p)
	}
	member, err := v.person(v.PostFormValue("member"), id)
	if fields, wrong := faults(err); wrong {
		return again("owner", asSentences(fields["person"])...)
	} else if err != nil {
		return response{}, err
	}
	seen, err := v.app.User(v.Context(), v.who.Actor, member)
	if err != nil {
		return response{}, err
	}
	u := seen.User
	if v.PostFormValue("sure") == "" {
		return again("sure", "Tick the box to transfer ownership: once they own it, you cannot take it back yourself.")
	}
	o, err := v.app.UpdateOrganization(v.Context(), v.who.Actor, id,
		exchange.OrganizationPatch{Owner: exchange.Some(exchange.UserRef(u.ID))}, nil)
	if text, ok := refusal(err); ok {
		return again("owner", text)
	} else if err != nil {
		return response{}, err
	}
	if o.Owner != u.ID {
		return seeOther(v.lab("/people")).saying(u.Name() + " is invited to own the lab. It stays as it is until " +
			"they accept."), nil
	}
	return seeOther(v.lab("/people")).saying(u.Name() + " owns the lab now. Its former owner is still a member."), nil
}

func (v *pageRequest) leaveLab() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	if err := v.app.Leave(v.Context(), v.who.Actor, id); err != nil {
		return response{}, err
	}
	return seeOther("/labs").saying("You left the lab. Requests that were yours went to its owner."), nil
}

// invite invites everyone the form names, one per line, by e-mail address or registry id.
func (v *pageRequest) invite() (response, error) {
	id, err := v.labFor(exchange.InvitationWrite)
	if err != nil {
		return response{}, err
	}
	role := exchange.Role(v.PostFormValue("role"))
	var wrong, left []string
	sent := 0
	lines := slices.DeleteFunc(strings.FieldsFunc(v.PostFormValue("who"),
		func(r rune) bool { return r == '\n' || r == '\r' || r == ',' || r == ';' }),
		func(line string) bool { return strings.TrimSpace(line) == "" })
	problems := FieldErrors{}
	expires, problem := v.expiry()
	if problem != "" {
		problems["days"] = []string{problem}
	}
	switch {
	case len(lines) == 0:
		wrong = append(wrong, "Name at least one person: an e-mail address or a researcher id.")
	case len(lines) > exchange.MaxInvited:
		wrong = append(wrong, "Name at most "+strconv.Itoa(exchange.MaxInvited)+" people at once.")
	case role == exchange.OwnerRole && len(lines) > 1:
		wrong = append(wrong, "Invite one person as owner; a lab has one.")
	case problem == "":
		for _, line := range lines {
			line = strings.TrimSpace(line)
			n := exchange.InvitationNew{Role: exchange.Some(role), ExpiresAt: expires}
			if strings.Contains(line, "@") {
				n.Email = exchange.Some(line)
			} else {
				n.RegistryID = exchange.Some(line)
			}
			if _, _, err = v.app.Invite(v.Context(), v.who.Actor, id, n); err == nil {
				sent++
				continue
			}
			text, ok := refusal(err)
			if !ok {
				return response{}, err
			}
			wrong, left = append(wrong, line+": "+text), append(left, line)
		}
	}
	if len(wrong) == 0 && problem == "" {
		return seeOther(v.lab("/people")).saying(plural(sent, "invitation") +
			" sent. Nobody is a member before they accept."), nil
	}
	p, err := v.readPeople()
	if err != nil {
		return response{}, err
	}
	if len(wrong) > 0 {
		problems["who"] = wrong
	}
	p.Invited, p.Role, p.Days, p.Open, p.Errors = v.PostFormValue("who"), string(role), v.PostFormValue("days"), true,
		problems
	if sent > 0 { // those need no other invitation
		p.Invited = strings.Join(left, "\n")
	}
	return invalid("lab-people", p)
}

// expiry returns until when an invitation can be answered, as the form says.
func (v *pageRequest) expiry() (o exchange.Opt[exchange.Instant], problem string) {
	n, err := strconv.Atoi(strings.TrimSpace(v.PostFormValue("days")))
	if err != nil || n < 1 || n > 90 {
		return o, "Use a whole number of days from 1 to 90."
	}
	return exchange.Some(exchange.Instant(v.app.DB.Read().Now.Add(time.Duration(n)*24*time.Hour - time.Minute))), ""
}

// refusal returns why something was refused; ok reports whether the visitor can correct that in the form.
func refusal(err error) (text string, ok bool) {
	if fields, is := faults(err); is && len(fields) > 0 {
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
		return messageOf(err), true
	}
	return "", false
}

func (v *pageRequest) invitationOf() (lab, id int64, err error) {
	if lab, err = v.id("id"); err == nil {
		id, err = v.id("invitation")
	}
	return lab, id, err
}

func (v *pageRequest) resendInvitation() (response, error) {
	lab, id, err := v.invitationOf()
	if err != nil {
		return response{}, err
	}
	sent, err := v.app.Resend(v.Context(), v.who.Actor, lab, id)
	if text, ok := refusal(err); ok {
		return seeOther(v.lab("/people")).saying(text), nil
	} else if err != nil {
		return response{}, err
	}
	return seeOther(v.lab("/people")).saying("The invitation to " + sent.Addressee() + " is sent again."), nil
}

func (v *pageRequest) revokeInvitation() (response, error) {
	lab, id, err := v.invitationOf()
	if err != nil {
		return response{}, err
	}
	if err := v.app.Withdraw(v.Context(), v.who.Actor, lab, id, nil); err != nil {
		return response{}, err
	}
	return seeOther(v.lab("/people")).saying("The invitation is taken back; its link opens nothing any more."), nil
}

func (v *pageRequest) askToJoin() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	_, existed, err := v.app.AskToJoin(v.Context(), v.who.Actor, id,
		exchange.JoinNew{Note: exchange.Some(v.PostFormValue("note"))})
	if text, ok := refusal(err); ok {
		p, err := v.readPeople()
		if err != nil {
			return response{}, err
		}
		p.Asking, p.Open, p.Errors = v.PostFormValue("note"), true, FieldErrors{"note": {text}}
		return invalid("lab-people", p)
	} else if err != nil {
		return response{}, err
	}
	if existed {
		return seeOther(v.lab("/people")).saying("You asked already; the owner has not answered yet."), nil
	}
	return seeOther(v.lab("/people")).saying("The owner of the lab is told. You hear of the answer."), nil
}

func (v *pageRequest) joinOf() (lab, id int64, err error) {
	if lab, err = v.id("id"); err == nil {
		id, err = v.id("join")
	}
	return lab, id, err
}

func (v *pageRequest) acceptJoin() (response, error) {
	lab, id, err := v.joinOf()
	if err != nil {
		return response{}, err
	}
	j, err := v.app.AnswerJoin(v.Context(), v.who.Actor, lab, id, exchange.JoinAccepted, exchange.JoinDecline{})
	if err != nil {
		return response{}, err
	}
	return seeOther(v.lab("/people")).saying(j.Asker.Name() + " is a member now."), nil
}

func (v *pageRequest) declineJoin() (response, error) {
	lab, id, err := v.joinOf()
	if err != nil {
		return response{}, err
	}
	j, err := v.app.AnswerJoin(v.Context(), v.who.Actor, lab, id, exchange.JoinDeclined,
		exchange.JoinDecline{Reason: exchange.Some(v.PostFormValue("reason"))})
	if err != nil {
		return response{}, err
	}
	return seeOther(v.lab("/people")).saying(j.Asker.Name() + " is told that the lab declined."), nil
}

func (v *pageRequest) withdrawJoin() (response, error) {
	lab, id, err := v.joinOf()
	if err != nil {
		return response{}, err
	}
	if err := v.app.WithdrawJoin(v.Context(), v.who.Actor, lab, id, nil); err != nil {
		return response{}, err
	}
	return seeOther(v.lab("/people")).saying("You took your question back."), nil
}
