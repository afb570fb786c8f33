package signing_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/signing"
)

var (
	now      = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	document = signing.Document{Letter: "A-1", Version: 2, SHA256: strings.Repeat("ab", 32)}
)

func TestLink_ShowsOneVersionUntilItEndsOrIsUsed(t *testing.T) {
	t.Parallel()
	l, token := signing.NewLink(document, "RECIPIENT_OFFICIAL", 3, "office@example.edu", now)
	if strings.Contains(l.Hash, token) || l.Hash != signing.TokenHash(token) || len(token) < 50 {
		t.Errorf("the link keeps %q for %q", l.Hash, token)
	}
	newer := document
	newer.Version++
	used := l
	used.Used = true
	for name, c := range map[string]struct {
		link    signing.Link
		token   string
		current signing.Document
		at      time.Time
		want    error
	}{
		"as sent":       {l, token, document, now, nil},
		"last moment":   {l, token, document, l.Expires.Add(-1), nil},
		"over":          {l, token, document, l.Expires, signing.ErrExpired},
		"newer version": {l, token, newer, now, signing.ErrStale},
		"used":          {used, token, document, now, signing.ErrUsed},
		"another token": {l, token + "x", document, now, signing.ErrWrongLink},
		"no token":      {l, "", document, now, signing.ErrWrongLink},
		"its hash":      {l, l.Hash, document, now, signing.ErrWrongLink},
	} {
		if err := c.link.Open(c.token, c.current, c.at); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, not %v", name, err, c.want)
		}
	}
	if _, other := signing.NewLink(document, "", 0, "", now); other == token {
		t.Error("two links have one token")
	}
}

func TestLink_SignsOnceWithTheCodeThatWasSent(t *testing.T) {
	t.Parallel()
	l, token := signing.NewLink(document, "RECIPIENT_OFFICIAL", 3, "office@example.edu", now)
	if _, err := l.Sign(token, "", document, now); !errors.Is(err, signing.ErrWrongCode) {
		t.Errorf("without a code: %v", err)
	}
	l, code, err := l.SendCode(now)
	if err != nil || len(code) != 6 || strings.Contains(l.CodeHash, code) {
		t.Fatalf("the code is %q, kept as %q: %v", code, l.CodeHash, err)
	}
	if _, err := l.Sign(token, code, document, l.CodeExpires); !errors.Is(err, signing.ErrExpired) {
		t.Errorf("too late: %v", err)
	}
	signed, err := l.Sign(token, code, document, now)
	if err != nil || !signed.Used {
		t.Fatalf("with the code: %v", err)
	}
	if _, err := signed.Sign(token, code, document, now); !errors.Is(err, signing.ErrUsed) {
		t.Errorf("a second time: %v", err)
	}
	guessed := l
	for range 5 {
		if guessed, err = guessed.Sign(token, "guess", document, now); !errors.Is(err, signing.ErrWrongCode) {
			t.Fatalf("a wrong code: %v", err)
		}
	}
	if _, err := guessed.Sign(token, code, document, now); !errors.Is(err, signing.ErrTooOften) {
		t.Errorf("after five wrong codes: %v", err)
	}
	again, second, err := guessed.SendCode(now)
	if err != nil {
		t.Fatal(err)
	}
	if code != second {
		if _, err := again.Sign(token, code, document, now); !errors.Is(err, signing.ErrWrongCode) {
			t.Errorf("the code before the last: %v", err)
		}
	}
	if _, err := again.Sign(token, second, document, now); err != nil {
		t.Errorf("a new code: %v", err)
	}
}
