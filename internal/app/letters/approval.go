package letters

import (
	"context"
	"encoding/json"
	"fmt"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

// Coverage is whether a standing approval signs a letter in the role of an official today or, if none does, why not.
type Coverage struct {
	Role     string
	Approval *signing.ByApproval // nil: people sign
	Why      []Uncovered         // of the approval that comes closest
	by       approval.Approval
}

// Uncovered is a reason why no standing approval signs a letter.
type Uncovered struct {
	Reason string `json:"reason"`
	Text   string `json:"text"`
}

// coverage returns, for each official who has not signed, whether a standing approval signs for them today.
func (s *signable) coverage(ctx context.Context, c store.Conn) (list []Coverage, err error) {
	day := exchange.DayOf(c.Now)
	holds := s.binds
	if holds == nil {
		holds = s.still(*s.letter, s.instrument, day)
	}
	if holds != nil && exchange.CodeOf(holds).ServerFault() {
		return nil, holds
	}
	for _, role := range s.checks.Unsigned() {
		if !party.IsOfficial(role) {
			continue
		}
		one := Coverage{Role: role}
		side, transfers := s.transfers(role, day)
		approvals, err := c.Institutions.Approvals.Of(ctx, side.Institution.ID)
		if err != nil {
			return nil, err
		}
		covering, why, covered := approval.Covering(signedFor(role, approvals), transfers, side.Register, day)
		for _, reason := range why {
			one.Why = append(one.Why, Uncovered{string(reason), reason.Text()})
		}
		switch {
		case covered && holds != nil:
			one.Why = []Uncovered{{string(exchange.CodeOf(holds)), exchange.MessageOf(holds)}}
		case covered && len(s.objections(role)) > 0:
			one.Why = s.objections(role)
		case covered:
			if _, err := s.checks.Check(s.checks.Document, role, party.Person{User: covering.Officer}, covering.Level,
				day); err != nil {
				one.Why = []Uncovered{{string(exchange.CodeOf(refusal(err, s.checks.Document))), err.Error()}}
				break
			}
			one.by = covering
			one.Approval = &signing.ByApproval{ID: covering.ID, Version: covering.Version}
		case len(why) == 0:
			one.Why = []Uncovered{{"NONE", side.Institution.LegalName + " has no standing approval for this."}}
		}
		list = append(list, one)
	}
	return list, nil
}

// signedFor returns the approvals that somebody signed and that sign in a role.
func signedFor(role string, all []approval.Approval) (list []approval.Approval) {
	for _, a := range all {
		if a.Role() == role && a.SignedOn != "" {
			list = append(list, a)
		}
	}
	return list
}

// transfers returns what the letter would move, seen from the side of a role: one for each material.
func (s *signable) transfers(role string, day exchange.Date) (side signing.Side, list []approval.Transfer) {
	side, other := s.checks.Recipient, s.checks.Provider
	if party.Provides(role) {
		side, other = other, side
	}
	i := s.instrument
	_, own := party.MasterInForce(s.masters, i.Master, side.Institution.ID, other.Institution.ID, day)
	_, theirs := party.MasterInForce(s.masters, i.Master, other.Institution.ID, side.Institution.ID, day)
	for _, one := range s.materials {
		f := s.facts[one.ID]
		list = append(list, approval.Transfer{Family: i.Family, Text: i.SHA256, Master: i.Master != "",
			MasterHolds: own && theirs, Category: one.Category, BSL: f.BSL, Human: f.Human,
			Member: side.Scientist.User.String(), Counterparty: other.Institution.ID})
	}
	return side, list
}

// evidence is what is kept of a signature that a standing approval made.
type evidence struct {
	Approval   int64         `json:"approval"`
	Version    int           `json:"approval_version"`
	Officer    string        `json:"officer"`
	SignedOn   exchange.Date `json:"signed_on"`
	Identified string        `json:"identified"`
	Intent     string        `json:"intent"`
	// the passkey's signature on the approval, with what it signed, if it was signed with one
	Passkey json.RawMessage `json:"approval_evidence,omitempty"`
}

// signByApprovals signs for each official whose signature a standing approval is.
func (s *signable) signByApprovals(ctx context.Context, tx store.Conn) error {
	list, err := s.coverage(ctx, tx)
	if err != nil {
		return err
	}
	for _, one := range list {
		if one.Approval == nil {
			continue
		}
		officer := party.Person{User: one.by.Officer}
		if officer.Name, err = nameOf(ctx, tx, officer); err != nil {
			return err
		}
		if err := s.add(ctx, tx, Proof{Signer: officer, Role: one.Role, Document: s.checks.Document,
			Level: one.by.Level, Approval: one.Approval, Evidence: evidence{one.by.ID, one.by.Version,
				one.by.Officer.String(), one.by.SignedOn, one.by.Identified,
				fmt.Sprintf("Signed in advance by standing approval %d, version %d, which covers every material of "+
					"this letter.", one.by.ID, one.by.Version), json.RawMessage(one.by.Evidence)}}); err != nil {
			return err
		}
	}
	return nil
}
