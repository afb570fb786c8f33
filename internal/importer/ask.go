package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	tries        = 3
	longestPause = 5 * time.Second  // the longest that a source may ask for before we refuse the caller
	longestWait  = 15 * time.Second // in the queue behind the calls of others
	maxAnswer    = 10 << 20         // bytes of one answer, decompressed
	maxRedirects = 3
)

// source is one public service.
type source struct {
	name    string // as shown to people
	base    *url.URL
	pace    pace
	always  url.Values              // parameters of every call; never in a cache key or an error
	bearer  string                  // token
	refuses func(body []byte) error // reads a refusal that comes with status 400; nil: there are none
}

// sameHost lets a source redirect within the same host, and never to plain http.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if !strings.EqualFold(r.URL.Host, first.Host) || r.URL.Scheme != first.Scheme && r.URL.Scheme != "https" {
		return fmt.Errorf("%w: from %s to %s", errRedirect, first.Host, r.URL.Host)
	}
	if len(via) > maxRedirects {
		return fmt.Errorf("%w: more than %d", errRedirect, maxRedirects)
	}
	return nil
}

var errRedirect = errors.New("refused redirect")

// ask gets a path of a source and reads the answer with read, which gets it as a stream. The same address is fetched
// once in 24 hours, and once at a time by any number of callers. It tries three times before it reports that a source
// is down or garbled. Every address has one reader.
func ask[T any](ctx context.Context, im *Importer, s *source, path string, query url.Values,
	read func(io.Reader) (T, error)) (T, error) {
	address := s.base.JoinPath(path)
	address.RawQuery = query.Encode()
	value, err := im.loadOnce(ctx, address.String(), func(ctx context.Context) (any, error) {
		for try := 1; ; try++ {
			value, err := get(ctx, im, s, address, read)
			f, failed := errors.AsType[*failure](err)
			if !failed || f.kind == unknown || f.kind == refused || f.final || try == tries {
				return value, err
			}
			jitter := 0.5 + rand.Float64() //nolint:gosec // jitter is no secret
			pause := max(f.wait, time.Duration(float64(im.cfg.Pause<<(try-1))*jitter))
			if pause > longestPause {
				return value, err
			}
			if err := sleep(ctx, pause); err != nil {
				return value, err
			}
		}
	})
	if err != nil {
		var none T
		if ctx.Err() != nil { // the client disconnected, or the total time is over
			err = s.down(ctx.Err(), 0)
		}
		return none, err
	}
	return value.(T), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// get is one attempt.
func get[T any](ctx context.Context, im *Importer, s *source, address *url.URL,
	read func(io.Reader) (T, error)) (value T, err error) {
	if err := s.pace.wait(ctx, s.name, im.cfg.Calls); errors.Is(err, errBusy) || ctx.Err() != nil {
		return value, s.down(err, 0).last()
	} else if err != nil {
		return value, err
	}
	if im.cfg.Count != nil {
		defer func(began time.Time) { im.cfg.Count(s.name, result(err), time.Since(began)) }(time.Now())
	}
	ctx, cancel := context.WithTimeout(ctx, im.cfg.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.call(address), http.NoBody)
	if err != nil {
		return value, s.garbled(err)
	}
	r.Header.Set("User-Agent", strings.TrimSpace("aliquot "+im.cfg.Email))
	if s.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+s.bearer)
	}
	answer, err := im.client.Do(r)
	switch {
	case errors.Is(err, errRedirect):
		return value, s.garbled(withoutAddress(err)).last()
	case err != nil:
		return value, s.down(withoutAddress(err), 0)
	}
	defer func() { _ = answer.Body.Close() }()
	body := &errTrackingReader{Reader: http.MaxBytesReader(nil, answer.Body, maxAnswer)}
	if err := s.statusFailure(answer, body); err != nil {
		return value, err
	}
	value, err = read(body)
	switch {
	case err == nil:
		return value, nil
	case body.tooLong():
		return value, s.garbled(body.err).last()
	case body.err != nil: // the connection broke, or the source took too long
		return value, s.down(body.err, 0)
	}
	if f, ok := errors.AsType[*failure](err); ok { // found in the answer by the reader
		f.source = s.name
		return value, f
	}
	return value, s.garbled(err)
}

// call returns an address with the parameters of every call.
func (s *source) call(address *url.URL) string {
	full := *address
	query := full.Query()
	for name, values := range s.always {
		if values[0] != "" {
			query[name] = values
		}
	}
	full.RawQuery = query.Encode()
	return full.String()
}

// statusFailure returns the failure that a status means, nil for a success.
func (s *source) statusFailure(answer *http.Response, body io.Reader) error {
	said := fmt.Errorf("status %s", answer.Status)
	switch code := answer.StatusCode; {
	case code == http.StatusOK:
		return nil
	case code == http.StatusBadRequest && s.refuses != nil:
		raw, _ := io.ReadAll(io.LimitReader(body, 1<<16))
		if err := s.refuses(raw); err != nil {
			return &failure{kind: refused, source: s.name, cause: err}
		}
		return &failure{kind: unknown, source: s.name, cause: said}
	case code == http.StatusNoContent, code == http.StatusBadRequest, code == http.StatusNotFound,
		code == http.StatusGone:
		return &failure{kind: unknown, source: s.name, cause: said}
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return &failure{kind: refused, source: s.name, cause: said}
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		return s.down(said, retryAfter(answer.Header.Get("Retry-After")))
	}
	return s.garbled(said)
}

// retryAfter parses the header: seconds or a date; 0 if it is absent or invalid.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.Atoi(strings.TrimSpace(header)); err == nil {
		return time.Duration(min(max(seconds, 0), 24*60*60)) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(max(time.Until(at), 0), 24*time.Hour)
	}
	return 0
}

// withoutAddress returns an error of net/http without the address, which contains our key.
func withoutAddress(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// errTrackingReader remembers why a body could not be read to its end.
type errTrackingReader struct {
	io.Reader
	err error
}

func (w *errTrackingReader) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}

func (w *errTrackingReader) tooLong() bool {
	_, over := errors.AsType[*http.MaxBytesError](w.err)
	return over
}
