package exchange

import (
	"time"

	"github.com/google/uuid"
)

// Grant is a funding award of a user.
type Grant struct {
	ID        int64
	UserID    uuid.UUID
	Title     string
	FunderID  string // the grant's id at the funder
	CreatedAt time.Time
	UpdatedAt time.Time
}
