package demo

import (
	_ "embed"
	"fmt"
	"time"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/playbook"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/term"
	"aliquot/internal/app/instruments"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/request"
)

// frameworkFile is the text of an agreement that the operator installed: a made-up one.
//
//go:embed framework.json
var frameworkFile []byte

// The materials for which letters are made, by what has been stated of them.
var (
	plasmids = []string{"pAAV-hSyn-hChR2(H134R)-EYFP", "CRY2olig-mCherry", "pAAV-hSyn-CaMPARI2",
		"AAV hSyn-Cre-WPRE-hGH", "pHR_EGFPligand", "pCAG-ChrimsonR-tdTomato"}
	mice       = []string{"B6.Cg-Tg(Camk2a-cre)T29-1Stl/J", "Pvalb-Cre"}
	humanCells = []string{"HL-60", "SW480", "T-47D"}
)

// prepareAgreements has the labs state the facts that decide about agreements, the operator install a text, and
// officers sign in advance what concerns plasmids.
func (f *filling) prepareAgreements() {
	f.at(118*day, "install a text", func() error {
		_, err := f.app.Instruments.Install(f.ctx, "the operator", instruments.File{Name: "framework.json",
			Content: frameworkFile})
		return err
	})
	known := map[string]string{"bsl": "1", "genetically_modified": "YES", "select_agent": "NO",
		"plant_genetic_resource": "NO", "export_class": "NO", "proprietary": "NO"}
	for _, title := range plasmids {
		f.state(title, neighbour, known)
	}
	known["live_animal"], known["human_derived"] = "YES", "NO"
	for _, title := range mice {
		f.state(title, neighbour, known)
	}
	known = map[string]string{"bsl": "1", "genetically_modified": "NO", "select_agent": "NO",
		"plant_genetic_resource": "NO", "export_class": "NO", "proprietary": "NO", "live_animal": "NO",
		"human_derived": "ANONYMISED", "consent_allows": "YES"}
	for _, title := range humanCells {
		f.state(title, owner, known)
	}
	f.signApproval(61*day, neighbour, f.approve(62*day, neighbour, "PROVIDE", "UBMTA_LETTER", "PLASMID", "NO", ""))
	f.signApproval(60*day, officer, f.approve(61*day, officer, "RECEIVE", "UBMTA_LETTER", "PLASMID", "NO", ""))
	f.approve(11*day, officer, "PROVIDE", "HUMAN_MTA", "CELL_LINE", "ANONYMISED", "Neighbour Institute of Genomics")
	f.writePlaybook(58*day, officer, playbook.Patch{Accept: exchange.Some([]string{"UBMTA_LETTER", "MTA_TO",
		"SIMPLE_LETTER", "HUMAN_MTA", "DATA_USE"}), Clauses: exchange.Some([]playbook.Clause{
		{Term: term.NoRedistribution, Provide: playbook.Required, Receive: playbook.Accepted},
		{Term: term.NotifyPublication, Provide: playbook.Required, Receive: playbook.Accepted,
			Note: "The report to our funder lists publications."}})})
	f.writePlaybook(57*day, neighbour, playbook.Patch{Provide: exchange.Some([]playbook.Preference{
		{Categories: []string{"PLASMID"}, Families: []string{"UBMTA_LETTER"}},
		{Categories: []string{"MODEL_ORGANISM"}, Families: []string{"MTA_TO"}}}),
		Clauses: exchange.Some([]playbook.Clause{{Term: term.Attribution, Provide: playbook.Required,
			Receive: playbook.Accepted}})})
	f.at(59*day, "sign in advance for the lab", func() error {
		var p lab.OrganizationPatch
		*p.Others()["signs_ahead_until"].(*exchange.Null[exchange.Date]) = exchange.NullOf(f.day(300))
		_, err := f.app.Labs.UpdateOrganization(f.ctx, f.actors[neighbour], f.actors[neighbour].Owns[0], p, nil)
		return err
	})
}

// writePlaybook has an officer write the playbook of their institution.
func (f *filling) writePlaybook(ago time.Duration, by string, p playbook.Patch) {
	f.at(ago, "write a playbook", func() error {
		_, err := f.app.Institutions.UpdatePlaybook(f.ctx, f.actors[by], f.offices[by], p, nil)
		return err
	})
}

// day returns the day that is so many days after what the clock shows.
func (f *filling) day(later int) exchange.Date { return exchange.DayOf(f.now.AddDate(0, 0, later)) }

// state has somebody state the facts of a material, to which no third party has rights.
func (f *filling) state(title, by string, known map[string]string) {
	p := requirement.Stating{Encumbrances: exchange.NullOf([]requirement.Encumbrance{})}
	for name, value := range known {
		*p.Others()[name].(*exchange.Opt[string]) = exchange.Some(value)
	}
	f.at(117*day, "state the facts of "+title, func() error {
		_, err := f.app.Requirements.StateFacts(f.ctx, f.actors[by], int64(f.materials[title]), p, nil)
		return err
	})
}

// approve has an officer draft a standing approval of their institution for one kind of agreement and of materials,
// with one institution, or with all that have the master agreement.
func (f *filling) approve(ago time.Duration, by, direction, family, category, human, with string) *approval.Approval {
	made := &approval.Approval{}
	f.at(ago, "draft a standing approval", func() (err error) {
		counterparties := []int64{}
		if with != "" {
			counterparties = append(counterparties, f.institutions[with])
		}
		*made, err = add(f, f.app.Institutions.Approvals, by, f.offices[by], fields{"direction": direction,
			"families": []string{family}, "categories": []string{category}, "largest_bsl": 1, "human": human,
			"counterparties": counterparties, "from": f.day(0), "until": f.day(300)})
		return err
	})
	return made
}

// signApproval has an officer sign a standing approval that they drafted.
func (f *filling) signApproval(ago time.Duration, by string, a *approval.Approval) {
	f.at(ago, "sign a standing approval", func() error {
		_, err := f.app.Institutions.SignApproval(f.ctx, f.actors[by], a.Institution, a.ID,
			approval.SignNew{Version: exchange.Some(int64(a.Version))})
		return err
	})
}

// makeLetters makes requests with agreements in each state that waits for somebody or was reached.
func (f *filling) makeLetters() {
	// executed by four people, for two requests
	first, second := f.ask(110*day, manager, plasmids[0], f.parcel(manager, "1 stab")),
		f.ask(110*day, manager, plasmids[1], f.parcel(manager, "1 stab"))
	first.after(5*hour).move(member, request.Approved)
	second.after(5*hour).move(member, request.Approved)
	first.after(hour).draft(manager, second)
	first.offer(manager)
	first.sign(manager, party.RecipientScientist)
	first.after(20*hour).sign(neighbour, party.ProviderScientist)
	first.sign(neighbour, party.ProviderOfficial)
	first.after(2*day).sign(officer, party.RecipientOfficial)
	for i, t := range []*transfer{first, second} {
		t.ago = first.ago
		t.after(2*day).send(member, fmt.Sprintf("SAMPLE-%04d", 201+i), "Room temperature")
		t.after(4*day).move(manager, request.Verified)
	}

	// executed by three people: human cells
	cells := f.ask(75*day, member, humanCells[0], f.parcel(member, "1 vial"))
	cells.after(day).move(manager, request.Approved)
	cells.after(day).draft(manager)
	cells.offer(manager)
	cells.after(3*hour).sign(member, party.RecipientScientist)
	cells.after(day).sign(owner, party.ProviderScientist)
	cells.after(2*day).sign(neighbour, party.RecipientOfficial)
	cells.after(5*day).sign(officer, party.ProviderOfficial)
	cells.after(2*day).send(manager, "SAMPLE-0203", "Dry ice, 3 kg")
	cells.after(5*day).move(member, request.Verified)

	// executed by standing approvals, when the lab accepted it
	n := f.parcel(manager, "1 stab")
	n.SignAgreement = exchange.Some(true)
	covered := f.ask(25*day, manager, plasmids[2], n)
	covered.after(5*hour).move(member, request.Approved)
	covered.after(2*day).send(member, "SAMPLE-0204", "Room temperature")
	covered.after(4*day).move(manager, request.Verified)

	// signed by standing approvals, and waiting for the lab
	n = f.parcel(manager, "1 stab")
	n.SignAgreement = exchange.Some(true)
	f.ask(30*hour, manager, plasmids[3], n)

	// outside of the standing approvals: waiting for an official
	for i, material := range []string{mice[0], humanCells[1]} {
		by, lab, scientist := requester, neighbour, neighbour
		if i == 1 {
			by, lab, scientist = member, manager, owner
		}
		n := f.parcel(by, []string{"1 breeding pair", "1 vial"}[i])
		n.Abstract = exchange.Some("Circuits of memory, in slices.")
		waits := f.ask(time.Duration(12-3*i)*day, by, material, n)
		waits.after(8*hour).move(lab, request.Approved)
		waits.after(hour).draft(by)
		waits.offer(by)
		waits.sign(by, party.RecipientScientist)
		waits.after(day).sign(scientist, party.ProviderScientist)
		other := party.ProviderOfficial
		if i == 1 {
			other = party.RecipientOfficial
		}
		waits.after(hour).sign(neighbour, other)
	}

	// declined: the requester corrects it
	n = f.parcel(requester, "1 breeding pair")
	n.Abstract = exchange.Some("Inhibition of interneurons.")
	declined := f.ask(24*day, requester, mice[1], n)
	declined.after(3*day).move(neighbour, request.Approved)
	declined.after(hour).draft(requester)
	declined.offer(requester)
	declined.sign(requester, party.RecipientScientist)
	declined.after(36*hour).decline(neighbour, "Our animal office sends sperm only. Please change the quantity, and "+
		"send the letter again.")

	// drafts: of one something is missing, the other can be sent
	n = f.parcel(holder, "1 stab")
	f.ask(6*day, holder, plasmids[5], n).after(4 * hour).draft(holder)
	complete := f.ask(3*day, member, humanCells[2], f.parcel(member, "1 vial"))
	complete.after(9*hour).move(manager, request.Approved)
	complete.after(hour).draft(member)
}

// draft drafts the letter for the request, and for others that were sent with it.
func (t *transfer) draft(by string, with ...*transfer) {
	t.step("draft a letter", func() error {
		ids := []exchange.Ref{exchange.Ref(t.id)}
		for _, other := range with {
			ids = append(ids, exchange.Ref(other.id))
		}
		v, err := t.app.Letters.Draft(t.ctx, t.actors[by], letter.DraftNew{
			Terms: letter.Terms{Requests: exchange.Some(ids)}})
		t.letter = v.ID
		return err
	})
}

// offer sends the letter.
func (t *transfer) offer(by string) {
	t.step("send a letter", func() error {
		_, err := t.app.Letters.Send(t.ctx, t.actors[by], t.letter)
		return err
	})
}

func (t *transfer) sign(by, role string) {
	t.step("sign a letter", func() error {
		v, err := t.app.Letters.Letter(t.ctx, t.actors[by], t.letter)
		if err != nil {
			return err
		}
		_, err = t.app.Letters.SignIn(t.ctx, t.actors[by], t.letter, letter.SignatureNew{Role: exchange.Some(role),
			Version: exchange.Some(int64(v.Letter.Version)), SHA256: exchange.Some(v.SHA256)})
		return err
	})
}

func (t *transfer) decline(by, reason string) {
	t.step("decline a letter", func() error {
		_, err := t.app.Letters.Decline(t.ctx, t.actors[by], t.letter, reason)
		return err
	})
}
