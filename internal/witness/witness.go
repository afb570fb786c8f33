// Package witness speaks to those who vouch for the log: it asks witnesses for cosignatures (C2SP tlog-witness) and
// timestamping authorities for timestamps (RFC 3161), and it is the server of a witness.
package witness

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"aliquot/internal/record"
)

// maxBody is the most bytes of a call of add-checkpoint: a checkpoint and a proof of 63 hashes.
const maxBody = record.MaxNote + 4<<10

// Handler answers POST /add-checkpoint as the witness.
func Handler(w *record.Witness) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", func(out http.ResponseWriter, in *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(out, in.Body, maxBody))
		if err != nil {
			http.Error(out, "The body cannot be read, or is too long.", http.StatusBadRequest)
			return
		}
		lines, err := w.Add(body)
		if err != nil {
			refuse(out, err)
			return
		}
		out.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = out.Write(lines)
	})
	return mux
}

// sizeType is the media type of the answer 409.
const sizeType = "text/x.tlog.size"

func refuse(out http.ResponseWriter, err error) {
	refusal, ok := errors.AsType[*record.Refusal](err)
	switch {
	case !ok:
		http.Error(out, "The witness cannot store its state.", http.StatusInternalServerError)
	case refusal.Status == http.StatusConflict:
		out.Header().Set("Content-Type", sizeType)
		out.WriteHeader(refusal.Status)
		_, _ = fmt.Fprintf(out, "%d\n", refusal.Size)
	default:
		http.Error(out, refusal.What, refusal.Status)
	}
}

// Witness is a witness that is asked.
type Witness struct {
	URL string // to which /add-checkpoint is added
	Key string // public
}

// Parse parses witnesses, each as its public key, @, and its address.
func Parse(list []string) ([]Witness, error) {
	var witnesses []Witness
	for _, text := range list {
		key, address, _ := strings.Cut(text, "@")
		if _, err := record.Verifiers(key); err != nil {
			return nil, err
		}
		witnesses = append(witnesses, Witness{address, key})
	}
	return witnesses, nil
}

// Cosign asks a witness to cosign a checkpoint of a size, and returns the checkpoint with the cosignature added. prove
// returns the proof that the log grew from an older size; it is asked again if the witness knows another size than old.
func Cosign(ctx context.Context, client *http.Client, w Witness, checkpoint []byte, old int64,
	prove func(old int64) (record.AddCheckpoint, error)) ([]byte, error) {
	for attempt := 0; ; attempt++ {
		call, err := prove(old)
		if err != nil {
			return nil, err
		}
		call.Checkpoint = checkpoint
		status, answer, err := post(ctx, client, w.URL, "add-checkpoint", "text/plain; charset=utf-8", call.Marshal(),
			record.MaxNote)
		if err != nil {
			return nil, err
		}
		if status == http.StatusConflict && attempt == 0 {
			known, err := strconv.ParseInt(strings.TrimSuffix(string(answer), "\n"), 10, 64)
			if err != nil || known == old {
				return nil, fmt.Errorf("witness %s: it knows another history of this log", w.URL)
			}
			old = known
			continue
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("witness %s: status %d, %.200q", w.URL, status, answer)
		}
		return record.AddCosignature(checkpoint, answer, w.Key)
	}
}

// Timestamp asks the timestamping authority at an address for a timestamp of a message, and checks it; roots is as in
// record.CheckTimestamp. It returns the answer as it was sent.
func Timestamp(ctx context.Context, client *http.Client, address string, message []byte,
	roots *x509.CertPool) ([]byte, error) {
	query, nonce, err := record.TimestampQuery(message)
	if err != nil {
		return nil, err
	}
	status, answer, err := post(ctx, client, address, "", "application/timestamp-query", query, record.MaxTimestamp)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("timestamping authority %s: status %d, %.200q", address, status, answer)
	}
	_, err = record.CheckTimestamp(answer, message, nonce, roots)
	return answer, err
}

// post sends a body and returns an answer of up to limit bytes.
func post(ctx context.Context, client *http.Client, address, path, mediaType string, body []byte,
	limit int64) (status int, answer []byte, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, nil, err
	}
	if path != "" {
		u = u.JoinPath(path)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", mediaType)
	response, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err == nil && int64(len(answer)) > limit {
		err = fmt.Errorf("%s: an answer of more than %d bytes", u.Redacted(), limit)
	}
	return response.StatusCode, answer, err
}
