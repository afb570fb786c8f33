// Package paper reads uploaded PDFs in child processes, which are killed when they take too long or too much memory:
// uploads may attack whoever reads them.
package paper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"aliquot/internal/agreement/lint"
)

// The limits of a paper and of its reading.
const (
	MaxFile    = 32 << 20
	maxPages   = 200
	maxText    = 1 << 20 // bytes of all pages
	maxAnswer  = 8 << 20 // bytes of JSON
	maxMemory  = 3 << 30 // bytes of address space of the child
	engineRoom = 2048    // pages of 64 KiB for the memory of the engine: 128 MiB
)

// Why a paper is not read. The texts say how to correct it.
var (
	ErrTooLarge   = errors.New("the file is larger than 32 MiB; reduce the resolution of its scan")
	ErrTooSlow    = errors.New("reading the file takes too long; print it to a new PDF and upload that")
	ErrUnreadable = errors.New("the file is not a PDF that can be read; print it to a new PDF and upload that")
	ErrPassword   = errors.New("the file has a password; upload one without")
	ErrTooLong    = errors.New("the file has more than 200 pages, or a megabyte of text; upload the agreement alone")
	ErrInfected   = errors.New("a virus was found in the file; upload one without")
	ErrNoFile     = errors.New("its file is not here; upload it again")
	// ErrNoReader is about this installation, and not about a file.
	ErrNoReader = errors.New("papers cannot be read here; the operator finds out why with \"aliquot read-paper\"")
)

// refusals are the errors that a child may answer.
var refusals = []error{ErrTooLarge, ErrUnreadable, ErrPassword, ErrTooLong}

// Refused reports whether a file was not read because of what it is.
func Refused(err error) bool {
	return slices.ContainsFunc(append(refusals, ErrTooSlow, ErrInfected, ErrNoFile),
		func(r error) bool { return errors.Is(err, r) })
}

// answer is what a child writes.
type answer struct {
	Pages    []lint.Page `json:"pages,omitempty"`
	Error    string      `json:"error,omitempty"`     // about the file
	NoReader string      `json:"no_reader,omitempty"` // why no file can be read
}

// Reader reads papers, each in a process of its own. The zero value reads none: ErrNoReader.
type Reader struct {
	Command []string      // runs Child on its standard input and output
	Env     []string      // of the child, which gets nothing else of ours
	Limit   time.Duration // for a paper
}

// Read returns what is in a file. It fails with one of the errors above, or as ctx does.
func (r Reader) Read(ctx context.Context, file io.Reader) (*lint.Paper, error) {
	if len(r.Command) == 0 {
		return nil, ErrNoReader
	}
	limited, cancel := context.WithTimeout(ctx, r.Limit)
	defer cancel()
	child := exec.CommandContext(limited, r.Command[0], r.Command[1:]...)
	out := &capped{room: maxAnswer}
	child.Stdin, child.Stdout, child.WaitDelay = file, out, time.Second
	child.Env = append([]string{}, r.Env...) // without any, it would have ours
	child.SysProcAttr = endsWithParent()
	runtime.LockOSThread() // the child ends with this thread
	defer runtime.UnlockOSThread()
	if err := child.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoReader, err)
	}
	err := child.Wait()
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, ErrTooSlow
	case err != nil: // it crashed, or ran out of memory
		return nil, ErrUnreadable
	}
	var a answer
	if err := json.Unmarshal(out.kept.Bytes(), &a); err != nil {
		return nil, ErrUnreadable
	}
	if a.NoReader != "" {
		return nil, fmt.Errorf("%w: %s", ErrNoReader, a.NoReader)
	}
	for _, refusal := range refusals {
		if a.Error == refusal.Error() {
			return nil, refusal
		}
	}
	if a.Error != "" {
		return nil, ErrUnreadable
	}
	return &lint.Paper{Pages: a.Pages}, nil
}

// capped keeps as many bytes as it has room for, and fails on more. The buffer is not embedded: its ReadFrom has no
// limit, and io.Copy prefers that.
type capped struct {
	kept bytes.Buffer
	room int
}

func (c *capped) Write(b []byte) (int, error) {
	if c.kept.Len()+len(b) > c.room {
		return 0, ErrTooLong
	}
	return c.kept.Write(b)
}

// Child reads one file from in and writes the answer to out. It is what the command of a Reader runs. The folder keeps
// the compiled engine, which otherwise takes seconds each time; empty: none.
func Child(in io.Reader, out io.Writer, cacheFolder string) error {
	if err := limitMemory(maxMemory); err != nil {
		return err
	}
	file, err := io.ReadAll(io.LimitReader(in, MaxFile+1))
	if err != nil {
		return err
	}
	var a answer
	if len(file) > MaxFile {
		a.Error = ErrTooLarge.Error()
	} else if e, err := newEngine(cacheFolder); err != nil {
		a.NoReader = err.Error()
	} else if a.Pages, err = e.read(file); errors.Is(err, ErrNoReader) {
		a.NoReader = err.Error()
	} else if err != nil {
		a.Error = err.Error()
	}
	return json.NewEncoder(out).Encode(a)
}
