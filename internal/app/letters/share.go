package letters

import (
	"context"
	"slices"
	"strings"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/term"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/agreement"
)

// Sharing is whether a material may be passed on to an institution today, with its chain back to the origins.
type Sharing struct {
	To      party.Institution
	Purpose string
	Verdict term.Verdict
	Reasons []SharingReason
}

// SharingReason is what a link of the chain says, as far as the caller may see it.
type SharingReason struct {
	term.Reason        // its material is 0, and its provider too, where the caller may not see them
	Letter      int64  // the agreement; 0: none that the caller may see
	Holder      string // the name of who has rights: the provider, or who the lab stated
}

// MayShare returns whether a material may be passed on to an institution today. Whoever sees the material may ask;
// agreements are named to those who may read them.
func (a Lineages) MayShare(ctx context.Context, who exchange.Actor, id, to int64, purpose string) (s Sharing,
	err error) {
	if purpose == "" {
		purpose = instrument.UsualPurpose
	}
	if !slices.Contains(instrument.Purposes(), purpose) {
		return s, core.FieldError("purpose", "must be one of %s", strings.Join(instrument.Purposes(), ", "))
	}
	c := a.DB.Read()
	if _, err := a.Listed(ctx, c, who, id); err != nil {
		return s, err
	}
	institution, err := c.Institutions.Get(ctx, to)
	if err != nil {
		return s, core.Refer(err, "to", to)
	}
	ch, err := a.chainOf(ctx, c, id)
	if err != nil {
		return s, err
	}
	seen, err := a.sightOf(ctx, c, who, ch)
	return ch.share(institution, purpose, seen), err
}

// Shares returns, for each of some institutions, whether a material that the caller sees may be passed on to it today
// for the usual purpose. known reports whether anything is known of where the material came from.
func (a Lineages) Shares(ctx context.Context, who exchange.Actor, id int64,
	to ...party.Institution) (list []Sharing, known bool, err error) {
	c := a.DB.Read()
	ch, err := a.chainOf(ctx, c, id)
	if err != nil {
		return nil, false, err
	}
	seen, err := a.sightOf(ctx, c, who, ch)
	for _, i := range to {
		list = append(list, ch.share(i, instrument.UsualPurpose, seen))
	}
	return list, len(ch.links) > 0, err
}

// chain is the lineage of a material.
type chain struct {
	material int64
	links    []term.Link
	letters  map[string]letter.Agreement // by number
	known    bool                        // false: it is too long to be read
}

// chainOf reads the lineage of a material back to its origins. Rights that labs stated as facts of materials are links
// too.
func (a Lineages) chainOf(ctx context.Context, c store.Conn, id int64) (ch chain, err error) {
	steps, err := c.Lineages.Back(ctx, id)
	if err != nil {
		return ch, err
	}
	ch = chain{material: id, letters: map[string]letter.Agreement{}, known: len(steps) <= agreement.MaxSteps}
	materials, agreements := []int64{id}, []int64{}
	for _, s := range steps {
		if s.Material != nil {
			materials = append(materials, *s.Material)
		}
		if s.Agreement != nil {
			agreements = append(agreements, *s.Agreement)
		}
	}
	materials = unique(materials)
	facts, err := c.TransferFacts.OfMaterials(ctx, materials)
	if err != nil {
		return ch, err
	}
	executed, err := c.Agreements.ByIDs(ctx, unique(agreements))
	if err != nil {
		return ch, err
	}
	terms := map[int64][]term.Term{}
	if len(executed) > 0 {
		library, err := a.Library(ctx, c)
		if err != nil {
			return ch, err
		}
		for _, l := range executed {
			i, err := find(library, l.Letter)
			if err != nil {
				return ch, err
			}
			ch.letters[l.Letter.Number], terms[l.ID] = l, termsOf(i.Terms)
		}
	}
	for _, s := range steps {
		link := term.Link{Material: s.Of, Relation: s.Relation}
		if s.Material != nil {
			link.From = *s.Material
		}
		switch {
		case s.Agreement != nil:
			number := letter.Number(*s.Agreement)
			link.Provider, link.Agreement = ch.letters[number].Letter.Provider, number
			link.Terms = terms[*s.Agreement]
		case s.Paper:
			link.Provider, link.Paper = term.Elsewhere, true
		}
		ch.links = append(ch.links, link)
	}
	for _, m := range materials {
		ch.links = append(ch.links, statedLinks(m, facts[m], steps)...)
	}
	return ch, nil
}

// statedLinks are the rights to a material that its lab stated as facts. Where it stated that there are none, and no
// origin, the lab made it.
func statedLinks(m int64, f requirement.Facts, steps []agreement.Step) (links []term.Link) {
	for _, e := range f.Encumbrances {
		holder := e.Holder
		if e.Document != "" {
			holder += " (" + e.Document + ")"
		}
		links = append(links, term.Link{Material: m, Relation: term.Original, Provider: term.Elsewhere,
			Agreement: holder, Terms: termsOf(e.Terms)})
	}
	if f.Encumbrances != nil && len(links) == 0 &&
		!slices.ContainsFunc(steps, func(s agreement.Step) bool { return s.Of == m }) {
		links = append(links, term.Link{Material: m, Relation: term.Original})
	}
	return links
}

func termsOf(codes []string) []term.Term {
	list := make([]term.Term, len(codes))
	for i, code := range codes {
		list[i] = term.Term(code)
	}
	return list
}

// sight is what of a chain somebody may see.
type sight struct {
	materials map[int64]bool
	letters   map[string]bool
	names     map[int64]string // of the providers
}

// sightOf reads what who may see of the chain of a material that they see.
func (a Lineages) sightOf(ctx context.Context, c store.Conn, who exchange.Actor, ch chain) (s sight, err error) {
	s = sight{map[int64]bool{ch.material: true}, map[string]bool{}, nil}
	var ids, providers []int64
	for _, l := range ch.links {
		if ids = append(ids, l.Material); l.From != 0 {
			ids = append(ids, l.From)
		}
	}
	ids = slices.DeleteFunc(unique(ids), func(id int64) bool { return id == ch.material })
	shown, err := c.Materials.ShownByIDs(ctx, ids)
	if err != nil {
		return s, err
	}
	for _, m := range shown {
		s.materials[m.ID] = !a.Hides(who, m.Material, c.Now)
	}
	if len(ch.letters) == 0 {
		return s, nil
	}
	offices, err := officesOf(ctx, c, who)
	if err != nil {
		return s, err
	}
	for number, l := range ch.letters {
		s.letters[number], _ = a.Policy().Can(exchange.AgreementRead, relationsOf(who, offices, l))
		providers = append(providers, l.Letter.Provider)
	}
	s.names, err = c.Institutions.Names(ctx, unique(providers))
	return s, err
}

// share judges the chain for a recipient.
func (ch chain) share(to party.Institution, purpose string, seen sight) Sharing {
	s := Sharing{To: to, Purpose: purpose}
	if !ch.known {
		s.Verdict, s.Reasons = term.Ask, []SharingReason{{Reason: term.Reason{Material: ch.material, Verdict: term.Ask,
			Why: "The lineage has too many steps to follow."}}}
		return s
	}
	var reasons []term.Reason
	s.Verdict, reasons = term.MayShare(ch.links, ch.material, term.Recipient{Institution: to.ID,
		Nonprofit: to.Kind == party.Nonprofit || to.Kind == party.Government, UnknownKind: to.Kind == party.Unknown,
		Commercial: purpose == "COMMERCIAL"})
	for _, r := range reasons {
		one := SharingReason{Reason: r}
		switch l, isLetter := ch.letters[r.Agreement]; {
		case isLetter && seen.letters[r.Agreement]:
			one.Letter, one.Holder = l.ID, seen.names[r.Provider]
		case isLetter:
			one.Agreement, one.Provider = "", 0
		case r.Provider == term.Elsewhere:
			one.Holder, one.Agreement, one.Provider = r.Agreement, "", 0
		}
		if !seen.materials[r.Material] {
			one.Material = 0
		}
		s.Reasons = append(s.Reasons, one)
	}
	return s
}
