package store_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store"
)

func TestAudit_EventIsOneLogRecordAfterTheCommit(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, l testLab) {
		var log bytes.Buffer
		l.db.Log = slog.New(slog.NewJSONHandler(&log, nil))
		user := l.user().ID
		note := func(ctx context, tx store.Conn) error {
			return tx.Audit.Insert(ctx, &user, exchange.TokenCreate, "token 7", false, nil)
		}
		if l.db.Tx(l.ctx, func(ctx context,
			tx store.Conn) error {
			return errors.Join(note(ctx, tx), errors.New("no"))
		}) == nil || log.Len() > 0 {
			t.Errorf("before anything is committed: %s", log.String())
		}
		l.write(note)
		if got := log.String(); strings.Count(got, "\n") != 1 ||
			!strings.Contains(got, `"msg":"audit","actor":"`+user.String()+
				`","action":"token.create","object":"token 7"`) {
			t.Errorf("the log has %s", got)
		}
	})
}
