package evidence

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"aliquot/internal/exchange"
	"aliquot/internal/job"
	"aliquot/internal/record"
	"aliquot/internal/store"
	"aliquot/internal/witness"
)

// Checkpoint is the kind of job that brings the log up to date and signs it. It is periodic.
var Checkpoint = job.Kind[struct{}]{Name: "log.checkpoint"}

// appendedAtOnce is how many events a transaction moves into the log.
const appendedAtOnce = 1000

// Signed is the result of a Checkpoint job.
type Signed struct {
	Appended int64 `json:"appended"`
	Size     int64 `json:"size"` // of the log
}

// SignLog moves all events into the log, and signs it if it grew.
func (a Evidence) SignLog(ctx context.Context, r *job.Run, _ struct{}) error {
	for n := appendedAtOnce; n == appendedAtOnce; {
		if err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (p exchange.Progress, _ any, err error) {
			n, err = tx.Log.Append(ctx, appendedAtOnce)
			return exchange.Progress{Done: r.Progress().Done + int64(n), Note: "appending to the log"}, nil, err
		}); err != nil {
			return err
		}
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		size, err := a.sign(ctx, tx)
		return Signed{r.Progress().Done, size}, err
	})
}

// sign signs the log as it is and returns its size; it does nothing if the newest checkpoint has that size, or without
// keys.
func (a Evidence) sign(ctx context.Context, tx store.Conn) (int64, error) {
	head, err := tx.Log.Head(ctx)
	if err != nil || head.Size == 0 || a.LogKeys == nil {
		return head.Size, err
	}
	if _, err := tx.Log.Checkpoint(ctx, head.Size); exchange.CodeOf(err) != exchange.NotFound {
		return head.Size, err
	}
	keys, err := a.LogKeys()
	if err == nil {
		err = adopt(ctx, tx, keys)
	}
	if err != nil {
		return head.Size, &exchange.Error{Code: exchange.Unavailable, Cause: err,
			Message: "The log cannot be signed at the moment: its operator has to look after the key."}
	}
	head.Origin = keys.Origin()
	note, err := head.Sign(keys.Signers...)
	if err != nil {
		return head.Size, err
	}
	if err := tx.Final(ctx); err != nil {
		return head.Size, err
	}
	if err := tx.Log.SaveCheckpoint(ctx, head.Size, string(note)); err != nil {
		return head.Size, err
	}
	if a.TimestampURL != "" || len(a.Witnesses) > 0 {
		_, err = Vouch.Enqueue(ctx, tx, head.Size, job.EnqueueOptions{Key: strconv.FormatInt(head.Size, 10)})
	}
	return head.Size, err
}

// Vouch is the kind of job that asks others to vouch for the checkpoint of a size.
var Vouch = job.Kind[int64]{Name: "log.vouch", MaxAttempts: 6}

// vouchTimeout is how long a witness or an authority may take to answer.
const vouchTimeout = 30 * time.Second

// AskOthers asks each witness for a cosignature of a checkpoint, then the timestamping authority for a timestamp of
// that. It waits for no witness once there is a timestamp, which is of the cosignatures too.
func (a Evidence) AskOthers(ctx context.Context, r *job.Run, size int64) error {
	c, err := a.DB.Read().Log.Checkpoint(ctx, size)
	if err != nil || c.Size != size || c.Response != nil {
		return err
	}
	client := &http.Client{Timeout: vouchTimeout}
	note, missing := a.cosigned(ctx, client, c)
	var response []byte
	if a.TimestampURL != "" {
		if response, err = witness.Timestamp(ctx, client, a.TimestampURL, note, nil); err != nil {
			err = fmt.Errorf("tsa-url: %w", err)
		} else if missing != nil {
			a.Log.WarnContext(ctx, "a checkpoint has fewer cosignatures than there are witnesses", "error", missing)
			missing = nil
		}
	}
	saveErr := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
		return tx.Log.AddToCheckpoint(ctx, size, string(note), response)
	})
	return errors.Join(err, missing, saveErr)
}

// cosigned returns the note of a checkpoint with the cosignatures of the witnesses that did not cosign it before, and
// an error for each that does not.
func (a Evidence) cosigned(ctx context.Context, client *http.Client, c store.SavedCheckpoint) ([]byte, error) {
	signed, tiles := []byte(c.Note), a.DB.Read().Log.Tiles(ctx)
	var missing []error
	for _, w := range a.Witnesses {
		if record.Cosigned(signed, w.Key) {
			continue
		}
		more, err := witness.Cosign(ctx, client, w, signed, 0, func(old int64) (record.AddCheckpoint, error) {
			proof, err := record.ProveConsistency(c.Size, old, tiles)
			return record.AddCheckpoint{Old: old, Proof: proof}, err
		})
		if err != nil {
			missing = append(missing, err)
			continue
		}
		signed = more
	}
	return signed, errors.Join(missing...)
}
