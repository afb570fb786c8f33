package api_test

import (
	"fmt"
	"testing"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/job"
	"aliquot/internal/job/jobtest"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

func TestSavedSearch_NotifiesItsOwner(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		jobtest.Start(t, job.Config{DB: db, Handlers: s.app.Handlers()})
		made := s.requester().want(201, "POST", s.user("/saved-searches"),
			obj{"search": "zebrafish", "filters": obj{"category": []string{"OTHER"}}})
		path := fmt.Sprintf("%s/%d", s.user("/saved-searches"), made.id())
		if made.at("name") != "zebrafish, Category: OTHER" || made.at("alerts") != true ||
			made.at("address") != "/search/materials?category=OTHER&search=zebrafish" ||
			made.at("feed") != "/search/materials/feed?category=OTHER&search=zebrafish" ||
			made.Header.Get("Location") == "" {
			t.Errorf("made %s", made.Raw)
		}
		material := s.member.want(201, "POST", "/materials",
			obj{"category": "OTHER", "title": "Zebrafish line", "organization_id": s.id}).id()
		s.member.want(201, "POST", "/materials",
			obj{"category": "PLASMID", "title": "Zebrafish plasmid", "organization_id": s.id})
		jobtest.Wait(t, db, jobtest.Enqueue(t, db, catalog.Alert, struct{}{}, job.EnqueueOptions{}), exchange.JobDone)
		news := s.requester().want(200, "GET", s.user("/notifications?kind=search_matched"), nil)
		if len(news.List) != 1 {
			t.Fatalf("notifications: %s", news.Raw)
		}
		want := fmt.Sprintf(`{"count":1,"materials":[{"id":%d,"title":"Zebrafish line"}]}`, material)
		if n := news.List[0].(map[string]any); n["category"] != "saved_search" ||
			n["saved_search"] != float64(made.id()) || encode(n["matches"]) != want || n["actor"] != nil {
			t.Errorf("notification %s", news.Raw)
		}
		if n := s.people["stranger"].want(200, "GET", fmt.Sprintf("/users/%s/notifications", s.people["stranger"].ID),
			nil); len(n.List) != 0 {
			t.Errorf("a stranger was told: %s", n.Raw)
		}
		s.requester().want(204, "DELETE", path, nil)
		s.requester().refused(404, "NOT_FOUND", "GET", path, nil)
	})
}

func TestSavedSearch_AtMostAHundredPerPerson(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := newScene(t, db, exchange.AccessMembers)
		for i := range material.MaxSavedSearches {
			s.requester().want(201, "POST", s.user("/saved-searches"), obj{"search": fmt.Sprint("HeLa ", i)})
		}
		s.requester().refused(409, "CONFLICT", "POST", s.user("/saved-searches"), obj{"search": "HeLa"})
		s.people["admin"].refused(409, "CONFLICT", "POST", s.user("/saved-searches"), obj{"search": "HeLa"})
		s.people["admin"].refused(404, "NOT_FOUND", "POST",
			"/users/018f0000-0000-7000-8000-000000000000/saved-searches", obj{"search": "HeLa"})
		stranger := s.people["stranger"]
		stranger.want(201, "POST", fmt.Sprintf("/users/%s/saved-searches", stranger.ID), obj{"search": "HeLa"})
	})
}
