package exchange_test

import (
	"encoding/json"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"

	"github.com/google/uuid"
)

type optional struct {
	Text  exchange.Opt[string]             `json:"text"`
	Yes   exchange.Opt[bool]               `json:"yes"`
	Raw   exchange.Opt[json.RawMessage]    `json:"raw"`
	List  exchange.Opt[[]exchange.UserRef] `json:"list"`
	Maybe exchange.Null[string]            `json:"maybe"`
	Ref   exchange.Null[exchange.Ref]      `json:"ref"`
}

func TestOpt_IsAbsentNullOrAValue(t *testing.T) {
	t.Parallel()
	exchangetest.Same(t, "nothing sent", exchangetest.Body[optional](t, `{"other": null}`), optional{})
	got := exchangetest.Body[optional](t,
		`{"text": "", "yes": false, "raw": {"a":1}, "list": [], "maybe": null, "ref": null}`)
	exchangetest.Same(t, "all sent", got, optional{
		Text: exchange.Some(""), Yes: exchange.Some(false), Raw: exchange.Some(json.RawMessage(`{"a":1}`)),
		List:  exchange.Some([]exchange.UserRef{}),
		Maybe: exchange.Cleared[string](), Ref: exchange.Cleared[exchange.Ref](),
	})
	got = exchangetest.Body[optional](t, `{"maybe": "x", "ref": 7}`)
	exchangetest.Same(t, "nullable fields sent", got,
		optional{Maybe: exchange.NullOf("x"), Ref: exchange.NullOf(exchange.Ref(7))})
}

func TestOpt_IntegerMayHaveAFractionOfZero(t *testing.T) {
	t.Parallel()
	type whole struct {
		N     exchange.Opt[int]            `json:"n"`
		Maybe exchange.Null[int64]         `json:"maybe"`
		Ref   exchange.Opt[exchange.Ref]   `json:"ref"`
		Refs  exchange.Opt[[]exchange.Ref] `json:"refs"`
	}
	for text, want := range map[string]int64{"316.0": 316, "316.000": 316, "3.16e2": 316, "3160E-1": 316, "1e3": 1000,
		"-2.0": -2, "0.0": 0, "9007199254740993.0": 9007199254740993, "9223372036854775807.0": 9223372036854775807} {
		got := exchangetest.Body[whole](t, `{"n": `+text+`, "maybe": `+text+`}`)
		if int64(got.N.Value) != want || *got.Maybe.Value != want {
			t.Errorf("%s: got %d, %d", text, got.N.Value, *got.Maybe.Value)
		}
		if want > 0 {
			got := exchangetest.Body[whole](t, `{"ref": `+text+`, "refs": [`+text+`, {"id": `+text+`}]}`)
			if int64(got.Ref.Value) != want || int64(got.Refs.Value[1]) != want {
				t.Errorf("%s as a reference: got %v", text, got)
			}
		}
	}
	for _, text := range []string{"316.5", "0.99999999999999999999999", "1e-1", "9223372036854775808.0", "1e19",
		"1e999999999", "1e-999999999", `"316.0"`, "1e99999999999999999999", "0." + strings.Repeat("0", 100_000)} {
		var o whole
		if err := json.Unmarshal([]byte(`{"n": `+text+`}`), &o); err == nil {
			t.Errorf("%.40s: got %d, want an error", text, o.N.Value)
		}
		if err := json.Unmarshal([]byte(`{"ref": `+text+`}`), &o); err == nil && text != `"316.0"` {
			t.Errorf("%.40s as a reference: got %d, want an error", text, o.Ref.Value)
		}
	}
}

func TestOpt_RefusesNullWhereNotNullable(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"text", "yes", "raw", "list"} {
		var o optional
		if err := json.Unmarshal([]byte(`{"`+field+`": null}`), &o); err == nil ||
			!strings.Contains(err.Error(), "must not be null") {
			t.Errorf("%s: got %v, want a refusal that says so", field, err)
		}
	}
}

func TestOpt_RefusesAnotherType(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"text": 7}`, `{"yes": "true"}`, `{"yes": 1}`, `{"list": {}}`, `{"list": [null]}`, `{"maybe": false}`,
		`{"ref": [7]}`, `{"list": ["7"]}`,
	} {
		var o optional
		if err := json.Unmarshal([]byte(text), &o); err == nil {
			t.Errorf("%s: got %+v, want an error", text, o)
		}
	}
}

func TestOpt_OrKeepsTheOldValue(t *testing.T) {
	t.Parallel()
	if got := (exchange.Opt[string]{}).Or("old"); got != "old" {
		t.Errorf("left out: got %q, want old", got)
	}
	if got := exchange.Some("").Or("old"); got != "" {
		t.Errorf("sent empty: got %q, want empty", got)
	}
	old := "old"
	if got := (exchange.Null[string]{}).Or(&old); got != &old {
		t.Errorf("left out: got %v, want old", got)
	}
	if got := exchange.Cleared[string]().Or(&old); got != nil {
		t.Errorf("null: got %q, want nil", *got)
	}
	if got := exchange.NullOf("new").Or(&old); *got != "new" {
		t.Errorf("sent: got %q, want new", *got)
	}
}

func TestRef_IsNumberTextOrObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`7`, `"7"`, `" 7 "`, `7.0`, `7e0`, `{"id": 7}`, `{"id": "7", "name": "HeLa"}`,
		` {"name": null, "id":7} `} {
		if got := exchangetest.Body[exchange.Ref](t, text); got != 7 {
			t.Errorf("%s: got %d, want 7", text, got)
		}
	}
	if got := exchangetest.Body[exchange.Ref](t, `"9223372036854775807"`); got != 1<<63-1 {
		t.Errorf("got %d, want the largest id", got)
	}
}

func TestRef_WrongOneSaysWhatIsExpected(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		`0`: "positive integer", `-7`: "positive integer", `-7.0`: "positive integer", `7.5`: "positive integer",
		`7e-1`: "positive integer", `"7.0"`: "positive integer",
		`""`: "positive integer", `"seven"`: "positive integer", `9223372036854775808`: "positive integer",
		`"0x7"`: "positive integer",
		`null`:  "an id", `true`: "an id", `[7]`: "an id", `{}`: "an id", `{"id": null}`: "an id",
		`{"id": {"id": 7}}`: "an id", `{"ident": 7}`: "an id",
		`"` + uuid.NewString() + `"`: "positive integer",
	} {
		var r exchange.Ref
		if err := json.Unmarshal([]byte(text), &r); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %d, %v, want a refusal that says %q", text, r, err, says)
		}
	}
}

func TestUserRef_IsUUIDOrObject(t *testing.T) {
	t.Parallel()
	id := exchangetest.MemberID.String()
	for _, text := range []string{`"` + id + `"`, `"` + strings.ToUpper(id) + `"`, `{"id": "` + id +
		`", "username": "x"}`} {
		if got := exchangetest.Body[exchange.UserRef](t, text); uuid.UUID(got) != exchangetest.MemberID {
			t.Errorf("%s: got %s, want %s", text, uuid.UUID(got), id)
		}
	}
	for _, text := range []string{
		`null`, `7`, `""`, `"x"`, `{}`, `{"id": 7}`, `["` + id + `"]`, `"{` + id + `}"`, `"urn:uuid:` + id + `"`,
		`"` + strings.ReplaceAll(id, "-", "") + `"`, `"` + uuid.Nil.String() + `"`,
	} {
		var r exchange.UserRef
		if err := json.Unmarshal([]byte(text), &r); err == nil || !strings.Contains(err.Error(), "id") {
			t.Errorf("%s: got %s, %v, want a refusal that says what an id is", text, uuid.UUID(r), err)
		}
	}
}

func FuzzRef(f *testing.F) {
	for _, seed := range []string{`7`, `"7"`, `{"id":7}`, `{"id":{"id":7}}`, `null`, `-1`, `1e2`, `"+7"`, `{"id":`, ``,
		`"`, `{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var direct exchange.Ref
		_ = direct.UnmarshalJSON([]byte(s)) // it must not panic on any input
		var r exchange.Ref
		if json.Unmarshal([]byte(s), &r) != nil {
			return
		}
		raw, err := json.Marshal(r)
		if err != nil || r < 1 {
			t.Fatalf("%s: got %d, %v, want a positive id", s, r, err)
		}
		for _, form := range []string{string(raw), `"` + string(raw) + `"`, `{"id":` + string(raw) + `}`} {
			if again := exchangetest.Body[exchange.Ref](t, form); again != r {
				t.Errorf("%s is %d, but %s is %d", s, r, form, again)
			}
		}
	})
}

func FuzzUserRef(f *testing.F) {
	for _, seed := range []string{`"` + exchangetest.MemberID.String() + `"`, `{"id":"` +
		exchangetest.MemberID.String() + `"}`, `null`, `7`, ``,
		`"`, `{`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var direct exchange.UserRef
		_ = direct.UnmarshalJSON([]byte(s))
		var r exchange.UserRef
		if json.Unmarshal([]byte(s), &r) != nil {
			return
		}
		id := uuid.UUID(r)
		if id == uuid.Nil {
			t.Fatalf("%s: got the nil UUID", s)
		}
		if again := exchangetest.Body[exchange.UserRef](t, `{"id":"`+id.String()+`"}`); again != r {
			t.Errorf("%s is %s and then %s", s, id, uuid.UUID(again))
		}
	})
}
