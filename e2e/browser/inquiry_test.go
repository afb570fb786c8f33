package browser

import (
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
)

// inquiryStates are the states of inquiries: with an answer and without, for both sides, and refused ones.
func (s *site) inquiryStates() []state {
	s.Helper()
	ctx, josiah := s.Context(), s.actor("josiah")
	text := func(t string) request.TextBody { return request.TextBody{Text: exchange.Some(t)} }
	open, err := s.app.Inquiries.Ask(ctx, josiah, int64(s.newMaterial("Numbat skin")), text("Which passage would I get?"))
	s.must(err)
	answered, err := s.app.Inquiries.Ask(ctx, josiah, int64(s.newMaterial("Numbat fur")), text("Is it below passage 20?"))
	s.must(err)
	_, err = s.app.Inquiries.Answer(ctx, s.actor("mario"), answered.ID, text("It is passage 12."))
	s.must(err)
	ask := fmt.Sprintf("/catalog/%d/inquiry", open.MaterialID)
	path := func(i request.ShownInquiry) string { return fmt.Sprintf("/inquiry/%d", i.ID) }
	return []state{
		{"josiah", ask, nil, 200},
		{"josiah", ask, sends(ask, "text=Another"), 422},
		{"mario", ask, nil, 200},
		{"josiah", "/inquiry", nil, 200},
		{"mario", "/inquiry", nil, 200},
		{"mario", "/inquiry?show=answered", nil, 200},
		{"gabriel", "/inquiry", nil, 200},
		{"josiah", path(open), nil, 200},
		{"mario", path(open), nil, 200},
		{"mario", path(open), sends(path(open), "text="), 422},
		{"josiah", path(answered), nil, 200},
		{"mario", path(answered), sends(path(answered), "text=Passage+14"), 422},
		{"josiah", fmt.Sprintf("/catalog/%d/request?inquiry=%d", answered.MaterialID, answered.ID), nil, 200},
	}
}

// TestInquiry_FromTheQuestionToTheRequest: a question on the page of a material, its answer from the lab's inbox, and
// the request from the answer; with script and without.
func TestInquiry_FromTheQuestionToTheRequest(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]bool{"script": true, "no script": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.newMaterial("Quokka serum")
			me, lab := s.open("josiah"), s.open("mario")
			if !script {
				me.scriptless()
				lab.scriptless()
			}
			me.visit(fmt.Sprintf("/catalog/%d", s.material("Quokka serum")))
			me.followIn("main", "Ask the lab before you request it")
			me.fill("Your question", "Which lot would I get?")
			me.followIn("main", "Send question")
			me.says("Question sent.")

			lab.visit("/requests")
			lab.followIn("main", "Inquiries 1")
			lab.followIn("main", "Quokka serum")
			lab.fill("Your answer", "Lot 7, of May.")
			lab.followIn("main", "Send answer")
			lab.says("Answer sent.")

			me.visit("/inquiry")
			me.followIn("main", "Quokka serum")
			me.says("Lot 7, of May.")
			me.followIn("main", "Request this material")
			me.says("Lot 7, of May.")
			me.followIn("main", "Send request")
			me.says("Request sent.")
			me.says("Lot 7, of May.")
		})
	}
}
