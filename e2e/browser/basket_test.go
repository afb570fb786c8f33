package browser

import (
	"fmt"

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
