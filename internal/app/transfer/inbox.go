package transfer

import (
	"context"
	"io"
	"slices"

	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/sheet"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// InboxItem is a request with what a list shows of it.
type InboxItem struct {
	request.Detail
	Whose    request.InboxState
	Turn     *request.Turn // nil if it waits for nobody
	Roles    request.Roles
	Asker    person.User // the requester
	Assignee person.User
	Lab      string         // the name of the organization
	Pending  *PendingStatus // an action that is pending, of the reader or a colleague
}

// Inbox is one page of a person's inbox, with the number of requests of each kind.
type Inbox struct {
	exchange.ListPage[InboxItem]
	Counts request.InboxCounts
}

// Inbox lists the requests of the caller and of the caller's labs. Admins see only their own, too.
func (a Requests) Inbox(ctx context.Context, who exchange.Actor, p exchange.Page, f request.InboxFilter) (Inbox,
	error) {
	var in Inbox
	if _, err := a.Can(who, exchange.RequestList, who.ToUser(who.ID)); err != nil {
		return in, err
	}
	who.Admin = false // what admin rights allow is not one of their tasks
	c := a.DB.Read()
	var err error
	if in.Counts, err = c.Inbox.Count(ctx, f, who); err != nil {
		return in, err
	}
	list, next, err := c.Inbox.List(ctx, p, f, who)
	if err != nil {
		return in, err
	}
	in.Total, in.Next = exchange.Count{N: in.Counts.Of(f.Whose)}, next
	in.Items, err = a.InboxItems(ctx, who, list)
	return in, err
}

// Dashboard is what the start page shows of a person's requests.
type Dashboard struct {
	Tasks  []InboxItem // in which it is their turn, the longest wait first
	Own    []InboxItem // that they made and that are under way, the last changed first
	Counts request.InboxCounts
}

// Dashboard reads at most limit of the caller's tasks and of the requests that they made. Admin rights give no tasks.
func (a Requests) Dashboard(ctx context.Context, who exchange.Actor, limit int) (d Dashboard, err error) {
	if _, err := a.Can(who, exchange.RequestList, who.ToUser(who.ID)); err != nil {
		return d, err
	}
	who.Admin = false
	c := a.DB.Read()
	if d.Counts, err = c.Inbox.Count(ctx, request.InboxFilter{}, who); err != nil {
		return d, err
	}
	order := exchange.Page{Limit: limit, Order: exchange.Order{Field: request.ByWaiting, Ascending: true}}
	tasks, _, err := c.Inbox.List(ctx, order, request.InboxFilter{Whose: new(request.OnMe)}, who)
	if err != nil {
		return d, err
	}
	order.Order.Ascending = false
	own, _, err := c.Inbox.List(ctx, order, request.InboxFilter{Whose: new(request.Own)}, who)
	if err != nil {
		return d, err
	}
	items, err := a.InboxItems(ctx, who, append(slices.Clone(tasks), own...))
	if err != nil {
		return d, err
	}
	d.Tasks, d.Own = items[:len(tasks)], items[len(tasks):]
	return d, nil
}

// InboxSheet writes all requests that Inbox lists as CSV, a part at a time: a header row, and a row for each request.
func (a Requests) InboxSheet(ctx context.Context, who exchange.Actor, order exchange.Page, f request.InboxFilter,
	head []string, cells func(InboxItem) []string, out io.Writer) error {
	if _, err := a.Can(who, exchange.RequestList, who.ToUser(who.ID)); err != nil {
		return err
	}
	who.Admin = false
	w, err := sheet.NewCSV(out)
	if err != nil {
		return err
	}
	if err := w.Write(head); err != nil {
		return err
	}
	order.Limit = partOfInbox
	part := a.Parts(who.ID.String())
	for {
		var items []InboxItem
		var next *exchange.Position
		err := part(ctx, func(ctx context.Context) error {
			list, after, err := a.DB.Read().Inbox.List(ctx, order, f, who)
			if err == nil {
				next = after
				items, err = a.InboxItems(ctx, who, list)
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, item := range items {
			if err := w.Write(cells(item)); err != nil {
				return err
			}
		}
		if next == nil {
			return w.Close()
		}
		order.After = next
	}
}

// partOfInbox is how many requests are read at a time.
const partOfInbox = 200

// InboxItems adds to requests the people and labs involved, with one statement for all people and one for all labs.
func (a Requests) InboxItems(ctx context.Context, who exchange.Actor, list []request.Detail) ([]InboxItem, error) {
	c := a.DB.Read()
	pending, err := a.pendingJobs(ctx, list)
	if err != nil {
		return nil, err
	}
	var people []uuid.UUID
	var labs []int64
	for _, j := range pending {
		people = append(people, *j.User)
	}
	for _, q := range list {
		people, labs = append(people, q.Requester, q.AssignedTo), append(labs, q.Organization)
	}
	users, err := c.Users.ByIDs(ctx, people)
	if err != nil {
		return nil, err
	}
	organizations, err := c.Organizations.ByIDs(ctx, labs)
	if err != nil {
		return nil, err
	}
	byID, names := map[uuid.UUID]person.User{}, map[int64]string{}
	for _, u := range users {
		byID[u.ID] = u
	}
	for _, o := range organizations {
		names[o.ID] = o.Name
	}
	items := make([]InboxItem, len(list))
	for i, q := range list {
		roles := request.RolesOf(q.RelationsOf(who, q.Organization))
		items[i] = InboxItem{Detail: q, Whose: q.InboxState(who),
			Turn: request.WaitingOn(q.Terms, q.Targets, q.Request), Roles: roles,
			Asker: byID[q.Requester], Assignee: byID[q.AssignedTo], Lab: names[q.Organization]}
		if j, is := pending[q.ID]; is {
			if items[i].Pending, err = pendingStatus(j, who, q, byID[*j.User]); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// pendingJobs returns the jobs of the status changes that are pending, by the ids of the requests.
func (a Requests) pendingJobs(ctx context.Context, list []request.Detail) (map[int64]exchange.Job, error) {
	keys, ids := make([]string, len(list)), map[string]int64{}
	for i, q := range list {
		keys[i] = PendingAction{Request: q.ID}.Key(uuid.Nil)
		ids[keys[i]] = q.ID
	}
	found, err := a.DB.Read().Jobs.ByKeys(ctx, Do.Name, keys)
	pending := map[int64]exchange.Job{}
	for _, j := range found {
		if !j.State.Over() {
			pending[ids[*j.Key]] = j
		}
	}
	return pending, err
}

// InboxChoices lists the filters of an inbox, and the people to whom a request can be assigned.
type InboxChoices struct {
	Labs   []lab.Organization // the caller's
	People []person.User      // members of these labs, by name
	More   bool               // there are more people; Member finds them

	Materials []exchange.Named    // of the newest requests, by title
	Views     []request.InboxView // that the caller keeps
}

// InboxChoices reads the choices for the caller's inbox.
func (a Requests) InboxChoices(ctx context.Context, who exchange.Actor) (v InboxChoices, err error) {
	if _, err := a.Can(who, exchange.RequestList, who.ToUser(who.ID)); err != nil {
		return v, err
	}
	c := a.DB.Read()
	if v.Labs, err = c.Organizations.OfUser(ctx, who.ID); err != nil {
		return v, err
	}
	v.People, err = c.Inbox.Colleagues(ctx, who.ID, maxColleagues+1)
	if v.More = len(v.People) > maxColleagues; v.More {
		v.People = v.People[:maxColleagues]
	}
	if err != nil {
		return v, err
	}
	if v.Materials, err = c.Inbox.Requested(ctx, who, maxNewest); err != nil {
		return v, err
	}
	v.Views, err = c.Inbox.Views(ctx, who.ID)
	return v, err
}

// maxNewest is how many of the newest requests, of each lab and of the caller, name the materials to filter by.
const maxNewest = 100

// SaveInboxView keeps a choice of requests for who.
func (a Requests) SaveInboxView(ctx context.Context, who exchange.Actor, v request.InboxView) error {
	if err := v.Check(); err != nil {
		return err
	}
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.SavedSearchWrite, who.ToUser(who.ID), "views of the inbox"); err != nil {
			return err
		}
		if _, err := tx.Users.ForUpdate(ctx, who.ID); err != nil { // one at a time, or two could exceed the limit
			return err
		}
		list, err := tx.Inbox.Views(ctx, who.ID)
		if err != nil {
			return err
		}
		if len(list) >= request.MaxInboxViews {
			return exchange.Errorf(exchange.Conflict, "A person has at most %d views; delete one first.",
				request.MaxInboxViews)
		}
		return tx.Inbox.InsertView(ctx, who.ID, v)
	})
}

// DeleteInboxView deletes a view that who keeps.
func (a Requests) DeleteInboxView(ctx context.Context, who exchange.Actor, id int64) error {
	return a.Write(ctx, who, func(ctx context.Context, tx store.Conn, who exchange.Actor) error {
		if err := a.May(ctx, tx, who, exchange.SavedSearchWrite, who.ToUser(who.ID), "views of the inbox"); err != nil {
			return err
		}
		if there, err := tx.Inbox.DeleteView(ctx, who.ID, id); err != nil || there {
			return err
		}
		return exchange.Errorf(exchange.NotFound, "There is no such view.")
	})
}

const maxColleagues = 200
