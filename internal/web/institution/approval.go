package institution

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/institutions"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/field"
	"aliquot/internal/web/ui"
)

// approvalPage shows the standing approvals of an institution to its officers, who make, sign and withdraw them here.
type approvalPage struct {
	*page
	institutions.ApprovalPage
	Categories []string
	Asked      int64  // the approval that the visitor's device is asked to sign; 0: none
	Statement  string // that it signs
	Options    string // what script passes to the device
}

// Checked reports whether the form of a new approval has a value of a list.
func (p *approvalPage) Checked(name, value string) bool { return slices.Contains(p.Form[name], value) }

// Typed returns what the form of a new approval has in a field.
func (p *approvalPage) Typed(name string) string { return p.Form.Get(name) }

// Agreement returns what the agreements of a family are called.
func (p *approvalPage) Agreement(family string) string {
	return institutions.FamilyTitle(p.Families, family)
}

// Category is the name of a category.
func (p *approvalPage) Category(code string) string {
	c, _ := category.Get(code)
	return c.Label
}

// Signs reports whether an approval signs letters today.
func (p *approvalPage) Signs(a approval.Approval) bool {
	return a.SignedOn != "" && a.Holds(p.Today()) && !p.Over(a.WithdrawnOn)
}

// approvals shows the standing approvals of an institution.
func (v *pageRequest) approvals(id int64) (ui.Response, error) {
	p, err := v.readApprovals(id)
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("institution-approvals", p)
}

func (v *pageRequest) readApprovals(id int64) (*approvalPage, error) {
	of, err := v.read(id, "approvals", "Standing approvals")
	if err != nil {
		return nil, err
	}
	list, err := v.App.Institutions.ApprovalPage(v.Context(), v.Who.Actor, id)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	of.Form = map[string][]string{"direction": {string(party.Provide)}, "largest_bsl": {"1"}, "human": {"NO"},
		"from": {now.Format(time.DateOnly)}, "until": {now.AddDate(1, 0, 0).Format(time.DateOnly)}}
	return &approvalPage{page: of, ApprovalPage: list, Categories: category.Codes()}, nil
}

// draftApproval makes a standing approval, which signs nothing before it is signed.
func (v *pageRequest) draftApproval(id int64) (ui.Response, error) {
	if err := v.App.Institutions.Approvals.MayWrite(v.Context(), v.Who.Actor, id, 0); err != nil {
		return ui.Response{}, err
	}
	form := maps.Clone(v.PostForm)
	for _, list := range []string{"families", "categories"} {
		v.PostForm.Set(list, strings.Join(v.PostForm[list], ";"))
	}
	p, err := patchOf[approval.Approval](v)
	if err == nil {
		err = v.setMembers(&p)
	}
	if err == nil {
		_, err = v.App.Institutions.Approvals.Create(v.Context(), v.Who.Actor, id, p)
	}
	if err == nil {
		return ui.SeeOther("/offices/" + v.PathValue("id") + "/approvals").Saying("Drafted. It signs nothing " +
			"before you sign it."), nil
	}
	return v.refuseApproval(id, form, err)
}

// setMembers sets the people whose registry ids a form has.
func (v *pageRequest) setMembers(p *party.Patch[approval.Approval]) error {
	members := []string{}
	for _, id := range field.SplitItems(v.PostFormValue("members")) {
		user, err := v.App.Institutions.Person(v.Context(), id)
		if err != nil {
			return exchange.FieldErrors{"members": {exchange.MessageOf(err)}}.Err()
		}
		members = append(members, user.String())
	}
	return p.Set("members", members)
}

// decideApproval signs a standing approval, or withdraws it from today on.
func (v *pageRequest) decideApproval(id int64) (ui.Response, error) {
	which, err := v.PathID("approval")
	if err != nil {
		return ui.Response{}, err
	}
	n, _ := strconv.ParseInt(v.PostFormValue("version"), 10, 64)
	version := exchange.Some(n)
	said := "Signed. From now on it signs the letters that it covers."
	switch v.PostFormValue("do") {
	case "passkey":
		return v.askApproval(id, which, version)
	case "withdraw":
		said = "Withdrawn. It signs nothing from today on."
		var p party.Patch[approval.Approval]
		if err = p.Set("withdrawn_on", exchange.DayOf(time.Now())); err == nil {
			_, err = v.App.Institutions.Approvals.Update(v.Context(), v.Who.Actor, id, which, p, nil)
		}
	default:
		_, err = v.App.Institutions.SignApproval(v.Context(), v.Who.Actor, id, which,
			approval.SignNew{Version: version, Credential: v.Credential()})
		if _, wrong := ui.FieldErrorsIn(err); wrong && v.Credential().Set {
			err = exchange.Errorf(exchange.Conflict, ui.AnswerRefused)
		}
	}
	if err != nil {
		return v.refuseApproval(id, nil, err)
	}
	return ui.SeeOther("/offices/" + v.PathValue("id") + "/approvals").Saying(said), nil
}

// askApproval shows the button with which a device signs the version of an approval that the visitor saw.
func (v *pageRequest) askApproval(id, which int64, version exchange.Opt[int64]) (ui.Response, error) {
	asked, err := v.App.Institutions.AskApproval(v.Context(), v.Who.Actor, id, which, approval.AskNew{Version: version})
	if err != nil {
		return v.refuseApproval(id, nil, err)
	}
	p, err := v.readApprovals(id)
	if err != nil {
		return ui.Response{}, err
	}
	p.Asked, p.Statement, p.Options = which, asked.Statement, string(asked.Options)
	r, err := ui.Show("institution-approvals", p)
	r.Private = true
	return r, err
}

// refuseApproval shows the page again with what is wrong: of a new approval, with what was typed.
func (v *pageRequest) refuseApproval(id int64, form url.Values, err error) (ui.Response, error) {
	e, _ := errors.AsType[*exchange.Error](err)
	if e == nil || !slices.Contains([]exchange.Code{exchange.InvalidInput, exchange.Conflict, exchange.NoAuthority,
		exchange.LevelTooLow, exchange.StaleVersion}, e.Code) {
		return ui.Response{}, err
	}
	if e.Code == exchange.NoAuthority {
		v.NoteRefusal(err)
	}
	p, err := v.readApprovals(id)
	if err != nil {
		return ui.Response{}, err
	}
	p.Errors = ui.FieldErrors{"form": {e.Message}}
	if len(e.Fields) > 0 {
		p.Errors = ui.Labelled[approval.Approval](e.Fields, "")
	}
	if form != nil {
		p.Bad, p.Form = "approvals-", form
	}
	return ui.Invalid("institution-approvals", p)
}
