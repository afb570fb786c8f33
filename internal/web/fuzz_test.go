package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"aliquot/internal/exchange/person"
	"aliquot/internal/identity"
	"aliquot/internal/store/storetest"
	"aliquot/internal/web"
)

var place = regexp.MustCompile(`\{[^}]+\}`)

// formTypes are what a form may say that it is.
var formTypes = []string{"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "multipart/form-data",
	"text/plain", "", "application/x-www-form-urlencoded; charset=\xff"}

// FuzzForms sends anything to every form of the pages: whatever it is, the answer is never an error of ours.
func FuzzForms(f *testing.F) {
	a := newApp(openDemo(f, storetest.SQLite), slog.New(slog.DiscardHandler))
	mux := http.NewServeMux()
	if err := web.Mount(mux, web.Config{App: a}); err != nil {
		f.Fatal(err)
	}
	var tokens []string
	for _, role := range roles {
		if role.person == "" {
			continue
		}
		id := people[role.person]
		if id == "" {
			id = role.person
		}
		signed, err := a.Accounts.SignIn(f.Context(), identity.Person{RegistryID: id, GivenName: "A", FamilyName: "B"},
			person.Registration{})
		if err != nil {
			f.Fatal(err)
		}
		tokens = append(tokens, signed.Token)
	}
	var forms []string
	for _, pattern := range web.Patterns() {
		if path, is := strings.CutPrefix(pattern, "POST "); is && path != "/signout" {
			forms = append(forms, path)
		}
	}
	const multi = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../a\x00.pdf\"\r\nContent-Type: " +
		"text/html\r\n\r\n%PDF-1.7\r\n--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\xff\r\n--x--\r\n"
	for form := range forms {
		for _, body := range []string{"", "%zz=%",
			"title=%00&text=%ff&status=APPROVED&reason=x&quantity=-1&address=9999999999999999999&draft=ask+1",
			"id=1&id=2&member=x&email=a%0d%0aBcc:b&category=CELL_LINE&organization=1&until=2026-02-30&days=1e9&url=javascript:alert(1)", strings.Repeat("a=b&", 2000)} {
			f.Add(uint8(form), uint8(form), uint16(1+form%30), uint8(0), body)
		}
		for kind := range formTypes {
			f.Add(uint8(form), uint8(2), uint16(1), uint8(kind), multi)
		}
		f.Add(uint8(form), uint8(3), uint16(2), uint8(1), "--x\r\n\r\n")
	}
	f.Fuzz(func(t *testing.T, form, who uint8, id uint16, kind uint8, body string) {
		path := place.ReplaceAllString(forms[int(form)%len(forms)], strconv.Itoa(int(id)))
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://example.org"+path,
			strings.NewReader(body))
		r.Header.Set("Content-Type", formTypes[int(kind)%len(formTypes)])
		if n := int(who) % (len(tokens) + 1); n < len(tokens) {
			r.AddCookie(&http.Cookie{Name: "__Host-session", Value: tokens[n]})
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code >= 500 && w.Code != http.StatusServiceUnavailable {
			t.Errorf("POST %s %q: %d", path, body, w.Code)
		}
	})
}
