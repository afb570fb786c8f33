package ui

import (
	"fmt"
	"strconv"
	"strings"

	"aliquot/internal/exchange/notify"
	"aliquot/internal/exchange/request"
)

// Tab is an entry of a list's navigation.
type Tab struct {
	Words, Address string
	Count          int64
	Hot, Open      bool
}

// NoticeItem is a notification as the page shows it.
type NoticeItem struct {
	notify.Notification
	Look
	Head    string // who did what
	More    string // what was written, or why
	Address string // what it links to; "": nothing
}

// maxQuoted is how much of a quoted text is shown.
const maxQuoted = 240

// NoticeItemOf returns a notification as the page shows it.
func NoticeItemOf(n notify.Notification) NoticeItem {
	i := NoticeItem{Notification: n}
	actor := "Aliquot"
	if n.Actor != nil {
		actor = n.Actor.Name()
	}
	if n.Announcement != nil {
		i.Head, i.More, i.Address = strings.TrimSuffix(notify.DescribeAnnouncement(*n.Announcement, actor,
			n.OrganizationName), "."), n.Announcement.Detail.Text, newsAddress(n)
		i.Look = newsLook(n.Announcement.Kind)
	} else {
		i.Head, i.More = actor+" "+request.DescribeAction(n.Event, "", n.Title), n.Event.Detail.Text
		if i.More == "" {
			i.More = n.Event.Detail.Reason
		}
		if n.Event.Kind != request.Deleted {
			i.Address = "/requests/" + strconv.FormatInt(n.Event.RequestID, 10)
		}
		i.Look = LookOf(n.Event).Notice
	}
	i.More = Excerpt(i.More)
	return i
}

// Excerpt returns the beginning of a text.
func Excerpt(text string) string {
	if letters := []rune(text); len(letters) > maxQuoted {
		return string(letters[:maxQuoted]) + " …"
	}
	return text
}

// newsAddress returns the page that an announcement is about.
func newsAddress(n notify.Notification) string {
	lab := "/labs/" + strconv.FormatInt(n.Organization, 10)
	switch n.Announcement.Kind {
	case notify.Invited:
		return "/labs"
	case notify.JoinAsked, notify.InvitationTaken, notify.InvitationRefused:
		return lab + "/people"
	case notify.WebhookOff:
		return lab + "/webhooks"
	case notify.InquiryMade, notify.InquiryAnswered:
		return "/inquiry/" + strconv.FormatInt(n.Announcement.Detail.Inquiry, 10)
	case notify.AgreementSent, notify.AgreementSigned, notify.AgreementDeclined, notify.AgreementWithdrawn:
		return LetterPath(n.Announcement.Detail.Agreement)
	case notify.SearchMatched:
		return matchAddress(n.Announcement.Detail)
	case notify.RecordFaulty:
		return "/admin/jobs"
	case notify.DutyDue:
		return LetterPath(n.Announcement.Detail.Agreement) + "#duties"
	case notify.PermitEnding:
		return fmt.Sprintf("/permit#permit-%d", n.Announcement.Detail.Permit)
	case notify.FileInfected:
		return "/account/storage"
	case notify.PasskeyAdded, notify.PasskeyRemoved:
		return "/account/passkeys"
	case notify.SignInLinked, notify.SignInUnlinked:
		return "/account/sessions"
	case notify.ErasureAsked:
		return "/account/erasure"
	}
	return lab
}

// matchAddress returns the address of the one new material in a saved search, or of the searches.
func matchAddress(d notify.AnnouncementDetail) string {
	if d.Count == 1 && len(d.Materials) == 1 {
		return "/catalog/" + strconv.FormatInt(d.Materials[0].ID, 10)
	}
	return "/account/searches"
}
