// Package agreement has the handlers of agreements.
package agreement

import (
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange/request"
)

// answer shows a letter.
func answer(v letters.View, err error) (shape.Agreement, error) {
	if err != nil {
		return shape.Agreement{}, err
	}
	return shape.ShowAgreement(v), nil
}

// Create serves POST /agreements.
func Create(c *rest.Call, in letter.DraftNew) (shape.Agreement, error) {
	v, err := c.App.Letters.Draft(c.Context(), c.Actor, in)
	c.Location(err, "/agreements/%d", v.ID)
	return answer(v, err)
}

// List serves GET /agreements.
func List(c *rest.Call, in letter.Filter) ([]shape.AgreementSummary, error) {
	page, err := c.App.Letters.Letters(c.Context(), c.Actor, in, c.List.Page)
	return rest.AnswerList(c, page, err, shape.SummarizeAgreement)
}

// Inbox serves GET /agreements/inbox.
func Inbox(c *rest.Call, _ rest.None) ([]shape.AgreementSummary, error) {
	page, err := c.App.Letters.Inbox(c.Context(), c.Actor, c.List.Page)
	return rest.AnswerList(c, page, err, shape.SummarizeAgreement)
}

// Get serves GET /agreements/{id}.
func Get(c *rest.Call, _ rest.None) (shape.Agreement, error) {
	return answer(c.App.Letters.Letter(c.Context(), c.Actor, c.ID("id")))
}

// ListVersions serves GET /agreements/{id}/versions.
func ListVersions(c *rest.Call, _ rest.None) ([]shape.AgreementVersion, error) {
	page, err := c.App.Letters.Versions(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, page, err, shape.ShowAgreementVersion)
}

// CreateVersion serves POST /agreements/{id}/versions.
func CreateVersion(c *rest.Call, in letter.VersionNew) (shape.Agreement, error) {
	return answer(c.App.Letters.Change(c.Context(), c.Actor, c.ID("id"), in))
}

// Send serves POST /agreements/{id}/send.
func Send(c *rest.Call, _ rest.None) (shape.Agreement, error) {
	return answer(c.App.Letters.Send(c.Context(), c.Actor, c.ID("id")))
}

// Decline serves POST /agreements/{id}/decline.
func Decline(c *rest.Call, in request.ReasonBody) (shape.Agreement, error) {
	reason, err := in.Check()
	if err != nil {
		return shape.Agreement{}, err
	}
	return answer(c.App.Letters.Decline(c.Context(), c.Actor, c.ID("id"), reason))
}

// Withdraw serves POST /agreements/{id}/withdraw.
func Withdraw(c *rest.Call, in letter.WithdrawNew) (shape.Agreement, error) {
	reason, err := in.Check()
	if err != nil {
		return shape.Agreement{}, err
	}
	return answer(c.App.Letters.Withdraw(c.Context(), c.Actor, c.ID("id"), reason))
}

// Sign serves POST /agreements/{id}/signatures.
func Sign(c *rest.Call, in letter.SignatureNew) (shape.Agreement, error) {
	return answer(c.App.Letters.SignIn(c.Context(), c.Actor, c.ID("id"), in))
}

// Document serves GET /agreements/{id}/document.
func Document(c *rest.Call, _ rest.None) (rest.Body, error) {
	pdf, l, err := c.App.Letters.Document(c.Context(), c.Actor, c.ID("id"))
	return rest.Body{Type: "application/pdf", Bytes: pdf, Name: l.Letter.Number + ".pdf"}, err
}

// ListLinks serves GET /agreements/{id}/links.
func ListLinks(c *rest.Call, _ rest.None) ([]shape.AgreementLink, error) {
	page, err := c.App.Letters.Links(c.Context(), c.Actor, c.ID("id"), c.List.Page)
	return rest.AnswerList(c, page, err, shape.ShowAgreementLink)
}

// CreateLink serves POST /agreements/{id}/links.
func CreateLink(c *rest.Call, in letter.LinkNew) (shape.AgreementLink, error) {
	l, err := c.App.Letters.Invite(c.Context(), c.Actor, c.ID("id"), in)
	return shape.ShowAgreementLink(l), err
}

// AskPasskey serves POST /users/{id}/signatures/options.
func AskPasskey(c *rest.Call, in letter.PasskeyAsk) (shape.AgreementPasskeyOptions, error) {
	c.NoStore()
	asked, err := c.App.Letters.AskPasskey(c.Context(), c.Actor, c.User, in)
	return shape.AgreementPasskeyOptions{Statement: asked.Statement, Options: asked.Options}, err
}

// SignWithPasskey serves POST /users/{id}/signatures.
func SignWithPasskey(c *rest.Call, in signing.PasskeyAnswer) (shape.AgreementsSigned, error) {
	signed, err := c.App.Letters.SignWithPasskey(c.Context(), c.Actor, c.User, in)
	return shape.AgreementsSigned{Agreements: shape.List(signed, shape.SummarizeAgreement)}, err
}
