package evidence

import (
	"context"
	"fmt"
	"strings"
	"time"

	"aliquot/internal/app/notifier"
	"aliquot/internal/exchange/notify"
	"aliquot/internal/job"
	"aliquot/internal/record"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// Verification is what a check of the record takes in addition to the database; the zero value is nothing.
type Verification struct {
	Since    []byte                  // a signed checkpoint that was kept elsewhere
	Files    bool                    // check the content of stored files too
	Fault    func(error)             // gets each fault once it is found
	Progress func(done, total int64) // is called now and then as events are checked
}

// Report is the result of Verify.
type Report struct {
	Events      int64         `json:"events"`
	Requests    int           `json:"requests"`
	Entries     int64         `json:"entries"` // of the log
	Checkpoints int64         `json:"checkpoints"`
	Files       int           `json:"files"`
	Bytes       int64         `json:"bytes"`
	Structure   bool          `json:"structure"` // the database checked its own
	Took        time.Duration `json:"took"`
	FaultCount  int64         `json:"fault_count"`
	Faults      []string      `json:"faults"` // the first ones, a sentence each

	tell func(error)
}

// progressStep is how many events are checked between calls of Progress.
const progressStep = 1000

// maxFaults is how many faults a Report lists.
const maxFaults = 100

func (r *Report) fault(err error) {
	if r.FaultCount++; len(r.Faults) < maxFaults {
		r.Faults = append(r.Faults, err.Error())
	}
	if r.tell != nil {
		r.tell(err)
	}
}

func (r *Report) faultf(format string, args ...any) { r.fault(fmt.Errorf(format, args...)) }

// Verify checks the record: the structure of the database, every chain, every row against its events, the events and
// turns of requests, the log against the chains, its checkpoints against their signatures and against one that was kept
// elsewhere, and the content of files. It sees one state of the database; others may write meanwhile.
func (a Evidence) Verify(ctx context.Context, v Verification) (*Report, error) {
	began := time.Now()
	r := &Report{tell: v.Fault}
	var err error
	if r.Structure, err = a.DB.CheckStructure(ctx, r.fault); err != nil {
		return r, err
	}
	err = a.DB.Snapshot(ctx, func(ctx context.Context, c store.Conn) error { return r.verify(ctx, c, v) })
	if err == nil && v.Files {
		if err = a.verifyFiles(ctx, r); err == nil {
			err = a.verifyVersions(ctx, r)
		}
	}
	r.Took = time.Since(began)
	return r, err
}

// VerifyRestored is Verify of a database that was just made of a backup, but for its structure and the content of
// files.
func VerifyRestored(ctx context.Context, c store.Conn, v Verification) error {
	r := &Report{tell: v.Fault}
	return r.verify(ctx, c, v)
}

// verify checks all that is in the database.
func (r *Report) verify(ctx context.Context, c store.Conn, v Verification) error {
	total, err := c.Chains.Count(ctx)
	if err != nil {
		return err
	}
	done := int64(0)
	r.Events, err = c.VerifyRecord(ctx, r.fault, func() {
		if done++; v.Progress != nil && (done%progressStep == 0 || done == total) {
			v.Progress(done, total)
		}
	})
	if err == nil {
		err = verifyRequests(ctx, c, r)
	}
	if err == nil {
		err = verifyLog(ctx, c, r, v.Since)
	}
	return err
}

// verifyLog checks the log against the chains, its checkpoints, and since, unless that is nil.
func verifyLog(ctx context.Context, c store.Conn, r *Report, since []byte) error {
	keys, err := c.Log.Keys(ctx, true)
	if err != nil {
		return err
	}
	known, err := record.Verifiers(keys...)
	if err != nil {
		r.fault(fmt.Errorf("log: its keys were altered: %w", err))
		return nil
	}
	origin := ""
	if len(keys) > 0 {
		origin, _, _ = strings.Cut(keys[0], "+")
	}
	var outside []record.Checkpoint
	if since != nil {
		old, err := record.ParseCheckpoint(string(since))
		if err != nil {
			return fmt.Errorf("since: %w", err)
		}
		if origin != "" && old.Origin != origin {
			return fmt.Errorf("since: it is a checkpoint of %s; this log is %s", old.Origin, origin)
		}
		if _, _, err := record.OpenCheckpoint(since, origin, known); err != nil {
			r.fault(fmt.Errorf("since: %w", err))
		}
		outside = append(outside, old)
	}
	const atOnce = 256
	for after, more := int64(0), true; more; {
		list, err := c.Log.Checkpoints(ctx, after, atOnce)
		if err != nil {
			return err
		}
		for _, s := range list {
			after = s.Size
			r.Checkpoints++
			if _, _, err := record.OpenCheckpoint([]byte(s.Note), origin, known); err != nil {
				r.fault(fmt.Errorf("log, checkpoint of size %d: %w", s.Size, err))
			}
			if s.Response == nil {
				continue
			}
			if _, err := record.CheckTimestamp(s.Response, []byte(s.Note), nil, nil); err != nil {
				r.fault(fmt.Errorf("log, checkpoint of size %d: %w", s.Size, err))
			}
		}
		more = len(list) == atOnce
	}
	if err := c.Log.Verify(ctx, r.fault, outside...); err != nil {
		return err
	}
	head, err := c.Log.Size(ctx)
	r.Entries = head
	return err
}

// Nightly is the kind of job that checks the record. It is periodic; its result is a Report.
var Nightly = job.Kind[struct{}]{Name: "record.verify", Timeout: 6 * time.Hour, MaxAttempts: 3, Heavy: true}

// VerifyNightly checks the record, without the content of files, and notifies the admins of faults.
func (a Evidence) VerifyNightly(ctx context.Context, r *job.Run, _ struct{}) error {
	report, err := a.Verify(ctx, Verification{Fault: func(err error) {
		a.Log.ErrorContext(ctx, "the record is not what was written", "fault", err)
	}})
	if err != nil {
		return err
	}
	return r.Finish(ctx, func(ctx context.Context, tx store.Conn) (any, error) {
		if report.FaultCount == 0 {
			return report, nil
		}
		admins, err := tx.Users.Admins(ctx)
		if err != nil {
			return nil, err
		}
		var ids []uuid.UUID
		for _, u := range admins {
			ids = append(ids, u.ID)
		}
		return report, notifier.NotifyPeople(ctx, tx, notify.Announcement{Kind: notify.RecordFaulty,
			Detail: notify.AnnouncementDetail{Count: int(report.FaultCount), Reason: report.Faults[0]}}, ids...)
	})
}
