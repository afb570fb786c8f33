package request

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/exchange/request"
)

// CreateInquiry serves POST /materials/{id}/inquiries.
func CreateInquiry(c *rest.Call, in request.TextBody) (shape.Inquiry, error) {
	i, err := c.App.Inquiries.Ask(c.Context(), c.Actor, c.ID("id"), in)
	return shape.ShowInquiry(i), err
}

// ListInquiriesTo serves GET /organizations/{id}/inquiries.
func ListInquiriesTo(c *rest.Call, f request.InquiryFilter) ([]shape.Inquiry, error) {
	part, err := c.App.Inquiries.InquiriesTo(c.Context(), c.Actor, c.ID("id"), f, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowInquiry)
}

// ListInquiriesOf serves GET /users/{id}/inquiries.
func ListInquiriesOf(c *rest.Call, f request.InquiryFilter) ([]shape.Inquiry, error) {
	part, err := c.App.Inquiries.InquiriesOf(c.Context(), c.Actor, c.User, f, c.List.Page)
	return rest.AnswerList(c, part, err, shape.ShowInquiry)
}

// GetInquiry serves GET /inquiries/{id}.
func GetInquiry(c *rest.Call, _ rest.None) (shape.Inquiry, error) {
	i, err := c.App.Inquiries.Inquiry(c.Context(), c.Actor, c.ID("id"))
	return shape.ShowInquiry(i), err
}

// AnswerInquiry serves POST /inquiries/{id}/answer.
func AnswerInquiry(c *rest.Call, in request.TextBody) (shape.Inquiry, error) {
	i, err := c.App.Inquiries.Answer(c.Context(), c.Actor, c.ID("id"), in)
	return shape.ShowInquiry(i), err
}
