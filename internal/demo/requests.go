package demo

import "aliquot/internal/exchange"

// makeRequests makes requests in every status, so that each person finds something waiting.
func (f *filling) makeRequests() {
	f.makeEnded()
	f.makeSent()
	f.makeInFulfillment()
	f.makeApproved()
	f.makeOpen()
}

// makeEnded: VERIFIED_FULFILLED, REJECTED, CANCELLED, INVALID.
func (f *filling) makeEnded() {
	verified := f.ask(requester, "HEK293T", f.parcel(requester, "2 vials"))
	verified.move(manager, exchange.Approved)
	verified.agree(requester, officer)
	verified.send(manager, "SAMPLE-0001", "Dry ice, 5 kg")
	verified.write(requester, "They arrived frozen and grow well. Thank you!")
	verified.move(requester, exchange.Verified)

	n := f.parcel(requester, "1 breeding pair")
	n.Abstract = exchange.Some("Mammary tumours in a strain with little variation.")
	rejected := f.ask(requester, "FVB/NJ", n)
	rejected.update(neighbour, exchange.RequestPatch{
		Status:    exchange.Some(exchange.Rejected),
		Rejection: exchange.Some("Our colony is closed for rederivation. Please order from the repository."),
	})

	cancelled := f.ask(requester, "NIH 3T3", f.parcel(requester, "1 vial"))
	cancelled.write(requester, "We found a vial in our own freezer.")
	cancelled.move(requester, exchange.Cancelled)

	invalid := f.ask(requester, "Sf9", f.parcel(requester, "0 vials"))
	invalid.update(manager, exchange.RequestPatch{
		Status: exchange.Some(exchange.Invalid), Reason: exchange.Some("Sent by mistake, as you told us by telephone."),
	})
}

// makeSent: FULFILLED, waiting for the receipt; one with an issue that was solved.
func (f *filling) makeSent() {
	sent := f.ask(requester, mapped, f.parcel(requester, "1 tube of 5 µg"))
	sent.move(member, exchange.Approved)
	sent.send(member, "SAMPLE-0002", "Room temperature")

	solved := f.ask(postdoc, "psPAX2", f.parcel(postdoc, "1 stab"))
	solved.move(member, exchange.Approved)
	solved.send(member, "SAMPLE-0003", "Room temperature")
	issue := solved.complain(postdoc, "The courier cannot find us: the street number is missing on the label.")
	solved.write(member, "I told the courier; they try again tomorrow.")
	solved.solve(member, issue)
}

// makeInFulfillment: one to ship, where the lab waived the agreement, and one with an open issue.
func (f *filling) makeInFulfillment() {
	waived := f.ask(holder, "HCT 116", f.parcel(holder, "1 vial"))
	waived.update(manager, exchange.RequestPatch{
		Status:   exchange.Some(exchange.InFulfillment),
		Override: exchange.Some("Both institutions have signed a master agreement."),
	})

	thawed := f.ask(requester, "MCF-7", f.parcel(requester, "1 vial"))
	thawed.move(manager, exchange.Approved)
	thawed.agree(requester, officer)
	thawed.send(manager, "SAMPLE-0004", "Dry ice, 3 kg")
	thawed.complain(requester, "The dry ice was gone and the vial thawed. Could you send another?")
}

// makeApproved: documents owed, a document returned, and two to countersign.
func (f *filling) makeApproved() {
	n := f.parcel(requester, "2 cryovials")
	n.Abstract = exchange.Some("Response of urothelial carcinoma to a new inhibitor, in eight mice for each of three doses.")
	owed := f.ask(requester, "PDX model BL0269-F402", n)
	owed.move(postdoc, exchange.Approved)
	owed.write(postdoc, "Glad to help. Please add the signed MTA and your IRB approval.")

	returned := f.ask(requester, "A-549", f.parcel(requester, "1 vial"))
	returned.move(manager, exchange.Approved)
	returned.hand(requester, exchange.SignedMTA, "signature-page.png")
	returned.giveBack(officer, exchange.SignedMTA, "The photo is too blurred to read. Please send all pages as a PDF.")

	countersign := f.ask(member, "K-562", f.parcel(member, "1 vial"))
	countersign.move(manager, exchange.Approved)
	countersign.hand(member, exchange.SignedMTA, "signed-mta.pdf")
	countersign.accept(officer, exchange.SignedMTA)
	countersign.give(manager, officer)

	n = f.parcel(owner, "2 breeding pairs")
	n.Abstract = exchange.Some("Hosts for patient-derived tumours of our bank.")
	mice := f.ask(owner, "NOD.Cg-Prkdc<scid> Il2rg<tm1Wjl>/SzJ (NSG)", n)
	mice.move(neighbour, exchange.Approved)
	mice.hand(owner, exchange.SignedMTA, "signed-mta.pdf")
}

// makeOpen: one to decide for each contact, and one that was returned for correction.
func (f *filling) makeOpen() {
	n := f.parcel(requester, "1 breeding pair")
	n.Abstract = exchange.Some("Controls.")
	correct := f.ask(requester, "C57BL/6J", n)
	correct.move(neighbour, exchange.Approved)
	correct.update(neighbour, exchange.RequestPatch{
		Status: exchange.Some(exchange.Open), Reason: exchange.Some("Our animal office asks for more: controls of which experiment?"),
	})

	f.ask(manager, "Gene expression analysis of the human and chimpanzee brain", exchange.RequestNew{
		Abstract: exchange.Some("Training material for our course on arrays."),
	})
	f.ask(postdoc, "lentiCRISPR v2", f.parcel(postdoc, "1 stab"))

	n = f.parcel(member, "1 cryovial")
	n.Abstract = exchange.Some("Genes that colon tumours need, by a screen in mice.")
	f.ask(member, "PDX model CN0375-F725", n)

	n = f.parcel(neighbour, "1 vial")
	n.Abstract = exchange.Some("Editing of a reporter into one locus of stem cells.")
	f.ask(neighbour, "WA09 (H9) hESC", n).hand(neighbour, exchange.IRB, "irb-approval.pdf")

	f.ask(requester, "HeLa", f.parcel(requester, "1 vial")).write(requester, "A low passage would be best, if you have one.")
}

// makeAdminsRequest lets the admin, too, wait for something.
func (f *filling) makeAdminsRequest() {
	sent := f.ask(admin, "nCoV-2019 sequencing protocol", exchange.RequestNew{Note: exchange.Some("With your own notes, please.")})
	sent.move(holder, exchange.Approved)
	sent.write(holder, "The notes are on their way by mail.")
	sent.move(holder, exchange.Fulfilled)
}
