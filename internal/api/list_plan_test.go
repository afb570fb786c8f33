package api_test

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"aliquot/internal/api"
	"aliquot/internal/store"
	"aliquot/internal/store/storetest"
)

// sorted are the orders of lists that have no index: all rows of the list are read and sorted. An index for each would
// make every write slower, so these are orders of lists that stay short, or that few people ask for.
var sorted = map[string]string{
	// what one person has
	"GET /users/{id}/tokens":          "created_at expires",
	"GET /users/{id}/passkeys":        "created_at",
	"GET /users/{id}/addresses":       "country created_at institution name updated_at",
	"GET /users/{id}/saved-searches":  "created_at name updated_at",
	"GET /users/{id}/join-requests":   "answered_at created_at status",
	"GET /users/{id}/inquiries":       "answered_at created_at",
	"GET /users/{id}/notifications":   "category created_at kind read_at request",
	"GET /grants":                     "created_at funder_id title updated_at",
	"GET /organization-user-settings": "created_at organization updated_at",
	"GET /jobs":                       "created_at ended_at kind state",
	// what one lab has
	"GET /organizations/{id}/members":                       "created_at first_name id last_name updated_at username",
	"GET /organizations/{id}/grants":                        "created_at funder_id id title updated_at",
	"GET /organizations/{id}/invitations":                   "created_at email expires_at registry_id sent_at",
	"GET /organizations/{id}/join-requests":                 "answered_at created_at status",
	"GET /organizations/{id}/inquiries":                     "answered_at created_at",
	"GET /organizations/{id}/history":                       "action at",
	"GET /organizations/{id}/webhooks":                      "created_at updated_at",
	"GET /organizations/{id}/webhooks/{webhook}/deliveries": "created_at ended_at state type",
	"GET /organizations/{id}/materials":                     "embargo_date organization",
	"GET /shipping-requirements":                            "created_at organization updated_at",
	// what belongs to one request, material or grant
	"GET /material-requests/{id}/events":   "at kind",
	"GET /material-requests/{id}/messages": "sent_at",
	"GET /material-requests/{id}/issues":   "closed_at opened_at",
	"GET /material-requests/{id}/turns":    "began_at ended_at status",
	"GET /materials/{id}/history":          "action at",
	"GET /grants/{id}/materials":           "category created_at embargo_date title updated_at",
	// seldom asked for
	"GET /material-requests": "created_at material status",
	"GET /materials":         "embargo_date",
	"GET /attachments":       "media_type size",
	"GET /audit-events":      "object",
}

// crowdSize is how many rows each table has whose lists' plans are looked at; -crowd 100000 takes minutes.
var crowdSize = flag.Int("crowd", 3000, "rows of each table whose lists' plans are looked at")

// TestLists_ReadNoMoreThanTheyShow in each order but those of sorted, as the databases' plans have it.
func TestLists_ReadNoMoreThanTheyShow(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := newCrowd(t, db, *crowdSize)
		lists := c.lists()
		for route, fields := range api.ListFields() {
			list := lists[route]
			if route == "GET /material-requests" {
				list.by = c.owner // of few labs
			}
			for _, field := range fields {
				if slices.Contains(strings.Fields(sorted[route]), field.Name) {
					continue
				}
				c.checkPlan(route, list, field.Name)
				c.checkPlan(route, list, "-"+field.Name) // for the id the order without a name
			}
		}
		for _, w := range c.walks() {
			c.checkWalk(w)
		}
	})
}

// checkPlan fails if a page of a list is made by sorting or scanning more than a few times as many rows as it shows.
func (c *crowd) checkPlan(route string, list longList, order string) {
	c.t.Helper()
	const limit = 10
	path := fmt.Sprintf("%s?limit=%d", list.path, limit)
	if order != "" {
		path += "&ordering=" + order
	}
	page := c.watched(func() { list.by.want(200, "GET", path, nil) }, func(query string) bool {
		return strings.Contains(query, " o ") && strings.Contains(query, "LIMIT $")
	})
	if len(page) == 0 {
		c.t.Errorf("%s by %q runs no statement of a list", route, order)
	}
	for _, s := range page {
		plan := c.plan(s.query, s.args)
		if c.db.Postgres() {
			if n := maxRows(plan); n > 5*limit {
				c.t.Errorf("%s by %q reads %d rows for %d:\n%s\n%s", route, order, n, limit, s.query, plan)
			}
			continue
		}
		allowed := 0
		if scopes := strings.Count(s.query, ") part"); scopes > 0 {
			allowed = scopes + 1 // to unite the pages of the scopes, and to sort what they have together
		}
		if strings.Contains(plan, "SCAN o\n") || strings.Count(plan, "TEMP B-TREE FOR ORDER BY") > allowed {
			c.t.Errorf("%s by %q scans or sorts:\n%s\n%s", route, order, s.query, plan)
		}
	}
}

// statement is a query that was run, with its arguments.
type statement struct {
	query string
	args  []any
}

// watched returns the reading statements that do runs, of those that of is true for.
func (c *crowd) watched(do func(), of func(query string) bool) (list []statement) {
	c.db.Watch(func(query string, args []any) {
		if of(query) {
			list = append(list, statement{query, args})
		}
	})
	defer c.db.Watch(nil)
	do()
	return list
}

var (
	// the steps of a plan of SQLite that read a table without an index, and that make a part of the statement
	tableScan  = regexp.MustCompile(`SCAN (\w+)\n`)
	madeRows   = regexp.MustCompile(`(?:CO-ROUTINE|MATERIALIZE) (\w+)\n`)
	actualRows = regexp.MustCompile(`\(actual rows=(\d+) `)
)

// maxRows is the number of rows of the step of a plan of PostgreSQL that has most.
func maxRows(plan string) (most int) {
	for _, rows := range actualRows.FindAllStringSubmatch(plan, -1) {
		n, _ := strconv.Atoi(rows[1])
		most = max(most, n)
	}
	return most
}

// scansTable reports whether a plan of SQLite reads a table without an index. Parts of the statement are no tables; nor
// does it count that b is read, the spreadsheets in work: where some materials are staged, once, to know which of them
// are published.
func scansTable(plan string) bool {
	made := []string{"b"}
	for _, rows := range madeRows.FindAllStringSubmatch(plan, -1) {
		made = append(made, rows[1])
	}
	return slices.ContainsFunc(tableScan.FindAllStringSubmatch(plan, -1), func(scan []string) bool {
		return !slices.Contains(made, scan[1])
	})
}

// plan returns how the database runs a statement, a step on each line. What the statement changes is rolled back.
func (c *crowd) plan(query string, args []any) string {
	explain, columns := "EXPLAIN QUERY PLAN ", 4
	if c.db.Postgres() {
		explain, columns = "EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) ", 1
	}
	tx, err := c.sql.BeginTx(c.t.Context(), nil)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	rows, err := tx.QueryContext(c.t.Context(), explain+query, args...)
	if err != nil {
		c.t.Fatal(query, err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		line := make([]any, columns)
		for i := range line {
			line[i] = new(any)
		}
		if err := rows.Scan(line...); err != nil {
			c.t.Fatal(err)
		}
		fmt.Fprintln(&plan, *line[columns-1].(*any))
	}
	if err := rows.Err(); err != nil {
		c.t.Fatal(err)
	}
	return plan.String()
}
