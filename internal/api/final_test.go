package api_test

import (
	"fmt"
	"strings"
	"testing"

	"aliquot/internal/exchange"
	"aliquot/internal/store/storetest"
)

// TestFinal_SignaturesAndCheckpointsAreAsSafeAsTheServerIsSet: the database refuses signatures and checkpoints whose
// commit does not wait as long as it is set to, and materials whose commit does, since the address says that they need not.
func TestFinal_SignaturesAndCheckpointsAreAsSafeAsTheServerIsSet(t *testing.T) {
	t.Parallel()
	if _, ok := storetest.Postgres(); !ok {
		return // SQLite has one machine, and every commit is on its disk
	}
	where := storetest.Where(storetest.Open(t, storetest.PostgreSQL))
	join := "?"
	if strings.Contains(where, "?") {
		join = "&"
	}
	s := newScene(t, storetest.At(t, where+join+"synchronous_commit=local"), exchange.AccessMembers)
	s.execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN RAISE EXCEPTION '% with synchronous_commit %', TG_TABLE_NAME, current_setting('synchronous_commit'); END $$`)
	for table, level := range map[string]string{"agreement_signatures": "local", "log_checkpoints": "local",
		"approvals": "local", "materials": "on"} {
		event := "INSERT"
		if table == "approvals" { // it is drafted first
			event = "UPDATE"
		}
		s.execute(fmt.Sprintf(`CREATE TRIGGER refuse BEFORE %s ON %s FOR EACH ROW
			WHEN (current_setting('synchronous_commit') = '%s') EXECUTE FUNCTION refuse()`, event, table, level))
	}
	s.executed(s.newDataset())
	all := s.institution().path + "/approvals"
	one := fmt.Sprintf("%s/%d", all, s.owner.want(201, "POST", all, standing()).id())
	s.owner.want(200, "POST", one+"/sign", obj{"version": 1})
	s.sign()
	s.anonymous().want(200, "GET", "/log/checkpoint", nil)
}
