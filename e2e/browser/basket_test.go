package browser

import (
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/request"
)

// basketStates are the states of a basket and of requests that were sent together.
func (s *site) basketStates() []state {
	s.Helper()
	ctx, josiah := s.Context(), s.actor("josiah")
	for _, title := range []string{"Quokka fibroblasts", "Quokka serum", "Quokka liver"} {
		_, err := s.app.Groups.AddToBasket(ctx, josiah, int64(s.newMaterial(title)))
		s.must(err)
	}
	s.must(s.app.Materials.ArchiveMaterial(ctx, s.actor("olivia"), s.material("Quokka liver"), nil))
	group, err := s.app.Groups.CreateRequestGroup(ctx, josiah, request.NewGroup{
		Materials: exchange.Some([]exchange.Ref{s.newMaterial("Wombat skin"), s.newMaterial("Wombat fur")})})
	s.must(err)
	_, err = s.app.Requests.SendMessage(ctx, josiah, group.Requests[1].ID,
		request.TextBody{Text: exchange.Some("Both on dry ice, please.")})
	s.must(err)
	form := fmt.Sprintf("/basket/%d", s.lab("Sample Cell Bank"))
	together := fmt.Sprintf("/requests/%d", group.Requests[0].ID)
	return []state{
		{"josiah", "/basket", nil, 200},
		{"josiah", form, nil, 200},
		{"josiah", form, sends(form, "address=new&name="), 422},
		{"josiah", together, nil, 200},
		{"mario", together, nil, 200},
		{"mario", fmt.Sprintf("/requests?turn=all&group=%d", group.ID), nil, 200},
	}
}

// TestBasket_FromTheSearchToOneConversation: two materials go into the basket from the search and from a page, one form
// sends them, and the lab answers once on one of the two requests and accepts both; with script and without.
func TestBasket_FromTheSearchToOneConversation(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]bool{"script": true, "no script": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.newMaterial("Quokka fibroblasts")
			s.newMaterial("Quokka serum")
			me, lab := s.open("josiah"), s.open("mario")
			if !script {
				me.scriptless()
				lab.scriptless()
			}
			me.visit("/catalog?q=Quokka")
			me.followIn("main", "Add to basket Quokka fibroblasts")
			me.says("Quokka fibroblasts is in your basket.")
			me.followIn("main", "Quokka serum")
			me.followIn("main", "Add to basket")
			me.followIn("header.bar", "Basket, 2 materials")
			me.followIn("main", "Request 2 materials")
			me.fill("Quantity of Quokka serum", "3 tubes")
			me.fill("Note to the lab", "Both on dry ice, please.")
			me.followIn("main", "Send 2 requests")
			me.says("2 requests sent.")
			me.followIn("main", "Quokka serum")
			me.says("Sent together")
			me.fill("Message", "When could you send them?")
			me.followIn("#message", "Send message")

			lab.visit("/requests")
			lab.followIn("main", "Quokka fibroblasts")
			lab.says("When could you send them?")
			lab.followIn("#together", "Accept both")
			lab.says("2 requests will be accepted in 10 seconds.")
		})
	}
}
