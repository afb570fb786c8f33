package simulate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
)

// transfer is one request of the simulation, and what it took until its agreement was executed.
type transfer struct {
	way      string
	random   *rand.Rand // what happens to it; the same for the request of each way with its number
	id       int64
	material int64
	asks     exchange.Actor
	owner    exchange.Actor // of the lab
	began    time.Time
	executed time.Time
	touches  int // of people
	returns  int // of the agreement, for correction

	letter  int64
	covered bool // by the standing approvals of both sides
}

// What people need for a step, in hours of work. They are assumptions: the time of an office is that of "two days to
// two weeks" for the paper of a transfer (Center for Technology Transfer and Commercialization, Vanderbilt University),
// and the paper way as a whole is held against published figures (docs/simulation.md).
var (
	reaction = delay{3, 1}    // of somebody who has to decide something
	filling  = delay{8, 1}    // of a form, whose signer has to be found
	passing  = delay{4, 1}    // of a document, by mail
	office   = delay{36, 0.9} // of a letter at an office
)

// mistake is what is wrong with a form that somebody filled in. Rates are assumptions.
type mistake struct {
	name    string
	rate    float64
	noticed float64 // by the recipient's office; otherwise the provider's returns it
}

var mistakes = []mistake{
	{"wrong form", 0.08, 0.5},
	{"signed by somebody without authority", 0.10, 0.2},
	{"blanks", 0.15, 0.6},
	{"an institution in the field of a person", 0.06, 0.3},
	{"an address that differs", 0.08, 0.1},
	{"a scan that cannot be read", 0.04, 0.3},
}

// ask plans a request for a material by a scientist, who signs the agreement at once where approvals exist.
func (w *world) ask(way string, n int, next func(*transfer)) {
	g, random := w.groups[way], rand.New(rand.NewPCG(*seed, uint64(n)))
	m := g.materials[random.IntN(len(g.materials))]
	x := &transfer{way: way, random: random, material: m, asks: g.scientists[random.IntN(len(g.scientists))],
		owner: w.owner[m]}
	w.transfers = append(w.transfers, x)
	w.plan(w.recipient.after(w.time().Add(time.Duration(n)*between), 0), func() {
		x.began = w.time()
		asked := request.New{Material: exchange.Some(exchange.Ref(m))}
		asked.SignAgreement = exchange.Some(way == standingWay)
		q, err := w.app.Requests.CreateRequest(w.ctx, x.asks, asked)
		must(w.t, err)
		x.id, x.letter, x.touches = q.ID, q.Letter, 1
		next(x)
	})
}

// step plans what a person of a side does after a delay: a touch.
func (w *world) step(x *transfer, at calendar, d delay, do func()) {
	w.plan(at.after(w.time(), d.draw(x.random)), func() {
		x.touches++
		do()
	})
}

// paper is the way of a request whose agreement is a form that travels.
func (w *world) paper(x *transfer) {
	w.step(x, w.provider.calendar, reaction, func() { // the lab accepts the request
		w.accept(x)
		w.fill(x, 1)
	})
}

// fill has the requester fill in a form. Somebody whose form came back makes fewer mistakes in the next.
func (w *world) fill(x *transfer, care float64) {
	w.step(x, w.recipient.calendar, filling, func() {
		var wrong *mistake
		for i := range mistakes {
			if wrong == nil && x.random.Float64() < care*mistakes[i].rate {
				wrong = &mistakes[i]
			}
		}
		w.step(x, w.recipient.calendar, office, func() { // the recipient's office signs it
			if wrong != nil && x.random.Float64() < wrong.noticed {
				x.returns++
				w.fill(x, care/2)
				return
			}
			w.step(x, w.recipient.calendar, passing, func() { // the requester sends it to the lab
				w.submit(x, x.asks, document.SignedMTA)
				w.countersign(x, wrong, care)
			})
		})
	})
}

// countersign has the lab pass the form to the provider's office, which signs or returns it.
func (w *world) countersign(x *transfer, wrong *mistake, care float64) {
	w.step(x, w.provider.calendar, passing, func() {
		w.step(x, w.provider.calendar, office, func() {
			w.step(x, w.provider.calendar, passing, func() {
				if wrong != nil {
					_, err := w.app.Requests.ReviewDocument(w.ctx, x.owner, x.id, document.SignedMTA, false, wrong.name, nil)
					must(w.t, err)
					x.returns++
					w.fill(x, care/2)
					return
				}
				w.submit(x, x.owner, document.ExecutedMTA)
				x.executed = w.time()
			})
		})
	})
}

// accept has the owner of the lab accept the request.
func (w *world) accept(x *transfer) {
	_, err := w.app.Requests.UpdateRequest(w.ctx, x.owner, x.id, request.Patch{Status: exchange.Some(request.Approved)},
		nil)
	must(w.t, err)
}

// submit uploads a form for a document of the request.
func (w *world) submit(x *transfer, who exchange.Actor, slot document.Slot) {
	text := fmt.Sprintf("%%PDF-1.4\n%% %s of request %d at %s\n%%%%EOF\n", slot, x.id, w.time())
	content, err := w.app.Files.Put(w.ctx, strings.NewReader(text), 1<<20)
	must(w.t, err)
	_, err = w.app.Requests.HandIn(w.ctx, who, x.id, slot, "mta.pdf", content)
	must(w.t, err)
}
