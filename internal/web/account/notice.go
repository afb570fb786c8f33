package account

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/mailing"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/web/ui"
)

// noticeRequest is a request for notifications.
type noticeRequest struct{ *ui.PageRequest }

var noticePages = []ui.Route{
	ui.Get("/notifications", (*noticeRequest).notifications).Private(),
	ui.Get("/notifications/stream", (*noticeRequest).noticeStream).Private(),
	ui.Post("/notifications/read", (*noticeRequest).readNotices),
	ui.PostID("/notifications/{id}/read", (*noticeRequest).readNotice),
}

type noticePage struct {
	ui.Page
	Tabs       []ui.Tab
	Unread     int64
	Total      exchange.Count
	Days       []noticeDay
	Only       bool   // only unread ones
	Category   string // the category shown, "": all
	Categories []noticeCategory
	Newest     int64 // the id of the newest one shown; 0: there is none
	Next       string
	First      string
	Back       string // the address of this page, for forms
}

// noticeCategory is a category of notifications to filter by.
type noticeCategory struct{ Value, Words string }

// noticeDay is one day's notifications, in the visitor's zone.
type noticeDay struct {
	Words  string
	Groups []noticeGroup
}

// noticeGroup is a day's notifications about one request, or a single one about something else, the newest first.
type noticeGroup struct {
	ui.NoticeItem
	Earlier []ui.NoticeItem
	Unread  int // of all of them
}

// add adds a notification that is older than those of the day so far.
func (d *noticeDay) add(n ui.NoticeItem) {
	unread := 0
	if n.ReadAt == nil {
		unread = 1
	}
	for i := range d.Groups {
		g := &d.Groups[i]
		if n.Announcement == nil && g.Announcement == nil && g.Event.RequestID == n.Event.RequestID {
			g.Earlier, g.Unread = append(g.Earlier, n), g.Unread+unread
			return
		}
	}
	d.Groups = append(d.Groups, noticeGroup{NoticeItem: n, Unread: unread})
}

const noticesAtOnce = 50

func (v *noticeRequest) notifications() (ui.Response, error) {
	query := v.URL.Query()
	p := &noticePage{Page: ui.Page{Title: "Notifications", Section: "notifications"},
		Only: query.Get("show") == "unread",
		Back: v.URL.RequestURI()}
	var f notify.NotificationFilter
	if p.Only {
		f.Unread = new(true)
	}
	for _, c := range mailing.AllCategories {
		p.Categories = append(p.Categories, noticeCategory{string(c), c.Words()})
	}
	if c := mailing.Category(query.Get("category")); slices.Contains(mailing.AllCategories, c) {
		f.Category, p.Category = &c, string(c)
	}
	at := exchange.Page{Limit: noticesAtOnce}
	if after := ui.ParseID(query.Get("after")); after != nil {
		at.After, p.First = &exchange.Position{ID: *after}, p.address("after", "")
	}
	part, unread, err := v.App.Notifications.Notifications(v.Context(), v.Who.Actor, v.Who.ID, f, at)
	if err != nil {
		return ui.Response{}, err
	}
	p.Unread, p.Total = unread, part.Total
	if unread > 0 {
		p.Title = "Notifications, " + ui.Count(unread) + " unread"
	}
	p.Tabs = []ui.Tab{{Words: "All", Address: p.address("show", ""), Open: !p.Only},
		{Words: "Unread", Address: p.address("show", "unread"), Count: unread, Hot: true, Open: p.Only}}
	if part.Next != nil {
		p.Next = p.address("after", strconv.FormatInt(part.Next.ID, 10))
	}
	if len(part.Items) > 0 && p.First == "" {
		p.Newest = part.Items[0].ID
	}
	now := v.App.DB.Read().Now
	for _, n := range part.Items {
		if day := dayWords(n.CreatedAt, now, v.Who.Zone); len(p.Days) == 0 || p.Days[len(p.Days)-1].Words != day {
			p.Days = append(p.Days, noticeDay{Words: day})
		}
		p.Days[len(p.Days)-1].add(ui.NoticeItemOf(n))
	}
	return ui.Show("notifications", p)
}

// address returns the page's address with one value changed.
func (p *noticePage) address(name, value string) string {
	q := url.Values{}
	if p.Only {
		q.Set("show", "unread")
	}
	if p.Category != "" {
		q.Set("category", p.Category)
	}
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	if len(q) == 0 {
		return "/notifications"
	}
	return "/notifications?" + q.Encode()
}

// dayWords formats a day in a zone, as "Today, 12 March".
func dayWords(t, now time.Time, zone *time.Location) string {
	local, today := t.In(zone), now.In(zone)
	day := local.Format("2 January")
	if local.Year() != today.Year() {
		day = local.Format("2 January 2006")
	}
	switch ui.Midnight(today).Sub(ui.Midnight(local)) {
	case 0:
		return "Today, " + day
	case 24 * time.Hour:
		return "Yesterday, " + day
	}
	return local.Format("Monday, ") + day
}

// readNotice marks one notification as read or unread, or, with "group", as read with all earlier ones about the same
// request.
func (v *noticeRequest) readNotice(id int64) (ui.Response, error) {
	mark := func() error {
		read := v.PostFormValue("unread") == ""
		return v.App.Notifications.MarkRead(v.Context(), v.Who.Actor, v.Who.ID, id, exchange.Some(read), nil)
	}
	if v.PostFormValue("group") != "" {
		mark = func() error {
			return v.App.Notifications.MarkGroupRead(v.Context(), v.Who.Actor, v.Who.ID, id)
		}
	}
	if err := mark(); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.noticesBack()), nil
}

// readNotices marks as read all notifications up to the newest that the visitor saw; newer ones stay unread.
func (v *noticeRequest) readNotices() (ui.Response, error) {
	until := ui.ParseID(v.PostFormValue("until"))
	if until == nil {
		return ui.SeeOther(v.noticesBack()), nil
	}
	if err := v.App.Notifications.MarkAllRead(v.Context(), v.Who.Actor, v.Who.ID, *until); err != nil {
		return ui.Response{}, err
	}
	return ui.SeeOther(v.noticesBack()).Saying("All marked as read."), nil
}

func (v *noticeRequest) noticesBack() string {
	if back := ui.LocalAddress(v.PostFormValue("back")); back != "/" {
		return back
	}
	return "/notifications"
}
