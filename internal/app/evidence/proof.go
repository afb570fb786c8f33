package evidence

import (
	"context"
	"fmt"

	"aliquot/internal/exchange"
	"aliquot/internal/record"
	"aliquot/internal/store"
)

// NewestCheckpoint returns the newest signed checkpoint.
func (a Evidence) NewestCheckpoint(ctx context.Context, who exchange.Actor) (string, error) {
	if _, err := a.Can(who, exchange.LogRead, who.Relations()); err != nil {
		return "", err
	}
	c, err := a.DB.Read().Log.Checkpoint(ctx, 0)
	if exchange.CodeOf(err) == exchange.NotFound {
		err = errNotSigned
	}
	return c.Note, err
}

var errNotSigned = exchange.Errorf(exchange.Unavailable, "The log is not signed yet. Please try again later.")

// PublicKeys returns the public keys that sign the log, or did, the newest first.
func (a Evidence) PublicKeys(ctx context.Context, who exchange.Actor) ([]string, error) {
	if _, err := a.Can(who, exchange.LogRead, who.Relations()); err != nil {
		return nil, err
	}
	return a.DB.Read().Log.Keys(ctx, true)
}

// Tile returns the tile at a path such as 0/x001/234.p/17.
func (a Evidence) Tile(ctx context.Context, who exchange.Actor, path string) ([]byte, error) {
	if _, err := a.Can(who, exchange.LogRead, who.Relations()); err != nil {
		return nil, err
	}
	p, err := record.ParseTilePath(path)
	if err != nil {
		return nil, exchange.Errorf(exchange.NotFound, "There is no such tile; the path is as in C2SP tlog-tiles, "+
			"such as 0/000.p/17.")
	}
	return a.DB.Read().Log.Tile(ctx, p)
}

// EventProof proves that an event is in the log.
type EventProof struct {
	Event record.Event
	Proof record.Proof
}

// ProveRequestEvent proves an event of a request, by the number that the list of its events has. One that is older than
// the chain of the request is proved by the event that carried it over, which names its hash or a later one. The log is
// signed for that if it does not have the event yet.
func (a Evidence) ProveRequestEvent(ctx context.Context, who exchange.Actor, id, seq int64) (p EventProof, err error) {
	if _, err := a.requests.Request(ctx, who, id); err != nil {
		return p, err
	}
	chain := fmt.Sprintf("request/%d", id)
	if p.Event, err = a.recordedEvent(ctx, chain, seq); err != nil {
		return p, err
	}
	p.Proof, err = a.DB.Read().Log.Prove(ctx, chain, p.Event.Seq)
	if exchange.CodeOf(err) != exchange.NotFound {
		return p, err
	}
	if err = a.SignNow(ctx); err == nil {
		p.Proof, err = a.DB.Read().Log.Prove(ctx, chain, p.Event.Seq)
	}
	if exchange.CodeOf(err) == exchange.NotFound {
		err = errNotSigned
	}
	return p, err
}

// recordedEvent returns the event of a request's chain that has the event of a number.
func (a Evidence) recordedEvent(ctx context.Context, chain string, seq int64) (record.Event, error) {
	const atOnce = 200
	c := a.DB.Read()
	for after := int64(0); ; {
		list, err := c.Chains.Events(ctx, chain, after, atOnce)
		if err != nil {
			return record.Event{}, err
		}
		for _, e := range list {
			if after = e.Seq; e.Covers(seq) {
				return e.Event, nil
			}
		}
		if len(list) < atOnce {
			return record.Event{}, exchange.Errorf(exchange.NotFound, "This request has no event %d.", seq)
		}
	}
}

// SignFirst signs the log if it has no checkpoint yet, so that there is one from the start.
func (a Evidence) SignFirst(ctx context.Context) error {
	if _, err := a.DB.Read().Log.Checkpoint(ctx, 0); exchange.CodeOf(err) != exchange.NotFound {
		return err
	}
	return a.SignNow(ctx)
}

// maxRounds is how many transactions SignNow makes before it leaves the rest to the Checkpoint job.
const maxRounds = 20

// SignNow moves events into the log, as many as are quickly done, and signs it.
func (a Evidence) SignNow(ctx context.Context) error {
	for n, round := appendedAtOnce, 0; n == appendedAtOnce && round < maxRounds; round++ {
		if err := a.DB.Tx(ctx, func(ctx context.Context, tx store.Conn) (err error) {
			if n, err = tx.Log.Append(ctx, appendedAtOnce); err == nil {
				_, err = a.sign(ctx, tx)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
