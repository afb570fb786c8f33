// Package exchange holds what all rules share: errors, optional values, limits of texts, lists and searches, and who
// may do what. The rules of each kind of thing are in the packages below it. They know neither SQL nor HTTP nor the
// time.
package exchange

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Code names one kind of failure. It is the error_code of contract.md section 2 and determines the HTTP status, by one
// table in package api.
type Code string

// The codes of contract.md sections 2 and 3.
const (
	InvalidInput        Code = "INVALID_INPUT"        // a value is wrong; Fields names the field
	MalformedJSON       Code = "MALFORMED_JSON"       // the body is not JSON
	NotAuthenticated    Code = "NOT_AUTHENTICATED"    // no token, or an unknown or expired one
	InvalidCode         Code = "INVALID_CODE"         // the identity provider refused the authorization code
	Forbidden           Code = "FORBIDDEN"            // known caller, not allowed
	OutOfScope          Code = "SCOPE"                // the user has the right, but the token used does not
	FieldForbidden      Code = "FIELD_FORBIDDEN"      // the change is allowed, but not of this field
	RegistrationClosed  Code = "REGISTRATION_CLOSED"  // this identity may not register here
	CrossSite           Code = "CROSS_SITE"           // a page of another site sent the call
	NotFound            Code = "NOT_FOUND"            // no such object or path
	MethodNotAllowed    Code = "METHOD_NOT_ALLOWED"   // the path exists, but not with this method
	PreconditionFailed  Code = "PRECONDITION_FAILED"  // If-Match names an older version
	TooLarge            Code = "TOO_LARGE"            // body or file over its limit
	QuotaExceeded       Code = "QUOTA"                // a file does not fit in the quota of its user or lab
	UnsupportedMedia    Code = "UNSUPPORTED_MEDIA"    // not JSON, or a refused file type
	Misdirected         Code = "MISDIRECTED"          // for a host name that is not this installation's
	RateLimited         Code = "RATE_LIMITED"         // too many calls
	InvalidTransition   Code = "INVALID_TRANSITION"   // the life cycle has no such transition for this caller
	MissingRequirements Code = "MISSING_REQUIREMENTS" // something is still owed
	MaterialArchived    Code = "MATERIAL_ARCHIVED"    // the material is no longer offered
	MaterialEmbargoed   Code = "MATERIAL_EMBARGOED"   // the material is not offered yet
	RequestClosed       Code = "REQUEST_CLOSED"       // the request is closed
	AttachmentInUse     Code = "ATTACHMENT_IN_USE"    // a request depends on this document
	FileWithheld        Code = "FILE_WITHHELD"        // it is being checked for viruses, or has one
	NoAuthority         Code = "NO_AUTHORITY"         // beyond what the caller may sign for the institution
	LevelTooLow         Code = "LEVEL_TOO_LOW"        // an agreement needs a signature of a higher level
	MissingFacts        Code = "MISSING_FACTS"        // unknown facts decide which instrument is right
	MissingFields       Code = "MISSING_FIELDS"       // a letter is not complete
	NotInForce          Code = "NOT_IN_FORCE"         // an institution or instrument does not hold on this day
	StaleVersion        Code = "STALE_VERSION"        // the letter has a newer version
	Conflict            Code = "CONFLICT"             // someone else changed it first
	StorageFull         Code = "STORAGE_FULL"         // no space left on the disk of the database or of the files
	Unavailable         Code = "UNAVAILABLE"          // an outside service or the database does not respond
	InvalidAnswer       Code = "INVALID_ANSWER"       // an outside service sent an unusable response
	Internal            Code = "INTERNAL"             // a fault of the server; the cause is only in the log
)

// Error is the one error type that crosses packages. Message and Fields are for a person and are sent; Cause is for the
// log and never leaves the process.
type Error struct {
	Code    Code
	Message string
	Fields  map[string][]string // only with InvalidInput: the errors of each field
	Action  Action              // the action that was refused for lack of a right, if one was
	Details map[string]any      // further members of the error body, such as "allowed" or "missing"
	Cause   error
}

// Error returns the message for a log line, with the cause if there is one.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", e.Code, e.Message)
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		fmt.Fprintf(&b, "; %s: %s", name, strings.Join(e.Fields[name], ", "))
	}
	if e.Cause != nil {
		fmt.Fprintf(&b, ": %v", e.Cause)
	}
	return b.String()
}

// Unwrap returns the cause, so that errors.Is finds context.Canceled and the like.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf returns an Error with a message for a person.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// With adds a member to the error body.
func (e *Error) With(key string, value any) *Error {
	if e.Details == nil {
		e.Details = map[string]any{}
	}
	e.Details[key] = value
	return e
}

// CodeOf returns the code of err: Internal for anything that is not an Error.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Internal
}

// MessageOf returns the words of an error for people.
func MessageOf(err error) string {
	if e, is := errors.AsType[*Error](err); is {
		return e.Message
	}
	return ""
}

// ServerFault reports whether c is a failure of the server or of something it depends on, which may be temporary, and
// not a problem with the call.
func (c Code) ServerFault() bool { return c == Internal || c == Unavailable || c == StorageFull }

// FieldErrors collects what is wrong with an input, field by field, so that one answer names everything.
type FieldErrors map[string][]string

// Add adds an error of a field.
func (f *FieldErrors) Add(field, format string, args ...any) {
	if *f == nil {
		*f = FieldErrors{}
	}
	(*f)[field] = append((*f)[field], fmt.Sprintf(format, args...))
}

// FieldsOf returns the field errors of err, if any.
func FieldsOf(err error) FieldErrors {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fields
	}
	return nil
}

// Merge adds the field errors of err.
func (f *FieldErrors) Merge(err error) {
	for field, texts := range FieldsOf(err) {
		for _, text := range texts {
			f.Add(field, "%s", text)
		}
	}
}

// Err returns nil if nothing is wrong, else an InvalidInput error that names every field.
func (f FieldErrors) Err() error {
	if len(f) == 0 {
		return nil
	}
	return &Error{Code: InvalidInput, Message: f.Summary(), Fields: f}
}

// Summary names all fields in one sentence.
func (f FieldErrors) Summary() string {
	return "Please correct: " + strings.Join(slices.Sorted(maps.Keys(f)), ", ") + "."
}

// NotBefore returns a RateLimited error until a moment, with the reason and how long to wait.
func NotBefore(moment, now time.Time, why string) error {
	wait := moment.Sub(now)
	if wait <= 0 {
		return nil
	}
	seconds := int((wait + time.Second - 1) / time.Second)
	return Errorf(RateLimited, "%s; try again at %s.", why, moment.UTC().Format(TimeLayout)).With("retry_after",
		seconds)
}
