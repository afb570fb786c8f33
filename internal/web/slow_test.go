package web_test

import (
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange/category"
	"aliquot/internal/store/storetest"
)

// arriving signals when the first bytes of a body are read: who sends it is known by then.
type arriving struct {
	io.ReadCloser
	once  sync.Once
	reads chan struct{}
}

func (a *arriving) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if n > 0 {
		a.once.Do(func() { close(a.reads) })
	}
	return n, err
}

// slowly sends a form with a file to a real server. When the page reads it, and while most of the file is not sent yet,
// meanwhile happens.
func (v *visitor) slowly(path string, form url.Values, field string, meanwhile func()) (status int, location string) {
	v.Helper()
	reads := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = &arriving{ReadCloser: r.Body, reads: reads}
		v.pages.ServeHTTP(w, r)
	}))
	defer server.Close()
	body, out := io.Pipe()
	parts := multipart.NewWriter(out)
	go func() {
		err := func() error {
			for name, values := range form {
				for _, value := range values {
					if err := parts.WriteField(name, value); err != nil {
						return err
					}
				}
			}
			file, err := parts.CreateFormFile(field, "a.pdf")
			if err != nil {
				return err
			}
			if _, err := io.WriteString(file, paper); err != nil {
				return err
			}
			<-reads
			meanwhile()
			if _, err := io.WriteString(file, strings.Repeat("\n% more of it", 20_000)); err != nil {
				return err
			}
			return parts.Close()
		}()
		out.CloseWithError(err) // nil is the end
	}()
	r, err := http.NewRequestWithContext(v.Context(), http.MethodPost, server.URL+path, body)
	v.must(err)
	r.Header.Set("Content-Type", parts.FormDataContentType())
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer, err := http.DefaultTransport.RoundTrip(r) // which follows nothing
	v.must(err)
	_, err = io.Copy(io.Discard, answer.Body)
	v.must(err)
	v.must(answer.Body.Close())
	return answer.StatusCode, answer.Header.Get("Location")
}

// kept is what uploads and the forms around them change.
func (w *world) kept() string {
	w.Helper()
	var all []string
	pool := storetest.SQL(w, w.db)
	for _, query := range []string{"SELECT COUNT(*) FROM attachments", "SELECT COUNT(*) FROM materials",
		"SELECT COUNT(*) FROM request_events", "SELECT COUNT(*) FROM jobs",
		"SELECT MAX(updated_at) FROM attachments", "SELECT MAX(updated_at) FROM materials",
		"SELECT MAX(updated_at) FROM material_requests"} {
		var value any
		w.must(pool.QueryRowContext(w.Context(), query).Scan(&value))
		all = append(all, fmt.Sprint(value))
	}
	return strings.Join(all, " ")
}

// TestUpload_RightsThatEndWhileItIsSentChangeNothing on every page that takes files: the session was signed out, or its
// person lost their labs, between the first byte of the form and the last.
func TestUpload_RightsThatEndWhileItIsSentChangeNothing(t *testing.T) {
	t.Parallel()
	each(t, func(w *world) {
		lab := w.material("HeLa").OrganizationID
		edit, request := fmt.Sprintf("/catalog/%d/edit", w.material("HT-29").ID), w.at("PDX model BL0269-F402")
		for name, page := range map[string]struct {
			who, path, field string
			form             func(v *visitor) url.Values
			refusal          int // of somebody who lost their labs; 0: it is their own
		}{
			"a document of a lab": {"mario", fmt.Sprintf("/labs/%d/documents", lab), "file", nil,
				http.StatusForbidden},
			"a document of a request": {"josiah", request + "/documents/irb", "file", nil, 0},
			"a listing": {"mario", edit, "mta_file", func(v *visitor) url.Values {
				form := v.get(edit).formOf("#edit")
				form.Set("title", "Changed in flight")
				return form
			}, http.StatusUnprocessableEntity},
			"a new listing": {"mario", "/share/new", "mta_file", func(v *visitor) url.Values {
				form := v.get("/share/new?category=PLASMID").formOf("#edit")
				typed(form, must(category.Get("PLASMID")))
				return form
			}, http.StatusUnprocessableEntity},
		} {
			form := url.Values{}
			pool := storetest.SQL(w, w.db)
			for _, end := range []string{"session", "labs", "none"} {
				if end == "labs" && page.refusal == 0 {
					continue
				}
				v := w.as(page.who)
				if page.form != nil {
					form = page.form(v)
				}
				before := w.kept()
				status, location := v.slowly(page.path, form, page.field, func() {
					var err error
					switch end {
					case "session":
						_, err = pool.ExecContext(w.Context(), "DELETE FROM tokens WHERE hash = $1",
							core.Hash(v.cookies["__Host-session"]))
					case "labs":
						_, err = pool.ExecContext(w.Context(),
							"UPDATE memberships SET left_at = created_at WHERE user_id = $1 AND left_at IS NULL",
							v.actor.ID)
					}
					if err != nil {
						t.Error(err)
					}
				})
				same := before == w.kept()
				switch {
				case end == "session" &&
					(status != http.StatusSeeOther || !strings.HasPrefix(location, "/signin") || !same),
					end == "labs" && (status != page.refusal || !same),
					end == "none" && (status != http.StatusSeeOther || strings.HasPrefix(location, "/signin") || same):
					t.Errorf("%s, %s ended while it was sent: %d %s, nothing changed: %v", name, end, status, location,
						same)
				}
				if end == "labs" {
					_, err := pool.ExecContext(w.Context(), "UPDATE memberships SET left_at = NULL WHERE user_id = "+
						"$1 AND left_at = created_at", v.actor.ID)
					w.must(err)
				}
			}
		}
	})
}
