package shape

import (
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

// Inquiry is a question about a material, with the answer of its lab.
type Inquiry struct {
	ID           int64      `json:"id"`
	Material     int64      `json:"material"`
	Organization int64      `json:"organization"`
	User         Person     `json:"user"`
	Question     string     `json:"question"`
	CreatedAt    Time       `json:"created_at"`
	Answer       *string    `json:"answer"` // null: it waits for one
	AnsweredBy   *uuid.UUID `json:"answered_by"`
	AnsweredAt   *Time      `json:"answered_at"`
	Request      *int64     `json:"request"` // null: it led to none
}

// ShowInquiry returns the JSON form of its argument.
func ShowInquiry(i request.ShownInquiry) Inquiry {
	out := Inquiry{i.ID, i.MaterialID, i.OrganizationID, ShowPerson(i.Asker), i.Question, Time(i.CreatedAt), &i.Answer,
		i.AnsweredBy, timeOf(i.AnsweredAt), i.RequestID}
	if i.AnsweredAt == nil {
		out.Answer = nil
	}
	return out
}
