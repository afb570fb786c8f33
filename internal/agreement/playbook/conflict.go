package playbook

import (
	"fmt"
	"slices"

	"aliquot/internal/agreement/term"
)

// Conflict is a term of an agreement, or its form, to which one of the institutions has not agreed in its playbook.
type Conflict struct {
	Term     term.Term // "": the form itself
	Provider bool      // it is the position of the provider; otherwise that of the recipient
	Position Position
}

// Intersect returns the conflicts between the playbooks of a provider and a recipient in an agreement of a family with
// some terms: the form first, then the terms in their order. What both accept is none.
func Intersect(provider, recipient Playbook, family string, terms []string) (list []Conflict) {
	if !recipient.Accepts(family) {
		list = append(list, Conflict{Position: NotAccepted})
	}
	for _, t := range term.All() {
		has := slices.Contains(terms, string(t))
		if p := provider.On(t).Provide; p.conflicts(has) {
			list = append(list, Conflict{t, true, p})
		}
		if p := recipient.On(t).Receive; p.conflicts(has) {
			list = append(list, Conflict{t, false, p})
		}
	}
	return list
}

// conflicts reports whether an agreement that has a term, or does not, is against the position on it.
func (p Position) conflicts(has bool) bool {
	if has {
		return p == NotAccepted || p == Ask
	}
	return p == Required
}

// Text states the conflict; institution is the name of the one whose position it is.
func (c Conflict) Text(institution string) string {
	side := "recipient"
	if c.Provider {
		side = "provider"
	}
	switch {
	case c.Term == "":
		return fmt.Sprintf("%s does not accept this form as %s.", institution, side)
	case c.Position == Required:
		return fmt.Sprintf("%s requires the term “%s” as %s, and this form does not have it.", institution,
			c.Term.Words(), side)
	case c.Position == Ask:
		return fmt.Sprintf("%s decides each time about the term “%s” as %s, and this form has it.", institution,
			c.Term.Words(), side)
	}
	return fmt.Sprintf("%s does not accept the term “%s” as %s, and this form has it.", institution, c.Term.Words(),
		side)
}

// Mend states what can be done about the conflict.
func (c Conflict) Mend(institution string) string {
	form := "Choose another form"
	switch {
	case c.Term == "":
	case c.Position == Required:
		form = "Choose a form with this term"
	default:
		form = "Choose a form without this term"
	}
	return fmt.Sprintf("%s, or have an officer of %s change its playbook. If an official of %s signs it as it is, the "+
		"same text is agreed from then on.", form, institution, institution)
}
