package admin

import (
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

type jobsPage struct {
	adminPage
	Jobs   []jobRow
	State  exchange.JobState // "": all
	States []exchange.JobState
}

// jobRow is a job as the page shows it.
type jobRow struct {
	exchange.Job
	What       string // what the job does
	By         string
	Tone, Icon string
	Words      string // its state, in words
	Percent    int    // 0 if not known
	Address    string // the page with its details, "" if there is none
	Over       bool
	Retry      bool
	Back       string
}

// jobNames describe what jobs do.
var jobNames = map[string]string{
	"alert":               "Saved search alerts",
	"deed":                "Action that could be undone",
	"documents.return":    "Returning documents that have a virus",
	"files.hold":          "Holding agreed files in the bucket",
	"files.hold-rest":     "Looking for files that are not held",
	"files.scan":          "Virus scan of a file",
	"files.scan-rest":     "Looking for files that were not scanned",
	"log.checkpoint":      "Signing the log",
	"log.vouch":           "Timestamp of the log",
	"mail.agreement_code": "Code for signing, by e-mail",
	"mail.agreement_link": "Link for signing, by e-mail",
	"mail.digest":         "Digest e-mail",
	"mail.invitation":     "Invitation e-mail",
	"mail.notification":   "Notification e-mail",
	"mail.receipt":        "Receipt of a request",
	"materials.bulk":      "Material spreadsheet",
	"materials.import":    "Material import",
	"materials.settle":    "Confirming spreadsheets",
	"materials.undo":      "Undoing a spreadsheet",
	"papers.check":        "Check of an agreement on paper",
	"record.verify":       "Verifying the record",
	"reindex":             "Updating the search index after a rename",
	"remind":              "Reminders",
	"remind.duties":       "Reminders of duties",
	"remind.permits":      "Reminders of permits that end",
	"sweep.content":       "Removing deleted files",
	"sweep.erasures":      "Erasing people",
	"sweep.expired":       "Deleting expired data",
	"sweep.orphans":       "Removing orphaned files",
	"tell":                "Notifying people",
	"versions.names":      "Removing names from the history",
	"webhook":             "Webhook message",
}

func newJobRow(j exchange.Job, by *person.User) jobRow {
	r := jobRow{Job: j, What: jobNames[j.Kind], By: "Aliquot", Over: j.State.Over(),
		Retry: j.State == exchange.JobFailed || j.State == exchange.JobCancelled}
	if r.What == "" {
		r.What = j.Kind
	}
	if by != nil {
		r.By = by.Name()
	}
	if j.Progress.Total > 0 {
		r.Percent = int(100 * min(j.Progress.Done, j.Progress.Total) / j.Progress.Total)
	}
	if strings.HasPrefix(j.Kind, "materials.") {
		r.Address = "/share/jobs/" + strconv.FormatInt(j.ID, 10)
	}
	switch j.State {
	case exchange.JobReady:
		r.Icon, r.Words = "clock", "Waiting"
		if j.Failures > 0 {
			r.Tone, r.Words = "turn", "Waiting to retry"
		}
	case exchange.JobRunning:
		r.Tone, r.Icon, r.Words = "info", "clock", "Running"
	case exchange.JobDone:
		r.Tone, r.Icon, r.Words = "good", "done", "Done"
	case exchange.JobFailed:
		r.Tone, r.Icon, r.Words = "bad", "alert", "Failed"
	default:
		r.Icon, r.Words = "cancelled", "Cancelled"
	}
	return r
}

func (v *pageRequest) adminJobs() (ui.Response, error) {
	p := &jobsPage{adminPage: v.adminPage("jobs", "Jobs"), States: exchange.JobStates}
	var f exchange.JobFilter
	if s := exchange.JobState(v.URL.Query().Get("state")); slices.Contains(exchange.JobStates, s) {
		p.State, f.State = s, &s
	}
	if kind := v.URL.Query().Get("kind"); jobNames[kind] != "" {
		f.Kind = &kind
	}
	part, people, err := v.App.JobsToAdmin(v.Context(), v.Who.Actor, v.pageBehind(), f)
	if err != nil {
		return ui.Response{}, err
	}
	for _, j := range part.Items {
		r := newJobRow(j, personByID(people, j.User))
		r.Back = v.URL.RequestURI()
		p.Jobs = append(p.Jobs, r)
	}
	p.Total = part.Total
	p.paged("after", idOf(part.Next))
	return ui.Show("admin_jobs", p)
}

// Kinds returns the kinds of jobs with their labels.
func (p *jobsPage) Kinds() []choice {
	var list []choice
	for kind, what := range jobNames {
		list = append(list, choice{kind, what})
	}
	slices.SortFunc(list, func(a, b choice) int { return strings.Compare(a.Words, b.Words) })
	return list
}

func personByID(people map[uuid.UUID]person.User, id *uuid.UUID) *person.User {
	if id == nil {
		return nil
	}
	u, known := people[*id]
	if !known {
		return nil
	}
	return &u
}

func (v *pageRequest) retryJob(id int64) (ui.Response, error) {
	if _, err := v.App.RetryJob(v.Context(), v.Who.Actor, id); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.adminBack("/admin/jobs")).Saying("Job " + strconv.FormatInt(id, 10) + " will be retried."), nil
}

func (v *pageRequest) cancelJobAsAdmin() (ui.Response, error) { return v.endJob("/admin/jobs") }

func (v *pageRequest) cancelJob() (ui.Response, error) {
	return v.endJob("/progress/" + v.PathValue("id"))
}

func (v *pageRequest) endJob(back string) (ui.Response, error) {
	id, err := v.PathID("id")
	if err != nil {
		return ui.Response{}, err
	}
	if _, err := v.App.CancelJob(v.Context(), v.Who.Actor, id); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.adminBack(back)).Saying("Job " + strconv.FormatInt(id, 10) +
		" cancelled. What it already did is kept."), nil
}

type progressPage struct {
	ui.Page
	jobRow
}

// job shows the progress of a job, and reloads until it has ended.
func (v *pageRequest) job(id int64) (ui.Response, error) {
	j, by, err := v.App.JobOf(v.Context(), v.Who.Actor, id)
	if err != nil {
		return ui.Response{}, err
	}
	p := &progressPage{Page: ui.Page{Section: "share", Narrow: true}, jobRow: newJobRow(j, by)}
	p.Retry = p.Retry && v.Who.Admin
	p.Title = p.Words + ": " + p.What
	return ui.Show("job", p)
}

type stuckPage struct {
	adminPage
	Rows []ui.RequestRow
	Days int
	Tabs []ui.Tab
}

func (v *pageRequest) adminStuck() (ui.Response, error) {
	p := &stuckPage{adminPage: v.adminPage("stuck", "Stuck requests"), Days: v.App.StuckAfter()}
	only := v.URL.Query().Get("only")
	f := v.App.LongWaiting()
	switch only {
	case "escalated":
		f = request.StuckFilter{Escalated: new(true)}
	case "lab":
		f.Party = new(request.LabSide)
	case "requester":
		f.Party = new(request.RequesterSide)
	case "all":
		f = request.StuckFilter{}
	}
	for _, tab := range []choice{{"", "Waiting for more than " + ui.Days(p.Days)}, {"lab", "On labs"},
		{"requester", "On requesters"},
		{"escalated", "Owner notified"}, {"all", "All in progress"}} {
		address := "/admin/stuck"
		if tab.Value != "" {
			address += "?only=" + tab.Value
		}
		p.Tabs = append(p.Tabs, ui.Tab{Words: tab.Words, Address: address, Open: only == tab.Value})
	}
	part, err := v.App.StuckRequests(v.Context(), v.Who.Actor, ui.RequestOrder(v.URL.Query(), new(request.OnMe)), f)
	if err != nil {
		return ui.Response{}, err
	}
	for _, item := range part.Items {
		p.Rows = append(p.Rows, v.RequestRow(item))
	}
	p.Total = part.Total
	next := ""
	if part.Next != nil {
		if at, is := part.Next.Value.(interface{ UnixMicro() int64 }); is {
			next = strconv.FormatInt(at.UnixMicro(), 10) + "." + strconv.FormatInt(part.Next.ID, 10)
		}
	}
	p.paged("after", next)
	return ui.Show("admin_stuck", p)
}

// choice is a query value with its label.
type choice struct{ Value, Words string }
