package hostile

import (
	"bufio"
	"bytes"
	"cmp"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aliquot/internal/store/storetest"
)

// table is all attacks that must change nothing.
var table = slices.Concat(smuggling, headers, paths, bodies, forms, methods, hosts, redirects, texts, connections)

// TestAttacks_AreAnsweredAsTheTableSaysAndChangeNothing sends each attack to the server, and where there is an nginx
// through that.
func TestAttacks_AreAnsweredAsTheTableSaysAndChangeNothing(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, a := range slices.Concat(table, bombs()) {
		if names[a.name] {
			t.Errorf("two attacks are %q", a.name)
		}
		names[a.name] = true
	}
	if len(names) < 200 {
		t.Errorf("%d attacks, of at least 200", len(names))
	}
	for _, kind := range storetest.Kinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := start(t, kind)
			var before, after map[string]string
			for done := false; !done; {
				began := time.Now()
				before = s.rows()
				s.attack(table, 16)
				after = s.rows()
				done = !jobsRun(began, time.Now())
			}
			for name, rows := range after {
				if before[name] != rows {
					t.Errorf("the attacks changed %s:\n%s\nbefore:\n%s", name, rows, before[name])
				}
			}
			s.attack(bombs(), 1) // spreadsheets of one person are read one at a time
			s.holds()
		})
	}
}

// doorNames are the names of the doors: is it the server's own?
var doorNames = map[bool]string{true: "directly", false: "through nginx"}

// attack sends attacks to each door, so many at a time.
func (s *service) attack(list []attack, together int) {
	doors := map[string]func(attack) string{s.address: func(a attack) string { return cmp.Or(a.direct, a.want) }}
	if hasProxy() {
		doors[proxy(s, s.address)] = func(a attack) string { return cmp.Or(a.proxy, a.want) }
	}
	var all sync.WaitGroup
	turn := make(chan struct{}, together)
	for address, wanted := range doors {
		for _, a := range list {
			all.Go(func() {
				bytes := s.names.Replace(a.send)
				if !a.halts { // those mostly wait
					turn <- struct{}{}
					defer func() { <-turn }()
					bytes += sentinel
				}
				answers, faults := send(address, bytes)
				if want := s.names.Replace(wanted(a)); answers != want {
					s.Errorf("%s, %s: %q, want %q", a.name, doorNames[address == s.address], answers, want)
				}
				for _, fault := range faults {
					s.Errorf("%s: %s", a.name, fault)
				}
			})
		}
	}
	all.Wait()
}

// jobsRun reports whether a server began the jobs of the clock between two times, which change other tables too. The
// shortest time between two of them is ten minutes.
func jobsRun(from, to time.Time) bool {
	const each = 10 * time.Minute
	return !from.Add(-each / 20).Truncate(each).Equal(to.Truncate(each))
}

// changing are the tables that a server changes by itself.
var changing = []string{"jobs"}

// rows are the rows of each table as text.
func (s *service) rows() map[string]string {
	s.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.data, "aliquot.db")+"?_pragma=busy_timeout(5000)")
	list := "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
	if s.postgres != "" {
		db, err = sql.Open("pgx", s.postgres)
		list = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"
	}
	if err != nil {
		s.Fatal(err)
	}
	defer db.Close()
	found := map[string]string{}
	for _, name := range s.texts(db, list) {
		if !slices.Contains(changing, name[0]) {
			found[name[0]] = fmt.Sprint(s.texts(db, `SELECT * FROM "`+name[0]+`"`)) //nolint:gosec // a name of a table
		}
	}
	return found
}

// texts are the rows of a query as text.
func (s *service) texts(db *sql.DB, query string) (list [][]string) {
	s.Helper()
	rows, err := db.QueryContext(s.Context(), query)
	if err != nil {
		s.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		s.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			s.Fatal(err)
		}
		row := make([]string, len(columns))
		for i, value := range values {
			row[i] = fmt.Sprint(value)
		}
		list = append(list, row)
	}
	if err := rows.Err(); err != nil {
		s.Fatal(err)
	}
	slices.SortFunc(list, slices.Compare)
	return list
}

// memoryBar is the most memory, in MiB, that a server uses that is attacked.
const memoryBar = 512

// holds checks what must be true of a server after everything: it is ready, used little memory, and neither failed nor
// answered a request that was hidden in another.
func (s *service) holds() {
	s.Helper()
	if answer := s.call(http.MethodGet, "/readyz", "", ""); answer.status != http.StatusOK {
		s.Errorf("/readyz: %d", answer.status)
	}
	if status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid)); err == nil { // where there is one
		for line := range strings.Lines(string(status)) {
			var kib int
			if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 && kib > memoryBar<<10 {
				s.Errorf("%d MiB of memory, at most %d", kib>>10, memoryBar)
			}
		}
	}
	log := bufio.NewScanner(bytes.NewReader(s.logged()))
	log.Buffer(nil, 1<<20)
	for log.Scan() {
		var line struct {
			Level, Path string
			Status      int
		}
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			s.Errorf("the log: %s: %v", log.Bytes(), err)
		}
		if line.Level == slog.LevelError.String() || line.Status >= 500 || strings.HasPrefix(line.Path, "/smuggled") {
			s.Errorf("the log: %s", log.Bytes())
		}
	}
	if err := log.Err(); err != nil {
		s.Error(err)
	}
}
