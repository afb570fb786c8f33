package transfer

import (
	"context"
	"errors"
	"slices"

	"aliquot/internal/agreement/lint"
	"aliquot/internal/app/core"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/job"
	"aliquot/internal/paper"
	"aliquot/internal/store"
)

// Papers are the use cases of what is found in agreements that were uploaded.
type Papers struct{ Requests }

// OfRequest reads what was found in the MTAs of a request whose content who may read. Earlier versions are not among
// them.
func (a Papers) OfRequest(ctx context.Context, who exchange.Actor, id int64) ([]lint.PaperCheck, error) {
	files, err := a.RequestFiles(ctx, who, id)
	if err != nil {
		return nil, err
	}
	list, err := a.DB.Read().Papers.OfRequest(ctx, id)
	return slices.DeleteFunc(list, func(p lint.PaperCheck) bool {
		return !slices.ContainsFunc(files, func(f RequestFile) bool {
			return f.Slot == p.Slot && f.AttachmentID == p.Attachment && f.State != document.Superseded
		})
	}), err
}

// Check runs the job that reads an attachment and checks it for each request of which it is the MTA. A file that
// cannot be read is a result. That no file can be read here is one too, and fails the job, which an admin retries once
// the operator has found out why.
func (a Papers) Check(ctx context.Context, r *job.Run, args core.PaperArgs) error {
	c := a.DB.Read()
	checks, err := c.Papers.OfAttachment(ctx, args.Attachment)
	if err != nil {
		return err
	}
	t, err := c.Attachments.Get(ctx, args.Attachment)
	if err != nil {
		return err
	}
	if t.Content != nil && t.Content.Scan.State == document.Checking {
		return nil // the end of the scan starts this job again
	}
	found, failed := a.read(ctx, t.Content)
	if failed != nil && !errors.Is(failed, paper.ErrNoReader) && !paper.Refused(failed) {
		return failed
	}
	forms := map[document.MTA]form{}
	for _, check := range checks {
		switch {
		case failed == nil:
			check.State = lint.Checked
			check.Findings, err = a.findings(ctx, check, t, found, forms)
		case paper.Refused(failed):
			check.State, check.Problem = lint.Unreadable, failed.Error()
		default:
			check.State, check.Problem = lint.NoReader, paper.ErrNoReader.Error()
		}
		if err != nil {
			return err
		}
		if err := r.Step(ctx, func(ctx context.Context, tx store.Conn) (exchange.Progress, any, error) {
			check.CheckedAt = &tx.Now
			return exchange.Progress{Done: r.Progress().Done + 1, Note: "checking"}, nil, tx.Papers.Save(ctx, check)
		}); err != nil {
			return err
		}
	}
	if errors.Is(failed, paper.ErrNoReader) {
		return job.GiveUp(failed)
	}
	return r.Finish(ctx, func(context.Context, store.Conn) (any, error) { return nil, nil })
}

// read reads a stored file in a process of its own.
func (a Papers) read(ctx context.Context, content *document.Content) (*lint.Paper, error) {
	if content == nil {
		return nil, paper.ErrNoFile
	}
	if content.Scan.State == document.Infected {
		return nil, paper.ErrInfected
	}
	f, err := a.OpenContent(ctx, *content)
	if err != nil {
		return nil, err
	}
	p, err := a.PaperReader.Read(ctx, f)
	return p, errors.Join(err, f.Close())
}

// form is the blank agreement that a lab gave out for a request; without pages if it cannot be read.
type form struct {
	*lint.Paper
	sha256 string
}

// findings checks what was read of an attachment for one request. It is compared with the letter of the request
// whose number it has, otherwise with the form of the lab.
func (a Papers) findings(ctx context.Context, check lint.PaperCheck, t document.Attachment, found *lint.Paper,
	forms map[document.MTA]form) ([]lint.Finding, error) {
	c := a.DB.Read()
	q, err := c.Requests.Get(ctx, check.Request)
	if exchange.CodeOf(err) == exchange.NotFound { // it was deleted
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if id := found.Letter(); id != 0 {
		known, err := letters.CaseOf(ctx, letters.New(a.Core), c, id)
		if exchange.CodeOf(err) != exchange.NotFound && err != nil {
			return nil, err
		}
		if slices.Contains(known.Letter.RequestIDs(), q.ID) {
			known.Paper = found
			return lint.Check(known), nil
		}
	}
	known := lint.Case{Day: exchange.DayOf(c.Now), Paper: found}
	if q.MTA != nil {
		if _, there := forms[*q.MTA]; !there {
			if forms[*q.MTA], err = a.form(ctx, c, *q.MTA); err != nil {
				return nil, err
			}
		}
		known.Form, known.Blank = forms[*q.MTA].Paper, forms[*q.MTA].sha256 == t.Content.SHA256
	}
	if known.Permits, err = c.Permits.OfRequests(ctx, q.ID); err != nil {
		return nil, err
	}
	_, home, err := core.DestinationOf(ctx, c, q.Requester, q.Address)
	known.Recipient.Institution = home.Institution
	return lint.Check(known), err
}

// form reads the blank agreement of a lab.
func (a Papers) form(ctx context.Context, c store.Conn, m document.MTA) (f form, err error) {
	t, err := c.Attachments.Get(ctx, m.Attachment)
	if exchange.CodeOf(err) == exchange.NotFound {
		return f, nil
	} else if err != nil {
		return f, err
	}
	content := t.Content
	if m.Version != t.Version {
		v, err := c.Attachments.Version(ctx, m.Attachment, m.Version)
		if err != nil {
			return f, err
		}
		content = &v.Content
	}
	if content == nil || t.ContentDeleted {
		return f, nil
	}
	f.sha256 = content.SHA256
	if f.Paper, err = a.read(ctx, content); paper.Refused(err) || exchange.CodeOf(err) == exchange.FileWithheld {
		err = nil
	}
	return f, err
}
