// Package evidence has the handlers of the log and of what proves that an event is in it.
package evidence

import (
	"context"
	"fmt"
	"io"
	"strings"

	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/evidence"
	"aliquot/internal/dossier"
)

// Types of the answers of the log.
const (
	TextType = "text/plain; charset=utf-8"
	TileType = "application/octet-stream"
)

// GetCheckpoint serves GET /log/checkpoint.
func GetCheckpoint(c *rest.Call, _ rest.None) (rest.Body, error) {
	note, err := c.App.Evidence.NewestCheckpoint(c.Context(), c.Actor)
	return rest.Body{Type: TextType, Bytes: []byte(note)}, err
}

// GetKeys serves GET /log/keys.
func GetKeys(c *rest.Call, _ rest.None) (rest.Body, error) {
	keys, err := c.App.Evidence.PublicKeys(c.Context(), c.Actor)
	return rest.Body{Type: TextType, Bytes: []byte(strings.Join(append(keys, ""), "\n"))}, err
}

// GetTile serves GET /log/tile/{level}/{tile}.
func GetTile(c *rest.Call, _ rest.None) (rest.Body, error) {
	data, err := c.App.Evidence.Tile(c.Context(), c.Actor, c.PathValue("level")+"/"+
		strings.TrimSuffix(c.PathValue("tile"), "/"))
	return rest.Body{Type: TileType, Bytes: data}, err
}

// GetProof serves GET /material-requests/{id}/events/{seq}/proof.
func GetProof(c *rest.Call, _ rest.None) (shape.EventProof, error) {
	var p evidence.EventProof
	err := c.App.Expensive(c.Context(), c.Caller(), func(ctx context.Context) (err error) {
		p, err = c.App.Evidence.ProveRequestEvent(ctx, c.Actor, c.ID("id"), c.ID("seq"))
		return err
	})
	return shape.ShowEventProof(p), err
}

// GetDossier serves GET /material-requests/{id}/dossier.
func GetDossier(c *rest.Call, _ rest.None) (rest.None, error) {
	var ready dossier.Ready
	err := c.App.Expensive(c.Context(), c.Caller(), func(ctx context.Context) (err error) {
		ready, err = c.App.Evidence.RequestDossier(ctx, c.Actor, c.ID("id"))
		return err
	})
	if err != nil {
		return rest.None{}, err
	}
	name := fmt.Sprintf("request-%d-record.zip", c.ID("id"))
	return rest.None{}, c.SendFile(name, func(begin func() io.Writer) error {
		return ready.Write(begin())
	})
}
