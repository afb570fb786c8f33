package shape

import (
	"encoding/json"
	"net/http"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/material"
	"aliquot/internal/exchange/request"
)

// Statuses maps each error code to its HTTP status (contract.md section 2).
var Statuses = map[exchange.Code]int{
	exchange.InvalidInput:        http.StatusBadRequest,
	exchange.MalformedJSON:       http.StatusBadRequest,
	exchange.InvalidCode:         http.StatusBadRequest,
	exchange.NotAuthenticated:    http.StatusUnauthorized,
	exchange.Forbidden:           http.StatusForbidden,
	exchange.FieldForbidden:      http.StatusForbidden,
	exchange.OutOfScope:          http.StatusForbidden,
	exchange.RegistrationClosed:  http.StatusForbidden,
	exchange.NoAuthority:         http.StatusForbidden,
	exchange.LevelTooLow:         http.StatusForbidden,
	exchange.CrossSite:           http.StatusForbidden,
	exchange.NotFound:            http.StatusNotFound,
	exchange.MethodNotAllowed:    http.StatusMethodNotAllowed,
	exchange.PreconditionFailed:  http.StatusPreconditionFailed,
	exchange.TooLarge:            http.StatusRequestEntityTooLarge,
	exchange.QuotaExceeded:       http.StatusRequestEntityTooLarge,
	exchange.UnsupportedMedia:    http.StatusUnsupportedMediaType,
	exchange.Misdirected:         http.StatusMisdirectedRequest,
	exchange.RateLimited:         http.StatusTooManyRequests,
	exchange.InvalidTransition:   http.StatusConflict,
	exchange.MissingRequirements: http.StatusConflict,
	exchange.MaterialArchived:    http.StatusConflict,
	exchange.MaterialEmbargoed:   http.StatusConflict,
	exchange.RequestClosed:       http.StatusConflict,
	exchange.AttachmentInUse:     http.StatusConflict,
	exchange.FileWithheld:        http.StatusConflict,
	exchange.MissingFacts:        http.StatusConflict,
	exchange.MissingFields:       http.StatusConflict,
	exchange.NotInForce:          http.StatusConflict,
	exchange.StaleVersion:        http.StatusConflict,
	exchange.Conflict:            http.StatusConflict,
	RangeNotSatisfiable:          http.StatusRequestedRangeNotSatisfiable,
	exchange.StorageFull:         http.StatusInsufficientStorage,
	exchange.Unavailable:         http.StatusServiceUnavailable,
	exchange.InvalidAnswer:       http.StatusBadGateway,
	exchange.Internal:            http.StatusInternalServerError,
}

// RangeNotSatisfiable is the error_code of a 416.
const RangeNotSatisfiable exchange.Code = "RANGE_NOT_SATISFIABLE"

// Error is the body of every error; only some codes have the fields after the first four.
type Error struct {
	Error          string                   `json:"error"`
	Code           exchange.Code            `json:"error_code"`
	Fields         map[string][]string      `json:"fields,omitempty"`
	RequestID      string                   `json:"request_id"`
	Field          string                   `json:"field,omitempty"`
	Status         request.Status           `json:"status,omitempty"`
	Organizations  []Lab                    `json:"organizations,omitempty"`
	Requests       []OpenRequest            `json:"requests,omitempty"`
	Allowed        []request.Status         `json:"allowed,omitempty"`
	Missing        []Missing                `json:"missing,omitempty"`
	EmbargoDate    exchange.Date            `json:"embargo_date,omitempty"`
	ActiveRequests int                      `json:"active_requests,omitempty"`
	Limit          int64                    `json:"limit,omitempty"`
	Scan           document.ScanState       `json:"scan,omitempty"`
	PerSecond      float64                  `json:"per_second,omitempty"`
	Source         string                   `json:"source,omitempty"`
	RetryAfter     int                      `json:"retry_after,omitempty"`
	Quota          int64                    `json:"quota,omitempty"`
	Used           int64                    `json:"used,omitempty"`
	Line           int                      `json:"line,omitempty"`
	Column         int                      `json:"column,omitempty"`
	Columns        []material.ColumnHeading `json:"columns,omitempty"`
	Agreement      int64                    `json:"agreement,omitempty"`
	Questions      []letter.Question        `json:"questions,omitempty"`
	Obstacles      []letters.Obstacle       `json:"obstacles,omitempty"`
}

// Missing is what has to be there first: a requirement of a request, or a field of an agreement.
type Missing struct {
	Need  request.Need
	Field letters.MissingField
}

// Contract is the OpenAPI document as JSON.
type Contract struct{ json.RawMessage }
