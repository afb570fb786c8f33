package rest

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
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
	return Encoded(body, func(raw []byte) error { return c.answerTagged(Body{Type: jsonType, Bytes: raw}) })
}

func (c *Call) answerTagged(b Body) error {
	tag := tagOf(b.Bytes)
	if lists := c.Header["If-Match"]; lists != nil && matching(lists, tag, false) == "" {
		return changed()
	}
	h := c.Writer.Header()
	h["Etag"] = []string{tag}
	if c.page != "" {
		h["Link"] = []string{"<" + c.page + c.PathValue("id") + `>; rel="alternate"; type="text/html"`}
	}
	if lists := c.Header["If-None-Match"]; lists != nil {
		if had := matching(lists, tag, true); had != "" {
			h["Etag"] = []string{had}
			vary(h)
			c.Writer.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	send(c.Writer, c.Status, b)
	return nil
}

func changed() error {
	return exchange.Errorf(exchange.PreconditionFailed, "Someone changed it since you read it; read it again.")
}

// IfMatch returns the condition that If-Match of a PUT, PATCH or DELETE sets on the object that it changes: show makes
// of the object what GET answers.
func IfMatch[T, Out any](c *Call, show func(T) Out) core.IfMatch[T] {
	return ifTag(c, func(object T) (tag string, err error) {
		err = Encoded(show(object), func(raw []byte) error {
			tag = tagOf(raw)
			return nil
		})
		return tag, err
	})
}

// IfContentMatches is IfMatch for the content of an attachment; what does not exist has no tag.
func IfContentMatches(c *Call) core.IfMatch[*document.Content] {
	return ifTag(c, func(content *document.Content) (string, error) {
		if content == nil {
			return "", nil
		}
		return contentTag(*content), nil
	})
}

// IfNoTag is IfMatch for what no GET answers by itself: it exists, but no tag names it.
func IfNoTag(c *Call) core.IfMatch[core.Untagged] {
	return ifTag(c, func(core.Untagged) (string, error) { return " ", nil })
}

// ifTag returns the condition that If-Match names the tag of an object; nil if the call has no If-Match.
func ifTag[T any](c *Call, tagOf func(object T) (string, error)) core.IfMatch[T] {
	lists := c.Header["If-Match"]
	if lists == nil {
		return nil
	}
	return func(object T) error {
		tag, err := tagOf(object)
		if err == nil && matching(lists, tag, false) == "" {
			err = changed()
		}
		return err
	}
}

// contentTag returns the tag of the bytes of an attachment.
func contentTag(c document.Content) string { return `"` + c.SHA256 + `"` }
