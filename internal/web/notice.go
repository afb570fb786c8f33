package web

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/exchange"
)

var noticePages = []page{
	get("/notifications", (*pageRequest).notifications).private(),
	get("/notifications/stream", (*pageRequest).noticeStream).private(),
	post("/notifications/read", (*pageRequest).readNotices),
	post("/notifications/{id}/read", (*pageRequest).readNotice),
}

type noticePage struct {
	Page
	Tabs       []noticeTab
	Unread     int64
	Total      int64
	Days       []noticeDay
	Only       bool   // only unread ones
	Category   string // the category shown, "": all
	Categories []noticeCategory
	Newest     int64 // the id of the newest one shown; 0: there is none
	Next       string
	First      string
	Back       string // the address of this page, for forms
}

type noticeTab struct {
	Words, Address string
	Count          int64
	Hot, Open      bool
}

// noticeCategory is a category of notifications to filter by.
type noticeCategory struct{ Value, Words string }

// noticeDay is one day's notifications, in the visitor's zone.
type noticeDay struct {
	Words string
	Items []noticeItem
}

// noticeItem is a notification as the page shows it.
type noticeItem struct {
	exchange.Notification
	look
	Head    string // who did what
	More    string // what was written, or why
	Address string // what it links to; "": nothing
}

const noticesAtOnce = 50

func (v *pageRequest) notifications() (response, error) {
	query := v.URL.Query()
	p := &noticePage{Page: Page{Title: "Notifications", Section: "notifications"}, Only: query.Get("show") == "unread",
		Back: v.URL.RequestURI()}
	var f exchange.NotificationFilter
	if p.Only {
		f.Unread = new(true)
	}
	for _, c := range exchange.MailCategories {
		p.Categories = append(p.Categories, noticeCategory{string(c), c.Words()})
	}
	if c := exchange.Category(query.Get("category")); slices.Contains(exchange.MailCategories, c) {
		f.Category, p.Category = &c, string(c)
	}
	at := exchange.Page{Limit: noticesAtOnce}
	if after := inboxNumber(query.Get("after")); after != nil {
		at.After, p.First = &exchange.Position{ID: *after}, p.address("after", "")
	}
	part, unread, err := v.app.Notifications(v.Context(), v.who.Actor, v.who.ID, f, at)
	if err != nil {
		return response{}, err
	}
	p.Unread, p.Total = unread, part.Total
	if unread > 0 {
		p.Title = "Notifications, " + count(unread) + " unread"
	}
	p.Tabs = []noticeTab{{Words: "All", Address: p.address("show", ""), Open: !p.Only},
		{Words: "Unread", Address: p.address("show", "unread"), Count: unread, Hot: true, Open: p.Only}}
	if part.Next != nil {
		p.Next = p.address("after", strconv.FormatInt(part.Next.ID, 10))
	}
	if len(part.Items) > 0 && p.First == "" {
		p.Newest = part.Items[0].ID
	}
	now := v.app.DB.Read().Now
	for _, n := range part.Items {
		if day := dayWords(n.CreatedAt, now, v.who.Zone); len(p.Days) == 0 || p.Days[len(p.Days)-1].Words != day {
			p.Days = append(p.Days, noticeDay{Words: day})
		}
		last := &p.Days[len(p.Days)-1]
		last.Items = append(last.Items, newNoticeItem(n))
	}
	return show("notifications", p)
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
	switch midnight(today).Sub(midnight(local)) {
	case 0:
		return "Today, " + day
	case 24 * time.Hour:
		return "Yesterday, " + day
	}
	return local.Format("Monday, ") + day
}

// maxQuoted is how much of a quoted text is shown.
const maxQuoted = 240

func newNoticeItem(n exchange.Notification) noticeItem {
	i := noticeItem{Notification: n}
	actor := "Aliquot"
	if n.Actor != nil {
		actor = n.Actor.Name()
	}
	if n.News != nil {
		i.Head, i.More, i.Address = strings.TrimSuffix(exchange.DescribeAnnouncement(*n.News, actor,
			n.OrganizationName), "."), n.News.Detail.Text, newsAddress(n)
		i.look = newsLook(n.News.Kind)
	} else {
		i.Head, i.More = actor+" "+exchange.DescribeAction(n.Event, "", n.Title), n.Event.Detail.Text
		if i.More == "" {
			i.More = n.Event.Detail.Reason
		}
		if n.Event.Kind != exchange.Deleted {
			i.Address = "/requests/" + strconv.FormatInt(n.Event.RequestID, 10)
		}
		i.look = lookOf(n.Event).Notice
	}
	if letters := []rune(i.More); len(letters) > maxQuoted {
		i.More = string(letters[:maxQuoted]) + " …"
	}
	return i
}

// newsAddress returns the page that an announcement is about.
func newsAddress(n exchange.Notification) string {
	lab := "/labs/" + strconv.FormatInt(n.Organization, 10)
	switch n.News.Kind {
	case exchange.Invited:
		return "/labs"
	case exchange.JoinAsked, exchange.InvitationTaken, exchange.InvitationRefused:
		return lab + "/people"
	case exchange.WebhookOff:
		return lab + "/webhooks"
	case exchange.SearchMatched:
		return matchAddress(n.News.Detail)
	}
	return lab
}

// matchAddress returns the address of the one new material in a saved search, or of the searches.
func matchAddress(d exchange.AnnouncementDetail) string {
	if d.Count == 1 && len(d.Materials) == 1 {
		return "/catalog/" + strconv.FormatInt(d.Materials[0].ID, 10)
	}
	return "/account/searches"
}

// readNotice marks one notification as read or unread.
func (v *pageRequest) readNotice() (response, error) {
	id, err := v.id("id")
	if err != nil {
		return response{}, err
	}
	read := v.PostFormValue("unread") == ""
	if err := v.app.MarkRead(v.Context(), v.who.Actor, v.who.ID, id, exchange.Some(read), nil); err != nil {
		return response{}, err
	}
	return seeOther(v.noticesBack()), nil
}

// readNotices marks as read all notifications up to the newest that the visitor saw; newer ones stay unread.
func (v *pageRequest) readNotices() (response, error) {
	until := inboxNumber(v.PostFormValue("until"))
	if until == nil {
		return seeOther(v.noticesBack()), nil
	}
	if err := v.app.MarkAllRead(v.Context(), v.who.Actor, v.who.ID, *until); err != nil {
		return response{}, err
	}
	return seeOther(v.noticesBack()).saying("All are marked as read."), nil
}

func (v *pageRequest) noticesBack() string {
	if back := ours(v.PostFormValue("back")); back != "/" {
		return back
	}
	return "/notifications"
}
