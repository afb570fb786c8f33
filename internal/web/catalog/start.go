package catalog

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/agreement/duty"
	"aliquot/internal/app/core"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/publish"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"
)

var startPages = []ui.Route{
	ui.Get("/{$}", (*pageRequest).home),
	ui.Post("/checklist", (*pageRequest).dismissChecklist),
}

type homePage struct {
	ui.Page
	core.SiteNumbers
	All      []category.Category
	Rack     []tube
	Stats    []stat
	Steps    []step
	New      []newcomer
	Waiting  []waiting                       // for signed-in visitors
	Own      []ui.RequestRow                 // the requests that they made and that are under way
	OnMe     int64                           // number of requests that wait on them
	OnLabs   int64                           // number that wait on their labs, assigned to others
	Owed     []duty.Duty                     // after agreements were executed, soon or overdue
	ToSign   exchange.ListPage[letters.Task] // agreements that wait for their signature
	ToAnswer int64                           // number of inquiries that wait for their labs
	Drafts   []ui.DraftLine
	Lists    []checklist

	Invitations []lab.ShownInvitation // to labs, that the visitor has not answered
}

// tube is a category in the rack: the more materials it has, the fuller it is.
type tube struct {
	Code, Name string
	Count      string
	Path       string // of the filling, in the drawing
}

type stat struct{ Name, Value string }

// step is one of the steps of a request, with the median day on which it is done.
type step struct {
	Name, Day, Text string
	Number          int
}

type newcomer struct {
	core.RecentMaterial
	Icon   string
	Number string
	Plural string // what an import listed, such as cell lines; "": it was listed alone
}

// waiting is a request that waits on the visitor, with what they have to do.
type waiting struct {
	ui.RequestRow
	What string
}

// More reports whether more requests wait on the visitor than are shown.
func (p *homePage) More() bool { return p.OnMe > int64(len(p.Waiting)) }

// Letter returns the address of an agreement.
func (*homePage) Letter(id int64) string { return ui.LetterPath(id) }

// LabsWait returns the number of requests that wait on the visitor's labs, "" for none.
func (p *homePage) LabsWait() string {
	if p.OnLabs == 0 {
		return ""
	}
	return ui.CountRequests(p.OnLabs)
}

// Why returns for people why something cannot be done.
func (*homePage) Why(err error) string { return exchange.MessageOf(err) }

const (
	requestsShown = 5 // of the visitor's tasks, and of their own requests
	draftsShown   = 3
)

// home is the start page.
func (v *pageRequest) home() (ui.Response, error) {
	n, err := v.App.SiteNumbers(v.Context())
	if err != nil {
		return ui.Response{}, err
	}
	p := &homePage{Page: ui.Page{Title: "Find and request research materials", Full: true, NoSearch: true},
		SiteNumbers: n,
		All:         category.All(), Rack: rackOf(n)}
	p.Stats, p.Steps = statsOf(n), stepsOf(n)
	for _, m := range n.Newest {
		c, _ := category.Get(m.Category)
		shown := newcomer{RecentMaterial: m, Icon: c.Icon}
		if m.Together > 0 {
			shown.Plural, shown.Icon = "materials", "table"
			if kind, known := category.Get(m.Kind); known {
				shown.Plural, shown.Icon = inSentence(kind.Plural), kind.Icon
			}
		}
		if ids := (publish.Listing{Shown: material.Shown{Material: m.Material}}).Identifiers(); len(ids) > 0 {
			shown.Number = ids[0].Canonical
		}
		p.New = append(p.New, shown)
	}
	if !v.SignedIn() {
		p.Description = "Search " + ui.Plural(n.Materials, "research material") +
			": cell lines, plasmids, model organisms, tumour models, datasets and protocols, and request them from " +
			"the lab that holds them."
		return ui.Show("home", p)
	}
	if err := v.whatWaits(p); err != nil {
		return ui.Response{}, err
	}
	p.Title = "Start"
	if p.OnMe > 0 {
		p.Title = ui.CountRequests(p.OnMe) + " waiting for you"
	}
	return ui.Show("home", p)
}

// inSentence returns a name as it stands inside a sentence: an abbreviation at its beginning stays.
func inSentence(name string) string {
	if first, _, _ := strings.Cut(name, " "); first == strings.ToUpper(first) {
		return name
	}
	return strings.ToLower(name)
}

// rackOf returns the categories, the fullest first. Filling is logarithmic, or small ones would look empty.
func rackOf(n core.SiteNumbers) []tube {
	list := category.All()
	slices.SortStableFunc(list,
		func(a, b category.Category) int { return cmp.Compare(n.Categories[b.Code], n.Categories[a.Code]) })
	most := math.Log1p(float64(n.Categories[list[0].Code]))
	var rack []tube
	for _, c := range list {
		const top, bottom = 12.5, 84.0
		level := bottom
		if has := n.Categories[c.Code]; has > 0 && most > 0 {
			level -= (bottom - top) * math.Log1p(float64(has)) / most
		}
		path := "M8 " + strconv.FormatFloat(level, 'f', 1, 64) + "q14 3.6 28 0V96H8z"
		rack = append(rack, tube{c.Code, c.Plural, ui.Count(n.Categories[c.Code]), path})
	}
	return rack
}

// statsOf returns the statistics that are known.
func statsOf(n core.SiteNumbers) []stat {
	var list []stat
	for _, s := range []struct {
		what, is string
		value    int64
	}{{"material", "listed", n.Materials}, {"lab", "sharing", int64(n.Labs)}, {"transfer", "completed", n.Transfers}} {
		if s.value > 0 {
			list = append(list, stat{ui.Noun(s.value, s.what) + " " + s.is, ui.Count(s.value)})
		}
	}
	if n.Pace.Decides() {
		list = append(list, stat{"median time to decision", paced(n.Pace.Decision)})
	}
	if n.Pace.Receives() {
		list = append(list, stat{"median time to receipt", paced(n.Pace.Receipt)})
	}
	return list
}

// stepsOf returns the steps of a request, with their median days if enough requests got that far.
func stepsOf(n core.SiteNumbers) []step {
	list := []step{
		{Name: "Request", Text: "Say what you plan to do with it and where to send it. It takes ten minutes."},
		{Name: "The lab decides", Text: "It accepts, or declines with a reason you can read."},
		{Name: "Documents", Text: "You submit the signed agreement and, for human material, ethics approval. The lab " +
			"checks and countersigns."},
		{Name: "Ship", Text: "The lab packs it and gives you a tracking number."},
		{Name: "Confirm receipt", Text: "Confirm that it arrived in good condition, or report a problem."},
	}
	for i := range list {
		list[i].Number = i + 1
	}
	day := func(hours float64) string { return "day " + strconv.Itoa(int(math.Round(hours/24))) }
	if n.Pace.Receives() {
		p := n.Pace
		list[0].Day, list[1].Day = "day 0", day(p.Decision.Hours())
		list[2].Day, list[3].Day, list[4].Day = day(p.Documents.Hours()), day(p.Sent.Hours()), day(p.Receipt.Hours())
	}
	return list
}

// whatWaits reads the requests that wait on the visitor, the longest wait first, the progress of their own, their
// invitations, their drafts, and what helps those who are new to begin.
func (v *pageRequest) whatWaits(p *homePage) error {
	d, err := v.App.Requests.Dashboard(v.Context(), v.Who.Actor, requestsShown)
	if err != nil {
		return err
	}
	p.OnMe, p.OnLabs = d.Counts[request.OnMe], d.Counts[request.OnMyLabs]
	for _, item := range d.Tasks {
		if item.Turn != nil {
			p.Waiting = append(p.Waiting, waiting{v.RequestRow(item), waitsFor(item.Turn)})
		}
	}
	for _, item := range d.Own {
		p.Own = append(p.Own, v.RequestRow(item))
	}
	if p.ToSign, err = v.App.Letters.Tasks(v.Context(), v.Who.Actor, requestsShown); err != nil {
		return err
	}
	if p.Owed, err = v.App.Duties.Mine(v.Context(), v.Who.Actor, requestsShown); err != nil {
		return err
	}
	if p.ToAnswer, err = v.App.Inquiries.ToAnswer(v.Context(), v.Who.Actor); err != nil {
		return err
	}
	if p.Lists, err = v.checklists(); err != nil {
		return err
	}
	if p.Invitations, err = v.App.Labs.OpenInvitations(v.Context(), v.Who.Actor); err != nil {
		return err
	}
	drafts, err := v.App.Materials.Drafts(v.Context(), v.Who.Actor)
	if err != nil {
		return err
	}
	for _, d := range drafts[:min(len(drafts), draftsShown)] {
		p.Drafts = append(p.Drafts, ui.DraftLine{Draft: d, Address: ui.DraftAddress(d.Key)})
	}
	return nil
}

// waitsFor returns what somebody has to do in a turn, in few words.
func waitsFor(t *request.Turn) string {
	words := map[string]string{
		request.StepCorrection: "Answer the lab", request.StepDecision: "Accept or decline",
		request.StepShipment: "Pack and ship",
		request.StepIssue:    "Problem to resolve", request.StepReceipt: "Confirm receipt",
		string(request.NeedAbstract):    "Abstract needed",
		string(request.NeedExecutedMTA): "Countersign the MTA",
	}
	if len(t.What) > 0 && words[t.What[0]] != "" {
		return words[t.What[0]]
	}
	names := map[string]string{
		string(request.NeedSignedMTA): "signed MTA", string(request.NeedIRB): "IRB approval",
		string(request.NeedAddress): "address", string(request.NeedPayment): "payment",
	}
	var list []string
	for _, what := range t.What {
		list = append(list, cmp.Or(names[what], what))
	}
	return "Needed: " + strings.Join(list, ", ")
}
