package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/signing/signingtest"
	"aliquot/internal/exchange"

	"github.com/PuerkitoBio/goquery"
)

// TestApprovals_AreDraftedSignedAndWithdrawnByAnOfficer on one page, which says what is wrong.
func TestApprovals_AreDraftedSignedAndWithdrawnByAnOfficer(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		names, olivia := w.furnished(), w.as("olivia")
		path := names.Replace("/offices/{institution}/approvals")
		if !olivia.get(path).want(http.StatusOK).has(".empty") {
			w.Error("a new institution has approvals")
		}
		now := time.Now().UTC()
		draft := []string{"direction", "PROVIDE", "largest_bsl", "1", "human", "NO", "from", now.Format(time.DateOnly),
			"until", now.AddDate(1, 0, 0).Format(time.DateOnly), "families", "UBMTA_LETTER"}
		wrong := olivia.post(path, draft...).want(http.StatusUnprocessableEntity)
		if !wrong.has("#f-categories.wrong") || !wrong.has("input[name=families][value=UBMTA_LETTER][checked]") {
			w.Error("the page does not say that the categories are missing, or forgot what was typed")
		}
		olivia.post(path, append(draft, "categories", "PLASMID")...).want(http.StatusSeeOther)
		form := olivia.get(path).want(http.StatusOK).doc.Find(".lines form").First()
		one, version := form.AttrOr("action", ""), form.Find("[name=version]").AttrOr("value", "")
		olivia.post(one, "do", "sign", "version", version).want(http.StatusSeeOther)
		if text := olivia.get(path).doc.Find(".lines").Text(); !strings.Contains(text, "Signs letters") ||
			!strings.Contains(text, "AgreementsImplementing letter of the UBMTA") {
			w.Errorf("signed: %s", text)
		}
		if olivia.get(path).has(".lines .note") {
			w.Error("an approval of a form with a master agreement is said to sign nothing")
		}
		olivia.post(path, append(draft, "categories", "PLASMID", "families", "SIMPLE_LETTER")...).want(http.StatusSeeOther)
		if note := olivia.get(path).text(".lines .note"); !strings.HasPrefix(note, "It signs no ") {
			w.Errorf("an approval of a form without one: %q", note)
		}
		olivia.post(one, "do", "withdraw").want(http.StatusSeeOther)
		device := w.device(olivia)
		olivia.post(path, append(draft, "categories", "PLASMID")...).want(http.StatusSeeOther)
		one = olivia.get(path).doc.Find(".lines form").First().AttrOr("action", "")
		asked := olivia.post(one, "do", "passkey", "version", "1").want(http.StatusOK).doc.Find("[data-passkey=get]")
		if !strings.Contains(asked.Text(), `"letter":"Standing approval `) {
			w.Errorf("what the device signs: %s", asked.Text())
		}
		if again := olivia.post(one, "version", "1", "credential", "{}").want(http.StatusUnprocessableEntity); !strings.
			Contains(again.text("main"), "The device’s answer was not accepted") {
			w.Errorf("an answer that proves nothing: %s", again.text("main"))
		}
		olivia.post(one, "version", "1", "credential", string(device.Get(w.T, []byte(asked.AttrOr("data-options", "")),
			"http://example.org"))).want(http.StatusSeeOther)
		if text := olivia.get(path).doc.Find(".lines li").First().Text(); !strings.Contains(text, "with a passkey on") {
			w.Errorf("signed with a passkey: %s", text)
		}
		if text := olivia.get(path).doc.Find(".lines").Text(); !strings.Contains(text, "Withdrawn on") {
			w.Errorf("withdrawn: %s", text)
		}
	})
}

// TestAskAndSign_IsOfferedWhereItWorks: once others than the requester know where they are, and the lab stated the facts.
func TestAskAndSign_IsOfferedWhereItWorks(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		josiah, ada, lab := w.as("josiah"), w.as("ada"), w.as("0000-0000-0000-0503")
		plasmid := w.material("pUC19").ID
		path := fmt.Sprintf("/catalog/%d/request", plasmid)
		offered := func(why string, want bool) {
			w.Helper()
			if josiah.get(path).want(http.StatusOK).has("input[name=sign_agreement]") != want {
				w.Errorf("%s: offered %t", why, !want)
			}
		}
		offered("by their own word", false)
		office := josiah.get("/offices?q=sample").doc.Find(".lines a").AttrOr("href", "")
		claims := ada.get(office + "/authority").want(http.StatusOK).doc.Find(`form[action*="/affiliations/"]`)
		claims.Each(func(_ int, form *goquery.Selection) {
			ada.post(form.AttrOr("action", ""), "do", "confirm").want(http.StatusSeeOther)
		})
		offered("nobody stated the facts", false)
		facts := requirement.Stating{Encumbrances: exchange.NullOf([]requirement.Encumbrance{})}
		for name, value := range map[string]string{"bsl": "1", "genetically_modified": "NO", "select_agent": "NO",
			"plant_genetic_resource": "NO", "export_class": "NO", "proprietary": "NO"} {
			*facts.Others()[name].(*exchange.Opt[string]) = exchange.Some(value)
		}
		_, err := w.app.Requirements.StateFacts(w.Context(), lab.actor, plasmid, facts, nil)
		w.must(err)
		offered("all is known", true)
	})
}

// device returns a device with a passkey that somebody registered on the page for it.
func (w *world) device(v *visitor) *signingtest.Device {
	w.Helper()
	device := signingtest.New(w.T)
	options := v.post("/account/passkeys/new", "name", "Laptop").want(http.StatusOK).
		doc.Find("[data-passkey=create]").AttrOr("data-options", "")
	v.post("/account/passkeys", "name", "Laptop", "credential",
		string(device.Create(w.T, []byte(options), "http://example.org"))).want(http.StatusSeeOther)
	return device
}
