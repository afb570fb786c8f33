package simulate

import (
	"slices"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
)

// lastDay is when what was signed in advance ends.
const lastDay = "2027-01-01"

// signAhead has the officers sign standing approvals for a group, up to biosafety level 1, and the owners of its labs
// sign in advance what these cover.
func (w *world) signAhead(g *group) {
	w.t.Helper()
	w.approve(w.provider, party.Provide, g.owners)
	w.approve(w.recipient, party.Receive, g.scientists)
	for n, owner := range g.owners {
		p := lab.OrganizationPatch{}
		*p.Others()["signs_ahead_until"].(*exchange.Null[exchange.Date]) = exchange.NullOf(exchange.Date(lastDay))
		_, err := w.app.Labs.UpdateOrganization(w.ctx, owner, g.labs[n], p, nil)
		must(w.t, err)
	}
}

// approve has the officer of an institution sign a standing approval for some of its people.
func (w *world) approve(s side, d party.Direction, people []exchange.Actor) {
	w.t.Helper()
	var members []string
	for _, who := range people {
		members = append(members, who.ID.String())
	}
	a := register(w, w.app.Institutions.Approvals, s.officer, s.id, fields{"direction": d, "families": []string{
		"UBMTA_LETTER"}, "categories": []string{"PLASMID"}, "largest_bsl": 1, "human": "NO", "members": members,
		"from": firstDay, "until": lastDay})
	_, err := w.app.Institutions.SignApproval(w.ctx, s.officer, s.id, a.ID,
		approval.SignNew{Version: exchange.Some(int64(a.Version))})
	must(w.t, err)
}

// standing is the way of a request whose agreement was signed with it ("ask and sign"). What standing approvals of both
// sides cover is executed once the owner of the lab accepts the request, and people sign the rest.
func (w *world) standing(x *transfer) {
	v, err := w.app.Letters.Letter(w.ctx, x.asks, x.letter)
	must(w.t, err)
	if x.covered = !slices.ContainsFunc(v.Waits, party.IsOfficial); !x.covered {
		w.byPeople(x)
		return
	}
	w.step(x, w.provider.calendar, reaction, func() {
		w.accept(x)
		v, err := w.app.Letters.Letter(w.ctx, x.asks, x.letter)
		must(w.t, err)
		if v.State != letter.Executed {
			w.t.Fatalf("letter %d waits for %v", x.letter, v.Waits)
		}
		w.finish(x, v)
	})
}
