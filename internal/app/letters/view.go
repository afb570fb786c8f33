package letters

import (
	"context"
	"fmt"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/lint"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"
)

// View is a letter with what people need to see of it.
type View struct {
	letter.Agreement
	Instrument instrument.Instrument
	Provider   party.Institution
	Recipient  party.Institution
	Signatures []signing.Kept // of its newest version
	Findings   []lint.Finding
	Coverage   []Coverage            // of officials who have not signed, while it is open
	Conflicts  []Conflict            // of the playbooks of both institutions, while it is open
	Precedent  *instrument.Precedent // on its form, that the reader may see, while it is open
	categories []string              // of its materials
}

// MissingField is a field without a value, whose record it comes from, and how to mend it.
type MissingField struct {
	Field  string `json:"field"`
	Source string `json:"source"`
	How    string `json:"how"`
}

// view reads what people need to see of a letter.
func (a Letters) view(ctx context.Context, c store.Conn, l letter.Agreement) (v View, err error) {
	if !l.State.Open() {
		return a.brief(ctx, c, l)
	}
	requests, err := c.Requests.ByIDs(ctx, l.Letter.RequestIDs())
	if err != nil {
		return v, err
	}
	if l.State == letter.Declined {
		if v, err = a.brief(ctx, c, l); err == nil {
			v.Findings, err = v.lint(ctx, c, requests)
		}
		return v, err
	}
	s, err := a.signable(ctx, c, &l, requests)
	if err != nil {
		return v, err
	}
	return s.view(ctx, c)
}

// brief is view without findings, coverage and conflicts.
func (a Letters) brief(ctx context.Context, c store.Conn, l letter.Agreement) (v View, err error) {
	v.Agreement = l
	if v.Instrument, err = a.instrument(ctx, c, l.Letter); err != nil {
		return v, err
	}
	if err := v.readParties(ctx, c); err != nil {
		return v, err
	}
	v.Signatures, err = newestSignatures(ctx, c, l)
	return v, err
}

// newestSignatures reads the signatures on the newest version of a letter.
func newestSignatures(ctx context.Context, c store.Conn, l letter.Agreement) (list []signing.Kept, err error) {
	all, err := c.Agreements.Signatures(ctx, l.ID)
	for _, s := range all {
		if s.Document == signing.DocumentOf(l) {
			list = append(list, s)
		}
	}
	return list, err
}

func (v *View) readParties(ctx context.Context, c store.Conn) (err error) {
	if v.Provider, err = c.Institutions.Get(ctx, v.Letter.Provider); err != nil {
		return err
	}
	v.Recipient, err = c.Institutions.Get(ctx, v.Letter.Recipient)
	return err
}

// Document is the newest version, as signatures name it.
func (v View) Document() signing.Document {
	return signing.DocumentOf(v.Agreement)
}

// Unsigned returns the roles that have not signed the newest version, in the order of the instrument.
func (v View) Unsigned() []string {
	return signing.Agreement{Document: v.Document(), Instrument: v.Instrument,
		Signatures: plain(v.Signatures)}.Unsigned()
}

func plain(list []signing.Kept) (signatures []signing.Signature) {
	for _, s := range list {
		signatures = append(signatures, s.Signature)
	}
	return signatures
}

// Missing returns the fields without a value.
func (v View) Missing() []MissingField {
	list := []MissingField{}
	for _, m := range v.Letter.Missing(v.Instrument) {
		how := map[string]string{
			"PROVIDER_INSTITUTION":  "Enter it in the record of " + v.Provider.LegalName,
			"RECIPIENT_INSTITUTION": "Enter it in the record of " + v.Recipient.LegalName,
			"REQUESTER":             "The requester enters it in their profile",
			"LAB":                   "The owner of the lab enters it in their profile",
			fromRequests:            "Give the requests a quantity",
		}[m.Source]
		how += ", then make a new version of the letter; or fill it in there."
		if m.Source == instrument.Agreed {
			how = "Make a new version of the letter, and fill in what both sides agreed on."
		}
		list = append(list, MissingField{m.Field, m.Source, how})
	}
	return list
}

// lint returns what is wrong with an open letter, as far as records tell.
func (v View) lint(ctx context.Context, c store.Conn, requests []request.Detail) ([]lint.Finding, error) {
	known, err := v.known(ctx, c, requests)
	return lint.Check(known), err
}

// CaseOf reads what is known about a letter, with which a paper of it is compared.
func CaseOf(ctx context.Context, a Letters, c store.Conn, id int64) (known lint.Case, err error) {
	l, err := c.Agreements.Get(ctx, id)
	if err != nil {
		return known, err
	}
	requests, err := c.Requests.ByIDs(ctx, l.Letter.RequestIDs())
	if err != nil {
		return known, err
	}
	v, err := a.brief(ctx, c, l)
	if err != nil {
		return known, err
	}
	return v.known(ctx, c, requests)
}

// known reads what is known about a letter.
func (v View) known(ctx context.Context, c store.Conn, requests []request.Detail) (lint.Case, error) {
	quantities := map[int64]string{}
	var addresses []lint.Address
	for _, q := range requests {
		quantities[q.ID] = q.Quantity
		if a := q.Address; a != nil {
			addresses = append(addresses, lint.Address{Party: "recipient", Source: fmt.Sprint("request ", q.ID),
				Text: fmt.Sprintln(a.Institution, a.Line1, a.Line2, a.PostalCode, a.Locality, a.Country)})
		}
	}
	permits, err := c.Permits.OfRequests(ctx, v.Letter.RequestIDs()...)
	if err != nil {
		return lint.Case{}, err
	}
	others, err := c.Agreements.Beside(ctx, v.Agreement)
	return lint.Case{Day: exchange.DayOf(c.Now), Letter: v.Letter, Instrument: v.Instrument,
		Provider: lint.Side{Institution: v.Provider}, Recipient: lint.Side{Institution: v.Recipient},
		Addresses: addresses, Permits: permits, Quantities: quantities, Others: others}, err
}
