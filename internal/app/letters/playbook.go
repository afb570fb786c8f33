package letters

import (
	"context"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/agreement"
)

// Conflict is a term of a letter, or its form, to which an institution has not agreed in its playbook.
type Conflict struct {
	playbook.Conflict
	Of      party.Institution // whose position it is
	Settled bool              // both have executed the same text since they last changed their playbooks
}

// conflicts returns where the playbooks of both institutions conflict in the letter. They keep nobody from signing it.
func (s *signable) conflicts() (list []Conflict) {
	settled := s.instrument.Settled(s.precedents, s.provider.Playbook.ChangedAt, s.recipient.Playbook.ChangedAt)
	for _, c := range playbook.Intersect(s.provider.Playbook, s.recipient.Playbook, s.instrument.Family,
		s.instrument.Terms) {
		of := s.recipient
		if c.Provider {
			of = s.provider
		}
		list = append(list, Conflict{c, of, settled})
	}
	return list
}

// objections returns why no standing approval signs the letter in a role: what conflicts with the playbook of the
// institution that it would sign for, and is not settled.
func (s *signable) objections(role string) (list []Uncovered) {
	for _, c := range s.conflicts() {
		if c.Provider == party.Provides(role) && !c.Settled {
			list = append(list, Uncovered{"PLAYBOOK_CONFLICT", c.Text(c.Of.LegalName)})
		}
	}
	return list
}

// readPrecedent reads by which agreement both institutions last agreed on the form of an open letter, of those that
// the reader, who is related to the letter, may see.
func (v *View) readPrecedent(ctx context.Context, c store.Conn, who exchange.Actor, rel exchange.Relation) error {
	if !v.State.Open() {
		return nil
	}
	list, err := c.Agreements.Precedents(ctx, agreement.Viewer{Person: who.ID, Labs: who.Organizations,
		All: rel&(exchange.OfficerOf|exchange.AdminOf) != 0}, v.Provider.ID, v.Recipient.ID, v.CreatedAt)
	v.Precedent = v.Instrument.Of(list, v.categories...)
	return err
}
