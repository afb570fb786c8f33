package importer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"aliquot/internal/exchange"
)

// kind is how a source failed; if two sources failed, the greater kind is reported.
type kind int

const (
	unknown kind = iota // it has no such record
	garbled             // it answered something unusable
	refused             // it does not accept us
	down                // it did not answer
)

// failure is why a source returned nothing.
type failure struct {
	kind   kind
	source string
	hint   string        // a sentence for the user who entered the id; only with unknown
	wait   time.Duration // before the source may be asked again
	final  bool          // another attempt gives the same result
	cause  error
}

func (k kind) String() string { return [...]string{"unknown", "garbled", "refused", "down"}[k] }

func (f *failure) Error() string { return fmt.Sprintf("%s: %s: %.500v", f.source, f.kind, f.cause) }

// result is the result of a request in a word.
func result(err error) string {
	if f, failed := errors.AsType[*failure](err); failed {
		return f.kind.String()
	}
	if err != nil {
		return down.String()
	}
	return "ok"
}

func (f *failure) Unwrap() error { return f.cause }

func (f *failure) last() *failure {
	f.final = true
	return f
}

func (s *source) garbled(cause error) *failure {
	return &failure{kind: garbled, source: s.name, cause: cause}
}

func (s *source) down(cause error, wait time.Duration) *failure {
	return &failure{kind: down, source: s.name, cause: cause, wait: wait}
}

// noSuchRecord returns the failure of an answer which says that there is no such record.
func noSuchRecord(format string, args ...any) *failure {
	hint := fmt.Sprintf(format, args...)
	return &failure{kind: unknown, hint: hint, cause: errors.New(hint)}
}

func kindOf(err error) kind {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.kind
	}
	return down
}

// worse returns the failure of two to report: a record is unknown only if both do not know it. Of two alike, it prefers
// one with a hint.
func worse(a, b error) error {
	f, ok := errors.AsType[*failure](b)
	if kindOf(b) > kindOf(a) || kindOf(b) == kindOf(a) && ok && f.hint != "" {
		return b
	}
	return a
}

// defaultWait is the suggested wait if a source does not name one.
const defaultWait = 30 * time.Second

// contractError turns a failure into an error of the contract. field is the input that named the record, as id.
func contractError(ctx context.Context, field, id string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err() // the client disconnected
	}
	if _, refused := errors.AsType[*exchange.Error](err); refused {
		return err
	}
	f, ok := errors.AsType[*failure](err)
	if !ok {
		f = &failure{kind: down, source: "The source", cause: err}
	}
	var e *exchange.Error
	switch f.kind {
	case unknown:
		hint := f.hint
		if hint == "" {
			hint = fmt.Sprintf("%s has no public record of %s; please check it", f.source, id)
		}
		if !strings.Contains(hint, id) {
			hint = id + ": " + hint
		}
		var faults exchange.FieldErrors
		faults.Add(field, "%s", hint)
		return faults.Err()
	case garbled:
		e = exchange.Errorf(exchange.InvalidAnswer, "%s: %s answered something that cannot be used. Please try "+
			"again later.", id, f.source)
	case refused:
		e = exchange.Errorf(exchange.Unavailable,
			"%s: %s does not accept this server's calls. Please tell its operator.", id, f.source).
			With("retry_after", int(time.Hour.Seconds()))
	default:
		wait := f.wait
		if wait <= 0 {
			wait = defaultWait
		}
		seconds := int(math.Ceil(wait.Seconds()))
		what := "does not answer"
		if errors.Is(f.cause, errBusy) {
			what = "is receiving too many requests from here"
		}
		e = exchange.Errorf(exchange.Unavailable, "%s: %s %s. Please try again in %d seconds.", id, f.source, what,
			seconds).
			With("retry_after", seconds)
	}
	e = e.With("source", f.source)
	e.Cause = shortError{err}
	return e
}

// shortError shortens an error that quotes a source to one line for the log.
type shortError struct{ error }

func (b shortError) Error() string {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, b.error.Error())
	return fmt.Sprintf("%.500s", line)
}

func (b shortError) Unwrap() error { return b.error }
