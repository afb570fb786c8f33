package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/server"
)

// tagOf returns the strong entity tag of a body, which changes with every byte (RFC 9110 section 8.8.3). What depends
// on the caller has another body, so another tag.
func tagOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	tag := [22]byte{0: '"', 21: '"'}
	base64.RawURLEncoding.Encode(tag[1:21], sum[:15])
	return string(tag[:])
}

// matching returns the first tag of a list (If-Match, If-None-Match) that names the representation with a tag,
// compressed or not; "" if none does. * names any, and so does not match a tag that is "". Weak tags count only if weak
// is true (RFC 9110 section 8.8.3.2).
func matching(lists []string, tag string, weak bool) string {
	list := strings.Join(lists, ",")
	if strings.TrimSpace(list) == "*" {
		return tag
	}
	for tag != "" {
		list = strings.TrimLeft(list, " \t,")
		rest, isWeak := strings.CutPrefix(list, "W/")
		if !strings.HasPrefix(rest, `"`) {
			break
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 {
			break
		}
		if one := rest[:end+2]; (weak || !isWeak) && (one == tag || one == server.ZippedTag(tag)) {
			return one
		}
		list = rest[end+2:]
	}
	return ""
}

// answerOne answers GET of one object with its tag, or 304 if the caller has it already.
func (c *Call) answerOne(body any) error {
	if b, ok := body.(Body); ok {
		return c.answerTagged(b)
	}
	return encoded(body, func(raw []byte) error { return c.answerTagged(Body{Type: jsonType, Bytes: raw}) })
}

func (c *Call) answerTagged(b Body) error {
	tag := tagOf(b.Bytes)
	if lists := c.Header["If-Match"]; lists != nil && matching(lists, tag, false) == "" {
		return changed()
	}
	h := c.w.Header()
	h["Etag"] = []string{tag}
	if c.page != "" {
		h["Link"] = []string{"<" + c.page + c.PathValue("id") + `>; rel="alternate"; type="text/html"`}
	}
	if lists := c.Header["If-None-Match"]; lists != nil {
		if had := matching(lists, tag, true); had != "" {
			h["Etag"] = []string{had}
			vary(h)
			c.w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	send(c.w, c.status, b)
	return nil
}

func changed() error {
	return exchange.Errorf(exchange.PreconditionFailed, "Someone changed it since you read it; read it again.")
}

// ifMatch passes If-Match of a PUT, PATCH or DELETE to the use case, which compares it with the object that it has
// locked.
func (a *API) ifMatch(c *Call) {
	lists := c.Header["If-Match"]
	if lists == nil || c.Method != http.MethodPut && c.Method != http.MethodPatch && c.Method != http.MethodDelete {
		return
	}
	c.Request = c.WithContext(app.IfUnchanged(c.Context(), func(object any) error {
		tag, err := a.currentTag(object)
		if err == nil && matching(lists, tag, false) == "" {
			err = changed()
		}
		return err
	}))
}

// currentTag returns the tag that GET of an object shows; "" for content that does not exist, and a tag that never
// matches for what has no address of its own.
func (a *API) currentTag(object any) (tag string, err error) {
	var body any
	switch o := object.(type) {
	case exchange.ShownMaterial:
		body = showMaterial(o)
	case exchange.RequestDetail:
		body = a.showRequest(o)
	case app.AttachmentView:
		body = showAttachment(o)
	case exchange.Shipping:
		body = showShipping(o)
	case exchange.Webhook:
		body = showWebhook(o)
	case exchange.SavedSearch:
		body = showSavedSearch(o)
	case exchange.Membership:
		body = showSettings(o)
	case exchange.MailSettings:
		body = showMailSettings(o)
	case app.OrganizationView:
		body = showOrganization(o)
	case app.UserView:
		body = a.showUser(o)
	case app.GrantView:
		body = showGrant(o)
	case app.AddressView:
		body = showOwnAddress(o)
	case *exchange.Content:
		if o == nil {
			return "", nil
		}
		return contentTag(*o), nil
	default:
		return " ", nil
	}
	err = encoded(body, func(raw []byte) error {
		tag = tagOf(raw)
		return nil
	})
	return tag, err
}

// contentTag returns the tag of the bytes of an attachment.
func contentTag(c exchange.Content) string { return `"` + c.SHA256 + `"` }
