package person

import (
	"net/url"
	"regexp"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Draft is a form as a person left it, so that nothing typed is lost. It is not validated before it is submitted.
type Draft struct {
	User      uuid.UUID
	Key       string // of the form, such as "request 7"; a person has one draft of each form
	Title     string // shown to the person
	Form      url.Values
	UpdatedAt time.Time
}

// The maximum number of drafts of one person, and of bytes of one draft.
const (
	MaxDrafts = 200
	maxDraft  = 256 << 10
)

var draftKey = regexp.MustCompile(`^[a-z]+( [A-Za-z0-9_-]{1,60})*$`)

// Check reports why a draft cannot be stored.
func (d Draft) Check() error {
	if !draftKey.MatchString(d.Key) {
		return exchange.Errorf(exchange.NotFound, "There is no form with that name.")
	}
	size := len(d.Title)
	for name, values := range d.Form {
		for _, v := range values {
			size += len(name) + len(v)
		}
	}
	if size > maxDraft {
		return exchange.Errorf(exchange.TooLarge, "A draft may be at most %d KiB.", maxDraft>>10)
	}
	return nil
}
