package ui

import (
	"net/url"
	"strings"

	"aliquot/internal/exchange/person"
)

// DraftLine is a draft in a list.
type DraftLine struct {
	person.Draft
	Address string // of the form
}

// DraftAddress returns the address of a draft's form. The first word of the draft's key names the form.
func DraftAddress(key string) string {
	kind, rest, _ := strings.Cut(key, " ")
	switch kind {
	case "ask":
		return "/catalog/" + rest + "/request"
	case "basket":
		return "/basket/" + rest
	case "material":
		return "/catalog/" + rest + "/edit"
	case "new":
		return "/share/new?category=" + url.QueryEscape(rest)
	case "message":
		return "/requests/" + rest + "#message"
	}
	return "/drafts"
}

// The fields of a form that identify its draft; they are not stored in it.
const (
	DraftKeyField   = "draft"
	DraftTitleField = "draft_title"
)
