package web_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"aliquot/internal/exchange/material"
)

// TestInquiryPages_FromTheQuestionToTheRequest: the lab finds the question where its requests are, and the answer leads
// to the form, which names the inquiry, as the page of the request does for both sides.
func TestInquiryPages_FromTheQuestionToTheRequest(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		lab, me := w.as("mario"), w.as("josiah")
		id := lab.listed("Quokka serum", material.Patch{})
		page := fmt.Sprintf("/catalog/%d", id)
		if me.get(page).doc.Find("a[href='"+page+"/inquiry']").Length() != 1 {
			w.Error("the page of a material does not lead to its lab")
		}
		if lab.get(page).doc.Find("a[href='"+page+"/inquiry']").Length() != 0 {
			w.Error("a member is offered to ask their own lab")
		}
		if empty := me.form(page+"/inquiry", url.Values{"text": {" "}}); empty.status != 422 {
			w.Errorf("an empty question answered %d", empty.status)
		}
		asked := me.form(page+"/inquiry", url.Values{"text": {"Which passage?"}})
		if !strings.HasPrefix(asked.location, "/inquiry/") {
			w.Fatalf("the question answered %d, %s", asked.status, asked.location)
		}
		me.get("/inquiry").says("Quokka serum", "Which passage?", "Waiting for the lab")
		again := me.form(page+"/inquiry", url.Values{"text": {"And which lot?"}})
		again.says("has not answered your last inquiry", "And which lot?")
		lab.get("/requests").says("Inquiries 1")
		lab.get("/").says("Inquiries to answer: 1")
		lab.get("/inquiry").says("To answer", "Which passage?")
		lab.form(asked.location, url.Values{"text": {"Passage 12."}})
		late := lab.form(asked.location, url.Values{"text": {"Passage 14."}})
		late.says("was already answered", "Passage 12.", "What you wrote was not sent", "Passage 14.")
		me.get(asked.location).says("Passage 12.", "Request this material")
		form := fmt.Sprintf("%s/request?inquiry=%s", page, strings.TrimPrefix(asked.location, "/inquiry/"))
		me.get(form).says("Which passage?", "Passage 12.")
		typed := me.get(form).formOf("#request")
		typed.Set("name", "Josiah")
		typed.Set("address", "new")
		for name, value := range map[string]string{"address_line_1": "1 Main St", "locality": "Basel", "country": "CH",
			"postal_code": "4051", "requester_abstract": "To map receptors."} {
			typed.Set(name, value)
		}
		sent := me.form(page+"/request", typed)
		if !strings.HasPrefix(sent.location, "/requests/") {
			w.Fatalf("the request answered %d, %s", sent.status, sent.location)
		}
		for _, v := range []*visitor{me, lab} {
			v.get(sent.location).says("Which passage?", "Passage 12.")
			v.get(asked.location).says("request " + strings.TrimPrefix(sent.location, "/requests/"))
		}
	})
}
