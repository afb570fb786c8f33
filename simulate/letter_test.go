package simulate

import (
	"slices"
	"time"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
)

// deskAt is the hour of each working day at which an office opens its desk, and signs all that waits there.
const deskAt = 10

// state has the owner of a lab state the facts of a material that decide which instrument is right, and who may sign.
func (w *world) state(owner exchange.Actor, m int64, bsl string) {
	w.t.Helper()
	p := requirement.Stating{Encumbrances: exchange.NullOf([]requirement.Encumbrance{})}
	for name, value := range map[string]string{"export_class": "NO", "proprietary": "NO", "bsl": bsl,
		"genetically_modified": "YES"} {
		*p.Others()[name].(*exchange.Opt[string]) = exchange.Some(value)
	}
	_, err := w.app.Requirements.StateFacts(w.ctx, owner, m, p, nil)
	must(w.t, err)
}

// letter is the way of a request whose agreement is signed here: the requester drafts, sends and signs it with the
// request, the owner of the lab once they accept the request, and each office when it opens its desk.
func (w *world) letter(x *transfer) {
	v, err := w.app.Letters.Draft(w.ctx, x.asks, letter.DraftNew{
		Terms: letter.Terms{Requests: exchange.Some([]exchange.Ref{exchange.Ref(x.id)})}})
	must(w.t, err)
	if len(v.Missing()) > 0 {
		w.t.Fatalf("letter %s lacks %v", v.Letter.Number, v.Missing())
	}
	x.letter = v.ID
	_, err = w.app.Letters.Send(w.ctx, x.asks, x.letter)
	must(w.t, err)
	w.sign(x, x.asks, party.RecipientScientist)
	w.byPeople(x)
}

// byPeople has the owner of the lab accept the request and sign the letter, and each office sign it at its desk.
func (w *world) byPeople(x *transfer) {
	w.step(x, w.provider.calendar, reaction, func() {
		w.accept(x)
		x.touches++
		w.sign(x, x.owner, party.ProviderScientist)
	})
	for _, role := range []string{party.ProviderOfficial, party.RecipientOfficial} {
		s := w.recipient
		if party.Provides(role) {
			s = w.provider
		}
		w.plan(s.desk(w.time()), func() {
			x.touches++
			w.sign(x, s.officer, role)
		})
	}
}

// desk returns when the office opens its desk next.
func (s side) desk(t time.Time) time.Time {
	for day := s.after(t, 0); ; day = s.after(day.AddDate(0, 0, 1), 0) {
		open := time.Date(day.Year(), day.Month(), day.Day(), deskAt, 0, 0, 0, s.zone)
		if open.After(t) && s.works(open) {
			return open
		}
	}
}

// sign signs the letter of a transfer. The last signature executes it.
func (w *world) sign(x *transfer, who exchange.Actor, role string) {
	w.t.Helper()
	v, err := w.app.Letters.Letter(w.ctx, who, x.letter)
	must(w.t, err)
	v, err = w.app.Letters.SignIn(w.ctx, who, x.letter, letter.SignatureNew{Role: exchange.Some(role),
		Version: exchange.Some(int64(v.Letter.Version)), SHA256: exchange.Some(v.SHA256)})
	must(w.t, err)
	if v.State == letter.Executed {
		w.finish(x, v)
	}
}

// finish checks an executed letter: its file is the executed MTA of its request, and it is by the instrument that is
// right on the day.
func (w *world) finish(x *transfer, v letters.View) {
	w.t.Helper()
	x.executed = w.time()
	q, err := w.app.Requests.Request(w.ctx, x.asks, x.id)
	must(w.t, err)
	if !slices.ContainsFunc(q.Documents, func(d document.Document) bool { return d.Slot == document.ExecutedMTA }) {
		w.t.Errorf("request %d has no executed MTA, and letter %d is executed", x.id, x.letter)
	}
	again, err := w.app.Requirements.Resolve(w.ctx, x.asks, instrument.Asking{
		Material: exchange.Some(exchange.Ref(x.material)), Recipient: exchange.Some(exchange.Ref(w.recipient.id))})
	must(w.t, err)
	if again.Instrument == nil || again.Instrument.ID != v.Letter.Instrument {
		w.t.Errorf("letter %d is by %s, and on its day %+v is right", x.letter, v.Letter.Instrument, again.Instrument)
	}
}
