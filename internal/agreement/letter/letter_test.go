package letter_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/letter"
)

func form(t *testing.T) instrument.Instrument {
	t.Helper()
	list, err := instrument.Box()
	if err != nil {
		t.Fatal(err)
	}
	return list[slices.IndexFunc(list, func(i instrument.Instrument) bool { return i.ID == "UBMTA_LETTER" })]
}

func TestCanonical_IsTheFormOfRFC8785(t *testing.T) {
	t.Parallel()
	got, err := letter.Canonical(
		map[string]any{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter",
			"1": "One", "\U0001f600": "Emoji", "\u0080": "Control", "\u00f6": "O", "n": []any{nil, true, -7, "\u000f</script>\u2028"}},
	)
	want := "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"n\":[null,true,-7,\"\\u000f</script>\u2028\"],\"\u0080\":\"Control\"," +
		"\"\u00f6\":\"O\",\"\u20ac\":\"Euro Sign\",\"\U0001f600\":\"Emoji\",\"\ufb33\":\"Hebrew Letter\"}"
	if err != nil || string(got) != want {
		t.Errorf("%s, %v; not %s", got, err, want)
	}
	for _, v := range []any{1.5, int64(1) << 53, func() {}} {
		if _, err := letter.Canonical(v); err == nil {
			t.Errorf("%T %v is accepted", v, v)
		}
	}
}

func TestLetter_IsTheSameWhateverTheOrderOfItsRequests(t *testing.T) {
	t.Parallel()
	i := form(t)
	rapid.Check(t, func(t *rapid.T) {
		var requests []letter.Request
		for n := range 27 {
			requests = append(
				requests,
				letter.Request{ID: int64(n), Material: rapid.String().Draw(t, "material"), Quantity: "1 vial"},
			)
		}
		one := letter.New("A-1", "2026-06-15", i, 1, 2, requests, nil)
		other := letter.New(
			"A-1",
			"2026-06-15",
			i,
			1,
			2,
			append(rapid.Permutation(requests).Draw(t, "order"), requests[3]),
			nil,
		)
		first, err := one.SHA256()
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := other.SHA256(); first != second || len(other.Requests) != 27 {
			t.Fatalf("%s and %s, %d requests", first, second, len(other.Requests))
		}
	})
}

func TestLetter_NamesWhatIsMissingAndWhere(t *testing.T) {
	t.Parallel()
	i := form(t)
	l := letter.New("A-1", "2026-06-15", i, 1, 2, []letter.Request{{ID: 7, Material: "pUC19"}},
		map[string]string{"provider_name": " Aarlund University ", "recipient_name": " ", "not_a_field": "x"})
	want := []letter.Missing{
		{"recipient_name", "RECIPIENT_INSTITUTION"},
		{"recipient_scientist", "REQUESTER"},
		{"provider_scientist", "LAB"},
	}
	if got := l.Missing(i); !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	if text := l.Text(i); !strings.Contains(text, "provider, Aarlund University,") ||
		!strings.Contains(text, "[recipient_name]") ||
		!strings.Contains(text, "\npUC19\n") {
		t.Errorf("the text is %q", text)
	}
}

func TestLetter_ChangesItsVersionOnlyIfSomethingChanged(t *testing.T) {
	t.Parallel()
	i := form(t)
	requests := []letter.Request{{ID: 1, Material: "a"}, {ID: 2, Material: "b"}}
	l := letter.New("A-1", "2026-06-15", i, 1, 2, requests, map[string]string{"provider_name": "A"})
	same, err := l.Change(i, requests, map[string]string{"provider_name": "A "})
	if err != nil || same.Version != 1 {
		t.Errorf("version %d, %v", same.Version, err)
	}
	fewer, err := l.Change(i, requests[1:], map[string]string{"provider_name": "A"})
	if err != nil || fewer.Version != 2 || len(fewer.Requests) != 1 || len(l.Requests) != 2 {
		t.Errorf("%+v, %v", fewer, err)
	}
}

func TestText_AValueThatLooksLikeAPlaceStaysAsItIs(t *testing.T) {
	t.Parallel()
	i := form(t)
	l := letter.New(
		"A-1",
		"2026-06-15",
		i,
		1,
		2,
		nil,
		map[string]string{"provider_name": "{{recipient_name}}", "recipient_name": "B"},
	)
	if text := l.Text(i); !strings.Contains(text, "provider, {{recipient_name}},") {
		t.Errorf("the text is %q", text)
	}
}
