package client_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aliquot/client"
)

func TestClient_RefusalIsAnError(t *testing.T) {
	t.Parallel()
	body := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Token alq_x" || r.Header.Get("Idempotency-Key") != "k" ||
			r.URL.Path != "/v1/grants" {
			t.Errorf("%s with %v", r.URL.Path, r.Header)
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(body))
	}))
	defer s.Close()
	c, err := client.New(s.URL+"/v1", "alq_x", nil)
	if err != nil {
		t.Fatal(err)
	}
	for sent, want := range map[string]string{
		`{"error": "Please correct: b, title.", "error_code": "INVALID_INPUT", "fields": {"title": ["is required"], "b": ["x", "y"]}, "request_id": "R"}`: "Please correct: b, title. b: x, y. title: is required. (INVALID_INPUT, request R)",
		`<html>Bad Gateway</html>`: `POST /v1/grants: 400 Bad Request, and no error of Aliquot: "<html>Bad Gateway</html>"`,
		`{}`:                       `POST /v1/grants: 400 Bad Request, and no error of Aliquot: "{}"`,
	} {
		body = sent
		_, err := c.CreateGrantWithResponse(t.Context(), client.GrantNew{Title: ""}, client.IdempotencyKey("k"))
		if err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", sent, err, want)
		}
		var refusal *client.Error
		if ours := strings.HasPrefix(want, "Please"); errors.As(err, &refusal) != ours || ours &&
			refusal.Code != client.ErrorCodeINVALIDINPUT {
			t.Errorf("%s: %#v", sent, err)
		}
	}
}

func TestClient_TimesKeepTheirFormat(t *testing.T) {
	t.Parallel()
	var at client.Time
	const form = `"2020-05-11T14:13:39+0000"`
	if err := json.Unmarshal([]byte(form), &at); err != nil || at.Unix() != 1589206419 {
		t.Errorf("%v, %v", at, err)
	}
	at.Time = at.In(time.FixedZone("", 3600))
	if raw, err := json.Marshal(at); err != nil || string(raw) != form {
		t.Errorf("%s, %v", raw, err)
	}
	for _, wrong := range []string{`"2020-05-11"`, `7`, `""`} {
		if err := json.Unmarshal([]byte(wrong), &at); err == nil {
			t.Errorf("%s is no time", wrong)
		}
	}
}

func TestClient_NextIsTheCursorOfTheLinkHeader(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		`</v1/grants?cursor=MTI&limit=2>; rel="next"`: "MTI",
		`</v1/grants?limit=2>; rel="next"`:            "",
		`</v1/grants?cursor=MTI>; rel="prev"`:         "",
		`<%>; rel="next"`:                             "",
		"":                                            "",
	} {
		got := client.Next(&http.Response{Header: http.Header{"Link": {link}}})
		if got == nil && want != "" || got != nil && *got != want {
			t.Errorf("%s: %v, want %q", link, got, want)
		}
	}
}
