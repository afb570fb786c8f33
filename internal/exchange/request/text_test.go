package request_test

import (
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/exchangetest"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"

	"golang.org/x/text/unicode/norm"
)

// texts holds a field of every kind of text, each with its length in characters and a function that sends it and
// returns what is stored.
var texts = map[string]struct {
	most  int
	lines bool // may have several lines
	send  func(string) (string, error)
}{
	"title": {500, false, func(s string) (string, error) {
		m, err := material.Patch{Title: exchange.Some(s)}.Patch(exchangetest.Cells())
		return m.Title, err
	}},
	"publication_title": {500, false, func(s string) (string, error) {
		m, err := material.Patch{PublicationTitle: exchange.NullOf(s)}.Patch(exchangetest.Cells())
		return *m.PublicationTitle, err
	}},
	"import_source": {255, false, func(s string) (string, error) {
		m, err := material.Patch{ImportSource: exchange.Some(s)}.Patch(exchangetest.Cells())
		return m.ImportSource, err
	}},
	"citation": {20_000, true, func(s string) (string, error) {
		m, err := material.Patch{Citation: exchange.NullOf(s)}.Patch(exchangetest.Cells())
		return *m.Citation, err
	}},
	"first_name": {255, false, func(s string) (string, error) {
		u, err := person.UserPatch{FirstName: exchange.Some(s)}.Patch(person.User{})
		return u.FirstName, err
	}},
	"name": {255, false, func(s string) (string, error) {
		o, _, err := lab.OrganizationPatch{Name: exchange.Some(s)}.Patch(lab.Organization{Name: "Mora lab"},
			nil)
		return o.Name, err
	}},
	"address_line_1": {255, false, func(s string) (string, error) {
		a, err := person.AddressPatch{Line1: exchange.Some(s)}.Patch(*address(4))
		return a.Line1, err
	}},
	"restrictions": {20_000, true, func(s string) (string, error) {
		h, err := lab.ShippingPatch{Restrictions: exchange.Some(s)}.Patch(lab.Shipping{})
		return h.Restrictions, err
	}},
	"description": {20_000, true, func(s string) (string, error) {
		a, err := document.AttachmentPatch{Description: exchange.Some(s)}.Patch(exchangetest.File(), exchange.Actor{})
		return a.Description, err
	}},
	"requester_abstract": {20_000, true, func(s string) (string, error) {
		r, _, err := apply(fresh(), asRequester, request.Patch{Abstract: exchange.Some(s)}, everything)
		return r.Abstract, err
	}},
	"quantity": {255, false, func(s string) (string, error) {
		r, err := request.New{Material: exchange.Some(exchange.Ref(8)),
			Quantity: exchange.Some(s)}.Create(exchange.Actor{ID: exchangetest.RequesterID})
		return r.Quantity, err
	}},
	"text": {20_000, true, func(s string) (string, error) { return request.TextBody{Text: exchange.Some(s)}.Check() }},
}

func TestText_IsNormalizedAndTrimmed(t *testing.T) {
	t.Parallel()
	for field, f := range texts {
		for in, want := range map[string]string{
			" HeLa ": "HeLa", "\u00a0HeLa\u2003\n": "HeLa", "Verträg": "Verträg", "Vertra\u0308g": "Verträg",
			"\u212b": "\u00c5",
			"한":      "한", "a  b": "a  b", "👩‍🔬": "👩‍🔬", `<b>"&'`: `<b>"&'`,
		} {
			if got, err := f.send(in); err != nil || got != want {
				t.Errorf("%s %q: got %q, %v, want %q", field, in, got, err, want)
			}
		}
	}
}

func TestText_LengthIsInCharacters(t *testing.T) {
	t.Parallel()
	for field, f := range texts {
		for _, char := range []string{"a", "ä", "質", "🧬"} {
			fits := strings.Repeat(char, f.most)
			if got, err := f.send("  " + fits + "\n"); err != nil || got != fits {
				t.Errorf("%s, %d times %s: got %d bytes, %v, want all", field, f.most, char, len(got), err)
			}
			_, err := f.send(fits + char)
			exchangetest.WantFieldErrors(t, err, field)
		}
		// Two code points that NFC combines count as one character.
		if _, err := f.send(strings.Repeat("a\u0308", f.most)); err != nil {
			t.Errorf("%s, %d composed letters: got %v, want nil", field, f.most, err)
		}
	}
}

func TestText_RefusesControlCharacters(t *testing.T) {
	t.Parallel()
	for field, f := range texts {
		for _, c := range []string{"\x00", "\x07", "\x1b", "\x7f", "\u0085", "\n", "\t", "\r"} {
			got, err := f.send("a" + c + "b")
			if f.lines && strings.Contains("\n\t\r", c) {
				if err != nil || got != "a"+c+"b" {
					t.Errorf("%s with %q: got %q, %v, want it kept", field, c, got, err)
				}
				continue
			}
			if err == nil {
				t.Errorf("%s with %q: got %q, want a fault", field, c, got)
				continue
			}
			exchangetest.WantFieldErrors(t, err, field)
		}
		_, err := f.send("a\xffb")
		exchangetest.WantFieldErrors(t, err, field)
	}
}

func TestText_OfAMessageMayNotBeEmpty(t *testing.T) {
	t.Parallel()
	for _, w := range []request.TextBody{{}, {Text: exchange.Some("")}, {Text: exchange.Some(" \n\t ")}} {
		_, err := w.Check()
		exchangetest.WantFieldErrors(t, err, "text")
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{" HeLa\n", "a\u0308", " \u0301a", "\xff", "\x00", "\u2028",
		strings.Repeat("ä", 501)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for field, f := range texts {
			kept, err := f.send(s)
			if err != nil {
				if len(exchangetest.FieldErrors(err)[field]) == 0 {
					t.Errorf("%s %q: got %v, want a fault of the field", field, s, err)
				}
				continue
			}
			if !norm.NFC.IsNormalString(kept) || strings.TrimSpace(kept) != kept || strings.Contains(kept, "\x00") {
				t.Errorf("%s %q: got %q kept", field, s, kept)
			}
			if again, err := f.send(kept); err != nil || again != kept {
				t.Errorf("%s %q: kept as %q, then as %q, %v", field, s, kept, again, err)
			}
		}
	})
}
