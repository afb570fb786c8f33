package store_test

import (
	stdcontext "context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/store"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestErrors_MissingRowIsNotFound(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		material := l.material(l.organization(user), user, nil)
		l.request(material, user, user, nil)
		for name, read := range map[string]func(ctx context, c store.Conn) error{
			"User": func(ctx context, c store.Conn) error {
				_,
					err := c.Users.Get(ctx, uuid.New())
				return err
			},
			"UserForUpdate": func(ctx context, c store.Conn) error {
				_,
					err := c.Users.ForUpdate(ctx, uuid.New())
				return err
			},
			"UserByRegistryID": func(ctx context, c store.Conn) error {
				_,
					err := c.Users.ByRegistryID(ctx, "")
				return err
			},
			"Organization": func(ctx context, c store.Conn) error {
				_,
					err := c.Organizations.Get(ctx, 1)
				return err
			},
			"OrganizationForUpdate": func(ctx context, c store.Conn) error {
				_,
					err := c.Organizations.ForUpdate(ctx, 1)
				return err
			},
			"Membership": func(ctx context, c store.Conn) error {
				_,
					err := c.Memberships.Get(ctx, 1)
				return err
			},
			"Shipping": func(ctx context, c store.Conn) error { _, err := c.Shippings.Get(ctx, 1); return err },
			"ShippingForUpdate": func(ctx context, c store.Conn) error {
				_,
					err := c.Shippings.ForUpdate(ctx, 1)
				return err
			},
			"Address": func(ctx context, c store.Conn) error {
				_,
					err := c.Addresses.Get(ctx, user, 1)
				return err
			},
			"Material": func(ctx context, c store.Conn) error {
				_,
					err := c.Materials.Get(ctx, -1)
				return err
			},
			"MaterialForUpdate": func(ctx context, c store.Conn) error {
				_,
					err := c.Materials.ForUpdate(ctx, 0)
				return err
			},
			"MaterialForShare": func(ctx context, c store.Conn) error {
				_,
					err := c.Materials.ForShare(ctx, 1)
				return err
			},
			"ShownMaterial": func(ctx context, c store.Conn) error {
				_,
					err := c.Materials.Shown(ctx, 1<<63-1)
				return err
			},
			"MaterialByImport": func(ctx context, c store.Conn) error {
				_,
					err := c.Materials.ByImport(ctx, "GEO", "GSE1")
				return err
			},
			"Attachment": func(ctx context, c store.Conn) error {
				_,
					err := c.Attachments.Get(ctx, 1)
				return err
			},
			"AttachmentForUpdate": func(ctx context, c store.Conn) error {
				_,
					err := c.Attachments.ForUpdate(ctx, 1)
				return err
			},
			"Request": func(ctx context, c store.Conn) error { _, err := c.Requests.Get(ctx, 1); return err },
			"RequestForUpdate": func(ctx context, c store.Conn) error {
				_,
					err := c.Requests.ForUpdate(ctx, 1)
				return err
			},
			"Issue": func(ctx context, c store.Conn) error {
				_,
					err := c.Requests.Issue(ctx, 1, 1)
				return err
			},
			"DeleteAddress": func(ctx context, c store.Conn) error { return c.Addresses.Delete(ctx, user, 1) },
			"DeleteToken":   func(ctx context, c store.Conn) error { return c.Tokens.Delete(ctx, user, 1) },
			"MarkRead": func(ctx context,
				c store.Conn) error {
				return c.Notifications.MarkRead(ctx, user, 1, true)
			},
		} {
			l.write(func(ctx context, tx store.Conn) error {
				code(t, name, read(ctx, tx), exchange.NotFound)
				return nil
			})
		}
	})
}

func TestErrors_DuplicateIsAConflict(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		first := l.user()
		organization := l.organization(first.ID)
		requestID := l.request(l.material(organization, first.ID, nil), first.ID, first.ID, nil)
		imported := material.Material{OrganizationID: organization, ContactID: first.ID, ImportSource: "GEO",
			ImportIdentifier: new("GSE1")}
		l.write(func(ctx context, tx store.Conn) error {
			_, err := tx.Materials.Insert(ctx, imported)
			_, errToken := tx.Tokens.Insert(ctx, person.Token{UserID: first.ID, ExpiresAt: start}, "hash")
			return errors.Join(err, errToken)
		})
		l.attachment(first.ID, func(a *document.Attachment) { a.Content = &document.Content{Key: "key"} })
		l.event(requestID, first.ID, request.Messaged)
		for name, again := range map[string]func(ctx context, tx store.Conn) error{
			"id": func(ctx context, tx store.Conn) error {
				u := newUser()
				u.ID = first.ID
				return tx.Users.Insert(ctx, u)
			},
			"username": func(ctx context, tx store.Conn) error {
				u := newUser()
				u.Username = first.Username
				return tx.Users.Insert(ctx, u)
			},
			"registry id": func(ctx context, tx store.Conn) error {
				u := newUser()
				u.RegistryID = first.RegistryID
				return tx.Users.Insert(ctx, u)
			},
			"import identifier": func(ctx context, tx store.Conn) error {
				_,
					err := tx.Materials.Insert(ctx, imported)
				return err
			},
			"token": func(ctx context, tx store.Conn) error {
				_, err := tx.Tokens.Insert(ctx, person.Token{UserID: first.ID, ExpiresAt: start}, "hash")
				return err
			},
			"content key": func(ctx context, tx store.Conn) error {
				_, err := tx.Attachments.Insert(ctx, document.Attachment{Content: &document.Content{Key: "key"}})
				return err
			},
			"number of an event": func(ctx context, tx store.Conn) error {
				q := request.Detail{Request: request.Request{ID: requestID}}
				_, err := tx.Events.Append(ctx, &q, []request.Event{{Actor: first.ID}})
				return err
			},
		} {
			err := l.db.Tx(l.ctx, again)
			code(t, "the same "+name, err, exchange.Conflict)
			if e, ok := errors.AsType[*exchange.Error](err); ok && e.Cause == nil {
				t.Errorf("the same %s: the log is not told the cause", name)
			}
		}
		l.write(func(ctx context, tx store.Conn) error { // what has no identifier is no duplicate
			other := imported
			other.ImportSource = "SRA"
			_, err := tx.Materials.Insert(ctx, other)
			other.ImportIdentifier = nil
			_, again := tx.Materials.Insert(ctx, other)
			_, more := tx.Materials.Insert(ctx, other)
			return errors.Join(err, again, more)
		})
	})
}

func TestErrors_DanglingReferenceIsInvalid(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		organization := l.organization(user)
		materialID := l.material(organization, user, nil)
		for name, insert := range map[string]func(ctx context, tx store.Conn) error{
			"owner": func(ctx context, tx store.Conn) error {
				_, err := tx.Organizations.Insert(ctx, lab.Organization{Owner: uuid.New()})
				return err
			},
			"organization of a material": func(ctx context, tx store.Conn) error {
				_, err := tx.Materials.Insert(ctx, material.Material{OrganizationID: 1, ContactID: user})
				return err
			},
			"shipping of a material": func(ctx context, tx store.Conn) error {
				_, err := tx.Materials.Insert(ctx,
					material.Material{OrganizationID: organization, ContactID: user, ShippingID: new(int64(1))})
				return err
			},
			"organization of shipping": func(ctx context, tx store.Conn) error {
				_, err := tx.Shippings.Insert(ctx, lab.Shipping{})
				return err
			},
			"user of an address": func(ctx context, tx store.Conn) error {
				_, err := tx.Addresses.Insert(ctx, person.Address{})
				return err
			},
			"user of a token": func(ctx context, tx store.Conn) error {
				_, err := tx.Tokens.Insert(ctx, person.Token{UserID: uuid.New(), ExpiresAt: start}, "h")
				return err
			},
			"owner of an attachment": func(ctx context, tx store.Conn) error {
				_, err := tx.Attachments.Insert(ctx, document.Attachment{OwnedByUser: new(uuid.New())})
				return err
			},
			"material of a request": func(ctx context, tx store.Conn) error {
				_, err := tx.Requests.Insert(ctx, request.Request{MaterialID: 1, Requester: user, AssignedTo: user})
				return err
			},
			"assignee of a request": func(ctx context, tx store.Conn) error {
				_, err := tx.Requests.Insert(ctx,
					request.Request{MaterialID: materialID, Requester: user, AssignedTo: uuid.New()})
				return err
			},
			"members of nothing": func(ctx context, tx store.Conn) error {
				_, err := tx.Organizations.SetMembers(ctx, 1, []uuid.UUID{user})
				return err
			},
		} {
			code(t, name, l.db.Tx(l.ctx, insert), exchange.InvalidInput)
		}
	})
}

// rivals runs do ten times at once, and returns how it ended each time.
func (l testLab) rivals(do func(ctx context, tx store.Conn) error) (codes []exchange.Code) {
	var wait sync.WaitGroup
	var mu sync.Mutex
	begin := make(chan struct{})
	for range 10 {
		wait.Go(func() {
			<-begin
			err := l.db.Tx(l.ctx, do)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				codes = append(codes, "")
			} else {
				codes = append(codes, exchange.CodeOf(err))
			}
		})
	}
	close(begin)
	wait.Wait()
	slices.Sort(codes)
	return codes
}

func TestErrors_OneOfManyRivalsForANameWins(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		user := l.user().ID
		organization := l.organization(user)
		want := append([]exchange.Code{""}, slices.Repeat([]exchange.Code{exchange.Conflict}, 9)...)
		same(t, "one registry id", want, l.rivals(func(ctx context, tx store.Conn) error {
			u := newUser()
			u.RegistryID = "0000-0002-1825-0097"
			return tx.Users.Insert(ctx, u)
		}))
		same(t, "one import identifier", want, l.rivals(func(ctx context, tx store.Conn) error {
			_, err := tx.Materials.Insert(ctx,
				material.Material{OrganizationID: organization, ContactID: user, ImportSource: "GEO",
					ImportIdentifier: new("GSE1")})
			return err
		}))
		if n := l.rows("materials"); n != 1 {
			t.Errorf("%d materials", n)
		}
	})
}

func TestErrors_OfTheDriversAreTranslated(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want exchange.Code
	}{
		"no row":                {sql.ErrNoRows, exchange.NotFound},
		"unique":                {&pgconn.PgError{Code: "23505"}, exchange.Conflict},
		"foreign key":           {&pgconn.PgError{Code: "23503"}, exchange.InvalidInput},
		"no connection left":    {&pgconn.PgError{Code: "53300"}, exchange.Unavailable},
		"disk full":             {&pgconn.PgError{Code: "53100"}, exchange.StorageFull},
		"crashed":               {&pgconn.PgError{Code: "57P02"}, exchange.Unavailable},
		"connection failure":    {&pgconn.PgError{Code: "08006"}, exchange.Unavailable},
		"a standby now":         {&pgconn.PgError{Code: "25006"}, exchange.Unavailable},
		"cut off by the server": {&pgconn.PgError{Code: "57014"}, exchange.Unavailable},
		"bad connection":        {driver.ErrBadConn, exchange.Unavailable},
		"connection closed":     {fmt.Errorf("exec: %w", pgconn.ErrConnClosed), exchange.Unavailable},
		"end of connection":     {fmt.Errorf("receive message: %w", io.ErrUnexpectedEOF), exchange.Unavailable},
		"broken pipe": {&net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EPIPE)},
			exchange.Unavailable},
		"reset, as the caller left": {errors.Join(&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded},
			stdcontext.Canceled), exchange.Internal},
		"full (SQLite)":        {fullSQLite(t), exchange.StorageFull},
		"going":                {&pgconn.PgError{Code: "57P01"}, exchange.Unavailable},
		"starting":             {&pgconn.PgError{Code: "57P03"}, exchange.Unavailable},
		"not null":             {&pgconn.PgError{Code: "23502"}, exchange.Internal},
		"gone":                 {stdcontext.Canceled, exchange.Internal},
		"ours, as it is":       {exchange.Errorf(exchange.Forbidden, "no"), exchange.Forbidden},
		"busy (SQLite)":        {busy(t), exchange.Unavailable},
		"no server (Postgres)": {noServer(t), exchange.Unavailable},
	} {
		got := store.Translate(test.err)
		code(t, name, got, test.want)
		if !errors.Is(got, test.err) && test.want != exchange.NotFound {
			t.Errorf("%s: the cause is lost", name)
		}
	}
	if err := store.Translate(nil); err != nil {
		t.Errorf("no error became %v", err)
	}
}

// busy is the error of SQLite for one who would not wait for another's transaction.
func busy(t *testing.T) error {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "busy.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	other, err := db.BeginTx(t.Context(), nil)
	if err == nil {
		_ = other.Rollback()
		t.Fatal("two transactions at once")
	}
	return err
}

// fullSQLite is the error of SQLite for a database that may not grow.
func fullSQLite(t *testing.T) error {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "full.db")+"?_pragma=max_page_count(4)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE blobs (content BLOB)"); err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "INSERT INTO blobs VALUES (zeroblob(100000))")
	if err == nil {
		t.Fatal("the database grew")
	}
	return err
}

// noServer is the error of pgx where nobody listens.
func noServer(t *testing.T) error {
	t.Helper()
	_, err := pgconn.Connect(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=5&sslmode=disable")
	if err == nil {
		t.Fatal("someone listens on port 1")
	}
	return err
}

func TestOpen_WithoutAServerFailsAndHidesThePassword(t *testing.T) {
	t.Parallel()
	_, err := store.Open(t.Context(), "postgres://nobody:hunter2@127.0.0.1:1/none?connect_timeout=5")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Open: %v", err)
	}
}
