package account

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"aliquot/internal/atomicfile"
	"aliquot/internal/exchange/person"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// The list of erasures is a file beside the database: a line for each person who was erased, with the time and their
// id. It has no other data of theirs. A backup of an earlier time brings them back; the list erases them again.

// ReadErased reads the list of erasures; a file that is not there is an empty one.
func ReadErased(path string) (map[uuid.UUID]bool, error) {
	list := map[uuid.UUID]bool{}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	} else if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		_, text, _ := strings.Cut(lines.Text(), " ")
		id, err := uuid.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: it is not a time and the id of a user", path, n)
		}
		list[id] = true
	}
	return list, lines.Err()
}

// eraseListed has those erased at once who are in the list, and not erased in the database.
func (a Accounts) eraseListed(ctx context.Context) error {
	if a.ErasedList == "" {
		return nil
	}
	list, err := ReadErased(a.ErasedList)
	if err != nil || len(list) == 0 {
		return err
	}
	erased, err := a.DB.Read().Closing.Erased(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(list, func(id uuid.UUID, _ bool) bool { _, done := erased[id]; return done })
	// those who are missing are of a later time than the backup, or of another instance
	known, err := a.DB.Read().Users.ByIDs(ctx, slices.Collect(maps.Keys(list)))
	if err != nil {
		return err
	}
	for _, u := range known {
		if err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) error {
			e, err := tx.Closing.Erasure(ctx, u.ID, true)
			if err != nil || e.Pending() {
				return err
			}
			return tx.Closing.SaveErasure(ctx, u.ID, person.Erasure{AskedAt: &tx.Now, DueAt: &tx.Now, AskedBy: &u.ID})
		}); err != nil {
			return err
		}
	}
	return nil
}

// listErased adds to the list those who were erased and are not in it.
func (a Accounts) listErased(ctx context.Context) error {
	if a.ErasedList == "" {
		return nil
	}
	erased, err := a.DB.Read().Closing.Erased(ctx)
	if err != nil || len(erased) == 0 {
		return err
	}
	list, err := ReadErased(a.ErasedList)
	if err != nil {
		return err
	}
	before, err := os.ReadFile(a.ErasedList)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var lines strings.Builder
	for _, id := range slices.SortedFunc(maps.Keys(erased), func(a, b uuid.UUID) int {
		return erased[a].Compare(erased[b])
	}) {
		if !list[id] {
			fmt.Fprintf(&lines, "%s %s\n", erased[id].UTC().Format(time.RFC3339), id)
		}
	}
	if lines.Len() == 0 {
		return nil
	}
	return atomicfile.Write(a.ErasedList, append(before, lines.String()...))
}
