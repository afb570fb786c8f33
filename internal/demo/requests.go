package demo

import (
	"fmt"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
)

// makeRequests submits requests in every status, so that each person has tasks: for hours, for days, and for longer
// than the lab's targets.
func (f *filling) makeRequests() {
	f.makeReceived()
	f.makeEnded()
	f.makeSent()
	f.makeInFulfillment()
	f.makeApproved()
	f.makeOpen()
	f.makeInquiries()
}

// makeReceived: VERIFIED_FULFILLED, enough of them for medians.
func (f *filling) makeReceived() {
	for i, r := range []struct {
		ago                      time.Duration
		by, material, quantity   string
		lab, countersigner       string // "": the lab asks for no agreement
		conditions               string
		decided, signed, arrived time.Duration
	}{
		{117 * day, neighbour, "THP-1", "1 vial", manager, officer, "Dry ice, 3 kg", 3 * hour, 5 * day, 3 * day},
		{108 * day, postdoc, "pMD2.G", "1 stab", member, "", "Room temperature", 26 * hour, 0, 6 * day},
		{99 * day, member, "U2OS", "2 vials", manager, officer, "Dry ice, 5 kg", 4 * day, 2 * day, 2 * day},
		{88 * day, requester, "pSpCas9(BB)-2A-Puro (PX459) V2.0", "1 stab", member, "", "Room temperature", 5 * hour, 0,
			5 * day},
		{71 * day, holder, "C2C12", "1 vial", manager, "", "Dry ice, 3 kg", 2 * day, 0, 3 * day},
		{62 * day, requester, "Jurkat", "1 vial", manager, officer, "Dry ice, 3 kg", 9 * hour, 8 * day, 4 * day},
		{47 * day, owner, "D. melanogaster yw", "1 bottle", neighbour, "", "18 °C", 30 * hour, 0, 7 * day},
		{33 * day, requester, "pUC19", "1 stab", member, "", "Room temperature", 2 * hour, 0, 4 * day},
	} {
		t := f.ask(r.ago, r.by, r.material, f.parcel(r.by, r.quantity))
		t.after(r.decided).move(r.lab, request.Approved)
		if r.countersigner != "" {
			t.after(r.signed).agree(r.by, r.countersigner)
		}
		t.after(2*day).send(r.lab, fmt.Sprintf("SAMPLE-%04d", 101+i), r.conditions)
		t.after(r.arrived).move(r.by, request.Verified)
	}
}

// makeEnded: VERIFIED_FULFILLED, REJECTED, CANCELLED, INVALID.
func (f *filling) makeEnded() {
	verified := f.ask(112*day, requester, "HEK293T", f.parcel(requester, "2 vials"))
	verified.after(6*hour).move(manager, request.Approved)
	verified.after(3*day).agree(requester, officer)
	verified.after(2*day).send(manager, "SAMPLE-0001", "Dry ice, 5 kg")
	verified.after(5*day).write(requester, "They arrived frozen and grow well. Thank you!")
	verified.move(requester, request.Verified)

	n := f.parcel(requester, "1 breeding pair")
	n.Abstract = exchange.Some("Mammary tumours in a strain with little variation.")
	rejected := f.ask(80*day, requester, "FVB/NJ", n)
	rejected.after(23*day).update(neighbour, request.Patch{
		Status:    exchange.Some(request.Rejected),
		Rejection: exchange.Some("Our colony is closed for rederivation. Please order from the repository."),
	})

	cancelled := f.ask(58*day, requester, "NIH 3T3", f.parcel(requester, "1 vial"))
	cancelled.after(3*day).write(requester, "We found a vial in our own freezer.")
	cancelled.move(requester, request.Cancelled)

	invalid := f.ask(41*day, requester, "Sf9", f.parcel(requester, "0 vials"))
	invalid.after(day).update(manager, request.Patch{
		Status: exchange.Some(request.Invalid), Reason: exchange.Some("Sent by mistake, as you told us by telephone."),
	})
}

// makeSent: FULFILLED, waiting for the receipt; one with an issue that was solved.
func (f *filling) makeSent() {
	sent := f.ask(14*day, requester, mapped, f.parcel(requester, "1 tube of 5 µg"))
	sent.after(20*hour).move(member, request.Approved)
	sent.after(3*day).send(member, "SAMPLE-0002", "Room temperature")

	solved := f.ask(21*day, postdoc, "psPAX2", f.parcel(postdoc, "1 stab"))
	solved.after(2*day).move(member, request.Approved)
	solved.after(5*day).send(member, "SAMPLE-0003", "Room temperature")
	solved.after(8*day).complain(postdoc, "The courier cannot find us: the street number is missing on the label.")
	solved.after(7*hour).write(member, "I told the courier; they try again tomorrow.")
	solved.after(2 * day).solve(member)
}

// makeInFulfillment: one to ship, where the lab waived the agreement, and one with an open issue.
func (f *filling) makeInFulfillment() {
	waived := f.ask(6*day, holder, "HCT 116", f.parcel(holder, "1 vial"))
	waived.after(4*day).update(manager, request.Patch{
		Status:   exchange.Some(request.InFulfillment),
		Override: exchange.Some("Both institutions have signed a master agreement."),
	})

	thawed := f.ask(26*day, requester, "MCF-7", f.parcel(requester, "1 vial"))
	thawed.after(31*hour).move(manager, request.Approved)
	thawed.after(9*day).agree(requester, officer)
	thawed.after(3*day).send(manager, "SAMPLE-0004", "Dry ice, 3 kg")
	thawed.after(5*day).complain(requester, "The dry ice was gone and the vial thawed. Could you send another?")
}

// makeApproved: documents owed, a document returned, and two to countersign.
func (f *filling) makeApproved() {
	n := f.parcel(requester, "2 cryovials")
	n.Abstract = exchange.Some("Response of urothelial carcinoma to a new inhibitor, in eight mice for each of " +
		"three doses.")
	owed := f.ask(19*day, requester, "PDX model BL0269-F402", n)
	owed.after(3*day).move(postdoc, request.Approved)
	owed.after(10*minute).write(postdoc, "Glad to help. Please add the signed MTA and your IRB approval.")

	returned := f.ask(10*day, requester, "A-549", f.parcel(requester, "1 vial"))
	returned.after(5*hour).move(manager, request.Approved)
	returned.after(6*day).submit(requester, document.SignedMTA, "signature-page.png")
	returned.after(30*hour).giveBack(officer, document.SignedMTA,
		"The photo is too blurred to read. Please send all pages as a PDF.")

	countersign := f.ask(17*day, member, "K-562", f.parcel(member, "1 vial"))
	countersign.after(28*hour).move(manager, request.Approved)
	countersign.after(4*day).submit(member, document.SignedMTA, "signed-mta.pdf")
	countersign.after(2*day).accept(officer, document.SignedMTA)
	countersign.after(hour).give(manager, officer)

	n = f.parcel(owner, "2 breeding pairs")
	n.Abstract = exchange.Some("Hosts for patient-derived tumours of our bank.")
	mice := f.ask(9*day, owner, "NOD.Cg-Prkdc<scid> Il2rg<tm1Wjl>/SzJ (NSG)", n)
	mice.after(2*day).move(neighbour, request.Approved)
	mice.after(3*day).submit(owner, document.SignedMTA, "signed-mta.pdf")
}

// makeOpen: one to decide for each contact, and one that was returned for correction.
func (f *filling) makeOpen() {
	n := f.parcel(requester, "1 breeding pair")
	n.Abstract = exchange.Some("Controls.")
	correct := f.ask(7*day, requester, "C57BL/6J", n)
	correct.after(day).move(neighbour, request.Approved)
	correct.after(26*hour).update(neighbour, request.Patch{
		Status: exchange.Some(request.Open), Reason: exchange.Some("Our animal office asks for more: controls of " +
			"which experiment?"),
	})

	f.ask(9*day+3*hour, manager, "Gene expression analysis of the human and chimpanzee brain", request.New{
		Submission: request.Submission{Abstract: exchange.Some("Training material for our course on arrays.")},
	})
	f.ask(20*hour, postdoc, "lentiCRISPR v2", f.parcel(postdoc, "1 stab"))

	n = f.parcel(member, "1 cryovial")
	n.Abstract = exchange.Some("Genes that colon tumours need, by a screen in mice.")
	f.ask(16*day+5*hour, member, "PDX model CN0375-F725", n)

	n = f.parcel(neighbour, "1 vial")
	n.Abstract = exchange.Some("Editing of a reporter into one locus of stem cells.")
	f.ask(4*day, neighbour, "WA09 (H9) hESC", n).after(3*hour).submit(neighbour, document.IRB, "irb-approval.pdf")

	f.ask(2*day+4*hour, requester, "HeLa", f.parcel(requester, "1 vial")).
		after(hour).write(requester, "A low passage would be best, if you have one.")
}

// makeInquiries asks a question without a request, which is answered.
func (f *filling) makeInquiries() {
	answered := f.inquire(12*day, requester, "Jurkat", "Which passage would you send, and were the cells tested for "+
		"mycoplasma this year?")
	f.at(11*day, "answer an inquiry", func() error {
		_, err := f.app.Inquiries.Answer(f.ctx, f.actors[manager], *answered, request.TextBody{
			Text: exchange.Some("Passage 7 or 8. The last test was in September: negative.")})
		return err
	})
}

// inquire asks a question some time ago; the id is there once that has been done.
func (f *filling) inquire(ago time.Duration, by, material, question string) (id *int64) {
	id = new(int64)
	f.at(ago, "ask about "+material, func() error {
		i, err := f.app.Inquiries.Ask(f.ctx, f.actors[by], int64(f.materials[material]),
			request.TextBody{Text: exchange.Some(question)})
		*id = i.ID
		return err
	})
	return id
}

// makeAdminsRequest submits a request of the admin.
func (f *filling) makeAdminsRequest() {
	sent := f.ask(50*minute, admin, "nCoV-2019 sequencing protocol",
		request.New{Submission: request.Submission{Note: exchange.Some("With your own notes, please.")}})
	sent.after(20*minute).move(holder, request.Approved)
	sent.after(5*minute).write(holder, "The notes are on their way by mail.")
	sent.after(5*minute).move(holder, request.Fulfilled)
}
