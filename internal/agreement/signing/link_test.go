package signing_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

var (
	now      = time.Date(2026, 6, 15, 12, 0, 0, 0, time.UTC)
	document = signing.Document{Letter: "A-1", Version: 2, SHA256: strings.Repeat("ab", 32)}
)

func newLink() signing.Link {
	return signing.NewLink(1, document, "RECIPIENT_OFFICIAL", party.Person{Name: "Ana", Mail: "office@example.edu"},
		uuid.Nil, now)
}

func TestLink_ShowsOneVersionUntilItEndsOrIsUsed(t *testing.T) {
	t.Parallel()
	l, token := newLink().Issue()
	if strings.Contains(l.Hash, token) || l.Hash != signing.TokenHash(token) || len(token) < 50 {
		t.Errorf("the link keeps %q for %q", l.Hash, token)
	}
	newer := document
	newer.Version++
	used := l
	used.UsedAt = &now
	for name, c := range map[string]struct {
		link    signing.Link
		current signing.Document
		at      time.Time
		want    error
	}{
		"as sent":       {l, document, now, nil},
		"last moment":   {l, document, l.Expires.Add(-1), nil},
		"over":          {l, document, l.Expires, signing.ErrExpired},
		"newer version": {l, newer, now, signing.ErrStale},
		"used":          {used, document, now, signing.ErrUsed},
	} {
		if err := c.link.Open(c.current, c.at); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, not %v", name, err, c.want)
		}
	}
	if again, other := l.Issue(); other == token || again.Hash == l.Hash {
		t.Error("two links have one token")
	}
}

func TestLink_SignsOnceWithTheCodeThatWasSent(t *testing.T) {
	t.Parallel()
	l, _ := newLink().Issue()
	if _, err := l.Use("", document, now); !errors.Is(err, signing.ErrWrongCode) {
		t.Errorf("without a code: %v", err)
	}
	l, code, err := l.SendCode(now)
	if err != nil || len(code) != 6 || strings.Contains(l.CodeHash, code) {
		t.Fatalf("the code is %q, kept as %q: %v", code, l.CodeHash, err)
	}
	if _, err := l.Use(code, document, *l.CodeExpires); !errors.Is(err, signing.ErrCodeExpired) {
		t.Errorf("too late: %v", err)
	}
	signed, err := l.Use(code, document, now)
	if err != nil || signed.UsedAt == nil {
		t.Fatalf("with the code: %v", err)
	}
	if _, err := signed.Use(code, document, now); !errors.Is(err, signing.ErrUsed) {
		t.Errorf("a second time: %v", err)
	}
	guessed := l
	for range 5 {
		if guessed, err = guessed.Use("guess", document, now); !errors.Is(err, signing.ErrWrongCode) {
			t.Fatalf("a wrong code: %v", err)
		}
	}
	if _, err := guessed.Use(code, document, now); !errors.Is(err, signing.ErrTooOften) {
		t.Errorf("after five wrong codes: %v", err)
	}
	again, second, err := guessed.SendCode(now)
	if err != nil {
		t.Fatal(err)
	}
	if code != second {
		if _, err := again.Use(code, document, now); !errors.Is(err, signing.ErrWrongCode) {
			t.Errorf("the code before the last: %v", err)
		}
	}
	if _, err := again.Use(second, document, now); err != nil {
		t.Errorf("a new code: %v", err)
	}
}

func TestLink_SendsACodeAMinuteAndTenInAll(t *testing.T) {
	t.Parallel()
	l, err := newLink().AskCode(document, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.AskCode(document, now.Add(time.Minute-1)); exchange.CodeOf(err) != exchange.RateLimited {
		t.Errorf("within a minute: %v", err)
	}
	at := now
	for range 9 {
		at = at.Add(time.Minute)
		if l, err = l.AskCode(document, at); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.AskCode(document, at.Add(time.Hour)); !errors.Is(err, signing.ErrTooManyCodes) {
		t.Errorf("after ten: %v", err)
	}
}
