package store

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/record"
	"aliquot/internal/store/sqldb"

	"github.com/google/uuid"
)

// ActAs says on whose behalf the transaction makes its changes; uuid.Nil is nobody who is known.
func (c Conn) ActAs(user uuid.UUID) {
	c.conn.Changes.Actor = ""
	if user != uuid.Nil {
		c.conn.Changes.Actor = user.String()
	}
}

// record appends what a transaction changed to the chains of the objects that it changed.
func (c Conn) record(ctx context.Context) error {
	if c.conn.Changes == nil || len(c.conn.Changes.Rows) == 0 {
		return nil
	}
	r := recorder{actor: c.conn.Changes.Actor, acts: map[string]*ChainAct{}, events: map[int64]*ChainEvent{}}
	for _, change := range c.conn.Changes.Rows {
		if err := r.add(change); err != nil {
			return err
		}
	}
	c.conn.Changes.Rows = nil
	if err := r.notify(ctx, c); err != nil {
		return err
	}
	acts := r.list()
	stored, err := c.Chains.Append(ctx, acts...)
	if err == nil && (c.conn.Changes.Forget || len(c.conn.Changes.Reasons) > 0) {
		err = c.Chains.forget(ctx, r.actor, acts, stored)
	}
	return err
}

// recorder makes acts on objects of the rows that a transaction changed.
type recorder struct {
	actor    string
	acts     map[string]*ChainAct
	events   map[int64]*ChainEvent // by the id of the event of a request
	notified map[int64][]string    // likewise, who was
}

func (r *recorder) act(chain string) *ChainAct {
	act := r.acts[chain]
	if act == nil {
		act = &ChainAct{Chain: chain, Actor: r.actor, Row: record.Row{}}
		r.acts[chain] = act
	}
	return act
}

// list returns the acts.
func (r *recorder) list() []ChainAct {
	list := make([]ChainAct, 0, len(r.acts))
	for _, act := range r.acts {
		list = append(list, *act)
	}
	return list
}

func (r *recorder) add(change sqldb.Change) error {
	switch change.Table {
	case "request_events":
		return r.addEvent(change)
	case "audit_events":
		return r.addAudit(change)
	case "notifications":
		return r.addNotified(change)
	}
	t := recordedTables[change.Table]
	key, row, err := t.read(change.Table, change.Values, change.Deleted)
	if err != nil {
		return err
	}
	maps.Copy(r.act(t.object+"/"+key).Row, row)
	return nil
}

// texts are the values of a change as text, by column; those that have none are "".
func texts(columns []string, values []any) (map[string]string, error) {
	all := map[string]string{}
	for i, name := range columns {
		if values[i] == nil {
			continue
		}
		text, err := plainText(values[i])
		if err != nil {
			return nil, err
		}
		all[name] = text
	}
	return all, nil
}

// addEvent adds an event of a request. Its detail is in its chain of format 1 too, whose hash the event names.
func (r *recorder) addEvent(change sqldb.Change) error {
	e, err := texts(eventColumnsRecorded, change.Values)
	if err != nil {
		return err
	}
	event := &ChainEvent{Kind: e["kind"], Actor: e["actor_id"]}
	event.Draft.Set("event.seq", e["seq"])
	event.Draft.Set("event.hash", e["hash"])
	event.Draft.Commit(eventDetail, e["detail"])
	id, err := strconv.ParseInt(e["id"], 10, 64)
	if err != nil {
		return err
	}
	r.events[id] = event
	act := r.act("request/" + e["request_id"])
	act.Events = append(act.Events, event)
	return nil
}

// addAudit adds an act outside of a request's own events to the chain of its object, or to that of the instance. What
// it says about its object is recorded by its SHA-256.
func (r *recorder) addAudit(change sqldb.Change) error {
	e, err := texts(auditColumnsRecorded, change.Values)
	if err != nil {
		return err
	}
	event := &ChainEvent{Kind: e["action"], Actor: e["actor_id"]}
	if change.Deleted {
		event.Kind, event.Actor = auditRemoved, r.actor
	}
	if setAudit(&event.Draft, e, change.Deleted); !change.Deleted {
		event.Draft.Commit(auditObject, e["object"])
	}
	act := r.act(auditChain(e["object"]))
	act.Events = append(act.Events, event)
	return nil
}

// eventDetail is the detail of an event of a request.
const eventDetail = "event.detail"

// auditObject names the object of an audit event.
const auditObject = "audit.object"

// auditRemoved is the kind of an event about an audit event that is not stored any more.
const auditRemoved = "audit_removed"

// setAudit notes an audit event in clear.
func setAudit(d *record.Draft, e map[string]string, removed bool) {
	d.Set("audit.id", e["id"])
	if removed {
		return
	}
	d.Set("audit.actor", e["actor_id"])
	d.Set("audit.action", e["action"])
	d.Set("audit.as_admin", strconv.FormatBool(e["as_admin"] == "1" || e["as_admin"] == "true"))
	d.Set("audit.version", e["version"])
	d.Set("audit.refused", e["refused"])
	d.Set("audit.state.sha256", digest(e["state"]))
}

// auditChain is the chain of the object of an audit event.
func auditChain(object string) string {
	kind, id, _ := strings.Cut(object, " ")
	if len(recordedOf(kind)) == 0 || id == "" || strings.Contains(id, " ") {
		return InstanceChain
	}
	return kind + "/" + id
}

// InstanceChain is the chain of what concerns no single object.
const InstanceChain = "instance"

func (r *recorder) addNotified(change sqldb.Change) error {
	e, err := texts(notifiedColumns, change.Values)
	if err != nil || change.Deleted || e["event_id"] == "" {
		return err
	}
	id, err := strconv.ParseInt(e["event_id"], 10, 64)
	if err != nil {
		return err
	}
	if r.notified == nil {
		r.notified = map[int64][]string{}
	}
	r.notified[id] = append(r.notified[id], e["user_id"])
	return nil
}

// notifiedField names the users that were notified of an event of a request.
const notifiedField = "notified"

// notify notes who was notified of events: in the event itself, or in one of its own if that was in an earlier
// transaction.
func (r *recorder) notify(ctx context.Context, c Conn) error {
	for _, id := range slices.Sorted(maps.Keys(r.notified)) {
		event := r.events[id]
		if event == nil {
			e, err := c.Events.Get(ctx, id)
			if err != nil {
				return err
			}
			event = &ChainEvent{Kind: notifiedField, Actor: r.actor}
			event.Draft.Set("event.seq", strconv.FormatInt(e.Seq, 10))
			act := r.act("request/" + strconv.FormatInt(e.RequestID, 10))
			act.Events = append(act.Events, event)
		}
		slices.Sort(r.notified[id])
		event.Draft.Set(notifiedField, strings.Join(r.notified[id], " "))
	}
	return nil
}
