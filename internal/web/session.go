package web

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"aliquot/internal/app/core"
	"aliquot/internal/server"
	"aliquot/internal/web/ui"
)

// recognize identifies the visitor. An ended session counts as none.
func (v *pageRequest) recognize() error {
	token := v.CookieValue(ui.SessionCookie)
	if token == "" {
		return nil
	}
	who, err := v.app.Visitor(v.Context(), token)
	if err != nil {
		return err
	}
	if who.Anonymous() {
		v.ForgetCookie(ui.SessionCookie)
		if v.limits != nil {
			v.limits.Refused(core.Hash(token), v.RemoteAddr)
		}
		return nil
	}
	v.Who = who
	server.SetUser(v.W, who.ID.String())
	if v.limits != nil {
		v.limits.Proved(core.Hash(token), who.ID)
	}
	return nil
}

// noteLives is long enough for a redirect, even to a server that is busy.
const noteLives = time.Minute

func (v *pageRequest) remember(n ui.Note) {
	text, _ := json.Marshal(n) // such a struct always marshals
	v.SetCookie(ui.NoteCookie, base64.RawURLEncoding.EncodeToString(text), noteLives)
}

// recall returns the message for this page and removes it. What script loads gets none: the page that somebody looks at
// does not show it.
func (v *pageRequest) recall() *ui.Note {
	if to := v.Request.Header.Get("Sec-Fetch-Dest"); to != "" && to != "document" {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(v.CookieValue(ui.NoteCookie))
	var n ui.Note
	if err != nil || json.Unmarshal(text, &n) != nil || n.Text == "" {
		return nil
	}
	v.ForgetCookie(ui.NoteCookie)
	return &n
}
