package exchange_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/exchangetest"
)

func TestError_CauseIsOnlyForTheLog(t *testing.T) {
	t.Parallel()
	err := exchange.Errorf(exchange.Unavailable, "ORCID does not answer for %d s.", 5)
	err.Cause = fmt.Errorf("dial: %w", context.DeadlineExceeded)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Error("the cause is not found in the error")
	}
	if want := "ORCID does not answer for 5 s."; err.Message != want {
		t.Errorf("got message %q, want %q", err.Message, want)
	}
	if got, want := err.Error(),
		"UNAVAILABLE: ORCID does not answer for 5 s.: dial: context deadline exceeded"; got != want {
		t.Errorf("got log line %q, want %q", got, want)
	}
}

func TestErrorCode_IsFoundThroughWrapping(t *testing.T) {
	t.Parallel()
	wrapped := fmt.Errorf("import: %w", exchange.Errorf(exchange.NotFound, "There is no GSE2122."))
	if got := exchange.CodeOf(wrapped); got != exchange.NotFound {
		t.Errorf("got %s, want NOT_FOUND", got)
	}
	if got := exchange.CodeOf(errors.New("disk full")); got != exchange.Internal {
		t.Errorf("got %s for an error without a code, want INTERNAL", got)
	}
}

func TestFaults_NameEveryFieldInOrder(t *testing.T) {
	t.Parallel()
	var f exchange.FieldErrors
	if err := f.Err(); err != nil {
		t.Errorf("got %v of no faults, want nil", err)
	}
	f.Add("title", "is required")
	f.Add("category", "must be %s", "PDX")
	f.Add("category", "cannot change")
	err := f.Err()
	exchangetest.WantFieldErrors(t, err, "category", "title")
	if got, want := err.Error(), "INVALID_INPUT: Please correct: category, title.; category: must be PDX, cannot "+
		"change; title: is required"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
