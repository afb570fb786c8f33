package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// people are how two people use Aliquot: each has a browser of their own.
type people struct {
	requester, lab *tab
	site           *site
}

// TestJourney_TwoPeopleTransferAMaterial, whatever they use: from the search to the confirmed receipt.
func TestJourney_TwoPeopleTransferAMaterial(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(*tab){
		"with script":    func(*tab) {},
		"without script": func(tab *tab) { tab.scriptless() },
		"on a telephone": func(tab *tab) { tab.resize(390, 844) },
		"by keyboard":    func(tab *tab) { tab.keys = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			p := people{requester: s.open(""), lab: s.open(""), site: s}
			for _, tab := range []*tab{p.requester, p.lab} {
				set(tab)
			}
			p.find()
			p.ask()
			p.accept()
			p.exchangeDocuments()
			p.send()
			p.confirm()
		})
	}
}

// pdf is a small file that is one.
func (s *site) pdf(name string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), name)
	s.must(os.WriteFile(path, []byte("%PDF-1.4\n"+strings.Repeat("% page 4 is signed\n", 20_000)+"%%EOF\n"), 0o600))
	return path
}

// find looks for the material, and sees what will be asked before signing in.
func (p *people) find() {
	t := p.requester
	t.visit("/")
	search := find("", "main form[role=search] input[type=search]", "main")
	t.until("there is a search", search)
	if t.keys {
		t.reach("the search", search)
	}
	see[bool](t, "("+search+".focus(), true)")
	t.leave("search", func() { t.enter("HT-29") })
	t.says("HT-29")
	t.followIn("main", "HT-29")
	t.says("What you will need")
	t.says("Signed MTA")
	t.followIn("main", "Request HT-29") // which needs an account, and comes back
	t.follow("Continue to")
	t.follow("Josiah Carberry")
	t.name = "Josiah"
	t.until("the form is there", `document.querySelector("h1").textContent.includes("Request HT-29")`)
}

// ask fills in the form and sends it; what is missing is said and nothing is lost.
func (p *people) ask() {
	t := p.requester
	t.fill("Quantity", "2 vials")
	if see[bool](t, `!!document.querySelector("[name=address][value=new]")`) {
		t.fill("Josiah Carberry", "yes")
	}
	t.followIn("main", "Send request")
	t.until("what is missing has the focus or is said",
		`document.querySelector("#errors") || location.pathname.startsWith("/requests/")`)
	if see[bool](t, `!!document.querySelector("#errors")`) {
		if got := see[string](t, `document.querySelector("[name=quantity]").value`); got != "2 vials" {
			t.Errorf("what was typed is lost: %q", got)
		}
		t.fill("Reimburse the lab", "yes")
		t.fill("Payment details", "Invoice to the institute, cost centre 4711")
		t.followIn("main", "Send request")
	}
	t.until("the request is there", `/^\/requests\/\d+$/.test(location.pathname)`)
	t.says("HT-29")
	t.says("Waiting for")
}

// accept finds the request in the inbox, accepts it and lets the time to take that back pass.
func (p *people) accept() {
	t := p.lab
	t.visit("/requests")
	t.follow("Continue to")
	t.follow("Mario Manager")
	t.name = "Mario"
	t.until("the inbox is there", `location.pathname === "/requests"`)
	t.followIn("main", "HT-29")
	t.followIn("#next", "Accept")
	t.says("Undo")
	t.again("Waiting for")
}

// exchangeDocuments: the requester submits the signed MTA, the lab checks and countersigns it.
func (p *people) exchangeDocuments() {
	p.requester.again("Upload the signed MTA")
	p.requester.upload("requester_signed_mta", p.site.pdf("HT-29 MTA signed.pdf"))
	p.requester.says("checking")
	p.lab.again("Accept document")
	p.lab.followIn("#documents", "Accept document")
	p.lab.says("Countersign")
	p.lab.upload("executed_mta", p.site.pdf("HT-29 MTA executed.pdf"))
	p.lab.says("Pack and ship")
}

// upload submits a document of a request.
func (t *tab) upload(slot, path string) {
	t.Helper()
	form := `form[action$="/documents/` + slot + `"]`
	t.choose(form+" input[type=file]", path)
	t.leave("upload "+slot, func() {
		if see[bool](t, "!!("+find("Upload", "button", form)+")") { // else script sends what was chosen
			t.pressIn(form, "Upload")
		}
	})
	t.says(filepath.Base(path))
}

func (p *people) send() {
	t := p.lab
	t.followIn("#next", "Ship it")
	t.fill("Carrier", "FedEx")
	t.fill("Tracking number", "7946 1234 5678")
	t.followIn("main form", "Ship it")
	t.again("Shipped")
}

func (p *people) confirm() {
	t := p.requester
	t.again("Confirm receipt")
	t.says("7946 1234 5678")
	t.followIn("#next", "Confirm receipt")
	t.again("Received")
	p.lab.again("Received")
}

// enter types and presses Enter.
func (t *tab) enter(text string) {
	t.Helper()
	t.typed(text + "\r")
}
