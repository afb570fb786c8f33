package rest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"

	"github.com/google/uuid"
)

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"title": "A", "category": "DATASET", "organization_id": {"id": "7"}, "additional_metadata": {"accession_code": "gse1", "x": [1.50]}}`,
		`{"status": "OPEN", "address": {"id": 1}, "assigned_to": "018f0000-0000-7000-8000-000000000000", "is_active": null}`,
		`{"title": "\ud800\u0000", "organisms": ["a", null], "organism": 1, "embargo_date": "2026-02-30"}`, `{"a":` +
			strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
		"{\"title\":\"\\\"\u2028<b>\"}", `{"material": 1e400, "title": {"title": {}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		told := func(err error) {
			t.Helper()
			if e, ok := errors.AsType[*exchange.Error](err); err != nil &&
				(!ok || e.Code != exchange.InvalidInput && e.Code != exchange.MalformedJSON) {
				t.Errorf("%q: %v", raw, err)
			}
		}
		var m material.Patch
		err := DecodeObject(raw, &m, true)
		told(err)
		if err == nil {
			made, err := m.Create()
			told(err)
			if err == nil {
				if shown, err := json.Marshal([]any{made.Metadata}); err != nil || !json.Valid(shown) {
					t.Errorf("%q was taken and cannot be shown: %v", raw, err)
				}
				again := material.Patch{Title: exchange.Some(made.Title),
					Metadata: exchange.Some(made.Metadata), Organisms: m.Organisms}
				if kept, err := again.Patch(made); err != nil || string(kept.Metadata) != string(made.Metadata) ||
					kept.Title != made.Title {
					t.Errorf("%q: what was kept is not kept again: %q, then %q, %v", raw, made.Metadata, kept.Metadata,
						err)
				}
			}
		}
		var r request.Patch
		err = DecodeObject(raw, &r, true)
		told(err)
		if err == nil {
			_, _, err = request.Request{Status: request.Open, Active: true}.Apply(request.Roles{Admin: true},
				uuid.Max, r, nil, request.Terms{}, time.Unix(0, 0))
			if e, ok := errors.AsType[*exchange.Error](err); err != nil && !ok {
				t.Errorf("%q: %v", raw, e)
			}
		}
	})
}

func FuzzAuthorization(f *testing.F) {
	for _, seed := range []string{"", " ", "Token x", "token\tx ", "Token", "Bearer x", "Token x y", "Token \u00a0x",
		"Tokenx", strings.Repeat("Token ", 100)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		token, ok, err := bearerToken(header)
		if ok != (token != "") || ok && err != nil || !ok && err == nil && header != "" {
			t.Errorf("%q: %q, %v, %v", header, token, ok, err)
		}
		if err != nil && exchange.CodeOf(err) != exchange.NotAuthenticated {
			t.Errorf("%q: %v", header, err)
		}
		if ok && (strings.ContainsAny(token, " \t") || !strings.HasSuffix(strings.TrimSpace(header), token)) {
			t.Errorf("%q gave %q", header, token)
		}
	})
}
