package web

import (
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/exchange"

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
	"materials.import": "Import of materials", "materials.bulk": "Spreadsheet of materials",
	"mail.notification": "Mail about a notification",
	"mail.digest":       "Digest by mail", "mail.invitation": "Mail of an invitation",
	"webhook": "Message to a webhook",
	"tell":    "Telling people what happened",
	"deed":    "A change that could be taken back", "remind": "Reminders", "alert": "Alerts of saved searches",
	"reindex": "Search index after a new name", "versions.names": "Taking names from the history",
	"sweep.expired": "Clearing out what expired", "sweep.content": "Clearing out deleted files",
	"sweep.orphans": "Clearing out files of nothing",
}

func newJobRow(j exchange.Job, by *exchange.User) jobRow {
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
		r.Icon, r.Words = "clock", "Waits"
		if j.Failures > 0 {
			r.Tone, r.Words = "turn", "Waits to be tried again"
		}
	case exchange.JobRunning:
		r.Tone, r.Icon, r.Words = "info", "clock", "Runs"
	case exchange.JobDone:
		r.Tone, r.Icon, r.Words = "good", "done", "Done"
	case exchange.JobFailed:
		r.Tone, r.Icon, r.Words = "bad", "alert", "Failed"
	default:
		r.Icon, r.Words = "cancelled", "Cancelled"
	}
	return r
}

func (v *pageRequest) adminJobs() (response, error) {
	p := &jobsPage{adminPage: v.adminPage("jobs", "Jobs"), States: exchange.JobStates}
	var f exchange.JobFilter
	if s := exchange.JobState(v.URL.Query().Get("state")); slices.Contains(exchange.JobStates, s) {
		p.State, f.State = s, &s
	}
	if kind := v.URL.Query().Get("kind"); jobNames[kind] != "" {
		f.Kind = &kind
	}
	part, people, err := v.app.JobsToAdmin(v.Context(), v.who.Actor, v.pageBehind(), f)
	if err != nil {
		return response{}, err
	}
	for _, j := range part.Items {
		r := newJobRow(j, person(people, j.User))
		r.Back = v.URL.RequestURI()
		p.Jobs = append(p.Jobs, r)
	}
	p.Total = part.Total
	p.paged("after", idOf(part.Next))
	return show("admin_jobs", p)
}

// Kinds returns the kinds of jobs with their labels.
func (p *jobsPage) Kinds() []inboxChoice {
	var list []inboxChoice
	for kind, what := range jobNames {
		list = append(list, inboxChoice{kind, what})
	}
	slices.SortFunc(list, func(a, b inboxChoice) int { return strings.Compare(a.Words, b.Words) })
	return list
}

func person(people map[uuid.UUID]exchange.User, id *uuid.UUID) *exchange.User {
	if id == nil {
		return nil
	}
	u, known := people[*id]
	if !known {
		return nil
	}
	return &u
}

func (v *pageRequest) retryJob() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	if _, err := v.app.RetryJob(v.Context(), v.who.Actor, id); err != nil {
		return response{}, err
	}
	return seeOther(v.adminBack("/admin/jobs")).saying("Job " + strconv.FormatInt(id, 10) + " is tried again."), nil
}

func (v *pageRequest) cancelJobAsAdmin() (response, error) { return v.endJob("/admin/jobs") }

func (v *pageRequest) cancelJob() (response, error) {
	return v.endJob("/progress/" + v.PathValue("id"))
}

func (v *pageRequest) endJob(back string) (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	if _, err := v.app.CancelJob(v.Context(), v.who.Actor, id); err != nil {
		return response{}, err
	}
	return seeOther(v.adminBack(back)).saying("Job " + strconv.FormatInt(id, 10) +
		" is cancelled. What it got done stays."), nil
}

type progressPage struct {
	Page
	jobRow
}

// job shows the progress of a job, and reloads until it has ended.
func (v *pageRequest) job() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	j, by, err := v.app.JobOf(v.Context(), v.who.Actor, id)
	if err != nil {
		return response{}, err
	}
	p := &progressPage{Page: Page{Section: "share", Narrow: true}, jobRow: newJobRow(j, by)}
	p.Retry = p.Retry && v.who.Admin
	p.Title = p.Words + ": " + p.What
	return show("job", p)
}

type stuckPage struct {
	adminPage
	Rows []inboxRow
	Days int
	Tabs []noticeTab
}

func (v *pageRequest) adminStuck() (response, error) {
	p := &stuckPage{adminPage: v.adminPage("stuck", "Stuck requests"), Days: v.app.StuckAfter()}
	only := v.URL.Query().Get("only")
	f := v.app.LongWaiting()
	switch only {
	case "escalated":
		f = exchange.StuckFilter{Escalated: new(true)}
	case "lab":
		f.Party = new(exchange.LabSide)
	case "requester":
		f.Party = new(exchange.RequesterSide)
	case "all":
		f = exchange.StuckFilter{}
	}
	for _, tab := range []inboxChoice{{"", "Waiting for more than " + days(p.Days)}, {"lab", "On labs"},
		{"requester", "On requesters"},
		{"escalated", "Owner was told"}, {"all", "All under way"}} {
		address := "/admin/stuck"
		if tab.Value != "" {
			address += "?only=" + tab.Value
		}
		p.Tabs = append(p.Tabs, noticeTab{Words: tab.Words, Address: address, Open: only == tab.Value})
	}
	part, err := v.app.StuckRequests(v.Context(), v.who.Actor, inboxOrder(v.URL.Query(), new(exchange.OnMe)), f)
	if err != nil {
		return response{}, err
	}
	for _, item := range part.Items {
		p.Rows = append(p.Rows, v.inboxRow(item))
	}
	p.Total = part.Total
	next := ""
	if part.Next != nil {
		if at, is := part.Next.Value.(interface{ UnixMicro() int64 }); is {
			next = strconv.FormatInt(at.UnixMicro(), 10) + "." + strconv.FormatInt(part.Next.ID, 10)
		}
	}
	p.paged("after", next)
	return show("admin_stuck", p)
}
