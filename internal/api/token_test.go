package api_test

import (
	"bytes"
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestTokensAreListedWithoutTheirSecretsAndRevoked(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		first := s.requester()
		second, third := s.again("requester"), s.again("requester")
		list := second.want(200, "GET", s.user("/tokens/"), nil)
		for i, presented := range []bool{false, true, false} {
			if list.List[i].(map[string]any)["presented"] != presented {
				t.Errorf("token %d: %s", i, list.Raw)
			}
		}
		for _, p := range []*person{first, second, third} {
			if bytes.Contains(list.Raw, []byte(p.Token)) || bytes.Contains(list.Raw, []byte(hash(p.Token))) {
				t.Errorf("a secret is shown: %s", list.Raw)
			}
		}
		path := fmt.Sprintf("%s/%d", s.user("/tokens"), idsOf(list.List)[0])
		s.unchanged("a token of another", func() {
			s.member.refused(404, "NOT_FOUND", "DELETE", fmt.Sprintf("/users/%s/tokens/%d", s.member.ID, idsOf(list.List)[0]), nil)
		})
		first.want(204, "DELETE", path, nil)
		third.refused(401, "NOT_AUTHENTICATED", "GET", "/materials", nil)
		first.refused(404, "NOT_FOUND", "DELETE", path, nil)
		first.want(204, "DELETE", s.user("/tokens"), nil)
		for _, p := range []*person{first, second} {
			p.refused(401, "NOT_AUTHENTICATED", "GET", "/materials", nil)
		}
		s.member.want(200, "GET", "/materials", nil)
	})
}
