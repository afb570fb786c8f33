package web

import (
	"context"
	"html/template"
	"net/http"

	"aliquot/internal/app"
	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange"
)

// subscriptions serves the page that the link at the end of each mail leads to.
type subscriptions struct {
	app  *app.App
	page *template.Template
}

// subscription is the content of the page.
type subscription struct {
	Title, Lead string
	Token       string // "": there is nothing to do
	On          bool
}

// maxToken bounds the body of a form: a token and a word.
const maxToken = 4 << 10

// ServeHTTP shows which mail a link is about, and stops or resumes it. A mail program's one-click unsubscribe
// (RFC 8058) is a POST to the address of the link itself, whose body names List-Unsubscribe. Whoever has the
// link may do this, signed in or not: its token is the proof.
func (s subscriptions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, HEAD, POST")
		http.Error(w, "This page accepts GET, HEAD and POST.", http.StatusMethodNotAllowed)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxToken)
	token := r.FormValue("token") // from the form, or from the query
	read := s.app.Notifications.Subscription
	if r.Method == http.MethodPost {
		read = func(ctx context.Context, token string) (notifier.Subscription, error) {
			return s.app.Notifications.Subscribe(ctx, token, r.PostFormValue("mail") == "on")
		}
	}
	found, err := read(r.Context(), token)
	status, shown := http.StatusOK, tellSubscription(found, r.Method == http.MethodPost)
	shown.Token = token
	switch exchange.CodeOf(err) {
	case exchange.NotFound:
		status = http.StatusNotFound
		shown = subscription{Title: "This link is incomplete",
			Lead: "Open the latest e-mail you received and use the link at its end."}
	case exchange.StorageFull:
		status = http.StatusInsufficientStorage
		shown = subscription{Title: "The server’s storage is full",
			Lead: "Nothing was changed. Please try again later."}
	case exchange.Unavailable:
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "5")
		shown = subscription{Title: "Try again in a moment", Lead: "Nothing was changed."}
	default:
		if err != nil {
			status = http.StatusInternalServerError
			s.app.Log.ErrorContext(r.Context(), "unsubscribe", "error", err)
			shown = subscription{Title: "Something went wrong", Lead: "Nothing was changed. The error was logged."}
		}
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer") // the address contains the token
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := s.page.Execute(w, shown); err != nil {
		s.app.Log.WarnContext(r.Context(), "unsubscribe", "error", err)
	}
}

func tellSubscription(s notifier.Subscription, changed bool) subscription {
	what, goes, not := "E-mail about "+s.Category.Words(), "goes", "does not go"
	if s.Category == "" {
		what, goes, not = "Digests", "go", "do not go"
	}
	out := subscription{Title: "E-mail from Aliquot", On: s.On}
	switch {
	case changed && s.On:
		out.Title, out.Lead = "You get it again", what+" "+goes+" to "+s.User.Email+" again."
	case s.On:
		out.Lead = what + " " + goes + " to " + s.User.Email + "."
	case changed:
		out.Title, out.Lead = "It is stopped", what+" no longer "+goes+" to "+s.User.Email+"."
	default:
		out.Lead = what + " " + not + " to " + s.User.Email + "."
	}
	return out
}
