package institution

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	signatures "aliquot/internal/agreement/signing"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/web/ui"
)

// signing is a letter that the visitor signs together with others.
type signing struct {
	letter.Agreement
	Role    string
	Problem string // why it was not signed, or cannot be
}

// Statement is what the signature states, exactly as it is recorded.
func (s signing) Statement() string {
	return letters.Intent(signatures.DocumentOf(s.Agreement), s.Role)
}

// Value names the version that is signed, in the form.
func (s signing) Value() string {
	return fmt.Sprintf("%d %d %s", s.ID, s.Letter.Version, s.SHA256)
}

// signMany asks the visitor to confirm that they sign several letters, or signs them, and reports on each. With a
// passkey, one touch signs all that are signed in one role, or none.
func (v *pageRequest) signMany(id int64) (ui.Response, error) {
	p, err := v.readDesk(id)
	if err != nil {
		return ui.Response{}, err
	}
	p.Title = "Sign agreements"
	if v.PostForm.Has("credential") {
		return v.signWithPasskey(p)
	}
	ids, chosen := v.chosen()
	if len(ids) == 0 {
		p.Errors = ui.FieldErrors{"id": {"Choose the agreements that you sign."}}
		return ui.Invalid("institution-letters", p)
	}
	list, err := v.App.Desks.OnDesk(v.Context(), v.Who.Actor, id, ids)
	if err != nil {
		return ui.Response{}, err
	}
	p.Signed, p.Signing = v.PostFormValue("do") == "sign", []signing{}
	for _, l := range list {
		s := signing{Agreement: l, Role: letters.OfficialOf(id, l.Letter)}
		switch {
		case p.Signed:
			n := chosen[l.ID]
			n.Role = exchange.Some(s.Role)
			_, err := v.App.Letters.SignIn(v.Context(), v.Who.Actor, l.ID, n)
			s.Problem = v.whyNot(err)
		case !p.Ours(l):
			s.Problem = "It does not wait for the official of " + p.LegalName + "."
		}
		p.Signing = append(p.Signing, s)
	}
	if role := v.PostFormValue("role"); role != "" {
		return v.askPasskey(p, role)
	}
	return ui.Response{Status: http.StatusOK, Template: "institution-letters", Page: p}, nil
}

// chosen reads which letters the visitor chose, and which version of each they confirmed.
func (v *pageRequest) chosen() (ids []int64, versions map[int64]letter.SignatureNew) {
	versions = map[int64]letter.SignatureNew{}
	for _, value := range slices.Concat(v.PostForm["id"], v.PostForm["letter"]) {
		parts := strings.Fields(value)
		one := ui.ParseID(strings.Join(parts[:min(1, len(parts))], ""))
		if one == nil || len(ids) == lettersOfPage {
			continue
		}
		ids = append(ids, *one)
		if len(parts) == 3 {
			n, _ := strconv.ParseInt(parts[1], 10, 64)
			versions[*one] = letter.SignatureNew{Version: exchange.Some(n), SHA256: exchange.Some(parts[2])}
		}
	}
	return ids, versions
}

// askPasskey shows the button with which a device signs those of the chosen letters that are signed in a role. The
// statement names the version of each.
func (v *pageRequest) askPasskey(p *deskPage, role string) (ui.Response, error) {
	p.Signing = slices.DeleteFunc(p.Signing, func(s signing) bool { return s.Problem != "" || s.Role != role })
	var ids []exchange.Ref
	for _, s := range p.Signing {
		ids = append(ids, exchange.Ref(s.ID))
	}
	asked, err := v.App.Letters.AskPasskey(v.Context(), v.Who.Actor, v.Who.ID,
		letter.PasskeyAsk{Role: exchange.Some(role), Agreements: exchange.Some(ids)})
	if err != nil {
		return v.notSigned(p, err)
	}
	p.Options, p.Asked = string(asked.Options), asked.Statement
	r, err := ui.Show("institution-letters", p)
	r.Private = true
	return r, err
}

// signWithPasskey signs what a device answered, and reports on each letter.
func (v *pageRequest) signWithPasskey(p *deskPage) (ui.Response, error) {
	signed, err := v.App.Letters.SignWithPasskey(v.Context(), v.Who.Actor, v.Who.ID,
		signatures.PasskeyAnswer{Credential: v.Credential()})
	if err != nil {
		return v.notSigned(p, err)
	}
	p.Signed = true
	for _, l := range signed {
		p.Signing = append(p.Signing, signing{Agreement: l})
	}
	return ui.Response{Status: http.StatusOK, Template: "institution-letters", Page: p}, nil
}

// notSigned shows the list again, and why a touch of a passkey signed nothing.
func (v *pageRequest) notSigned(p *deskPage, err error) (ui.Response, error) {
	why := v.whyNot(err)
	if _, wrong := ui.FieldErrorsIn(err); wrong {
		why = ui.AnswerRefused
	}
	p.Signing, p.Errors = nil, ui.FieldErrors{"id": {"Nothing was signed. " + why}}
	return ui.Invalid("institution-letters", p)
}

// PasskeyRoles are the roles of the chosen letters that can be signed, with how many letters one touch of a passkey
// signs in each.
func (p *deskPage) PasskeyRoles() (list []roleCount) {
	for _, role := range []string{party.ProviderOfficial, party.RecipientOfficial} {
		one := roleCount{Role: role}
		for _, s := range p.Signing {
			if s.Problem == "" && s.Role == role {
				one.Letters++
			}
		}
		if one.Letters > 0 {
			list = append(list, one)
		}
	}
	return list
}

// roleCount is how many letters are signed in a role.
type roleCount struct {
	Role    string
	Letters int
}

// Provides reports whether the role is of the side that provides.
func (r roleCount) Provides() bool { return party.Provides(r.Role) }

// whyNot returns why a letter was not signed, for its line in the report; "" if it was.
func (v *pageRequest) whyNot(err error) string {
	if err == nil {
		return ""
	}
	v.LogCause(err)
	v.NoteRefusal(err)
	e, ours := errors.AsType[*exchange.Error](err)
	if !ours || e.Code.ServerFault() {
		return "It could not be signed now. Try again."
	}
	return e.Message
}

// Left returns how many letters were not signed, or cannot be.
func (p *deskPage) Left() (n int) {
	for _, s := range p.Signing {
		if s.Problem != "" {
			n++
		}
	}
	return n
}
