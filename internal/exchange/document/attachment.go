package document

import (
	"fmt"
	"net/url"
	"time"

	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// Attachment is the record of a document or sequence map; its bytes are stored by package files.
type Attachment struct {
	ID             int64
	Filename       string
	Description    string
	OwnedByOrg     *int64
	OwnedByUser    *uuid.UUID
	OfLab          bool   // it belongs to OwnedByOrg alone; OwnedByUser is the person who filed it
	SequenceMapFor *int64 // the material whose sequence map this is
	Content        *Content
	Version        int64 // of the content, from 1
	ContentDeleted bool  // storage_resource_deleted
	DeletedAt      *time.Time
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Content describes the stored bytes of an attachment.
type Content struct {
	Key       string // name under which package files stores it; random, never the file's name
	Size      int64  // bytes
	SHA256    string // hex
	MediaType string // detected from the bytes, not taken from the upload
	Scan      Scan
}

// AttachmentVersion is a current or earlier version of an attachment's content.
type AttachmentVersion struct {
	Attachment int64
	Version    int64
	Filename   string
	Content
	ReplacedBy *uuid.UUID // nil: the current version
	ReplacedAt *time.Time
}

// Present returns the current version of the content.
func (a Attachment) Present() AttachmentVersion {
	return AttachmentVersion{Attachment: a.ID, Version: a.Version, Filename: a.Filename, Content: *a.Content}
}

// File makes an attachment the property of a lab alone.
func (a *Attachment) File(organization int64) { a.OwnedByOrg, a.OfLab = &organization, true }

// DownloadPath returns the specification's download_url.
func (a Attachment) DownloadPath() string {
	return fmt.Sprintf("/v1/uploaded-file/attachment_%d/%s", a.ID, url.PathEscape(a.Filename))
}

// AttachmentPatch is the body of POST, PUT and PATCH of attachments.
type AttachmentPatch struct {
	Filename       exchange.Opt[string]            `json:"filename"`
	Description    exchange.Opt[string]            `json:"description"`
	OwnedByUser    exchange.Null[exchange.UserRef] `json:"owned_by_user"`
	OwnedByOrg     exchange.Null[exchange.Ref]     `json:"owned_by_org"`
	SequenceMapFor exchange.Null[exchange.Ref]     `json:"sequence_map_for"`
}

// Create makes a new attachment whose owner is the person who files it.
func (p AttachmentPatch) Create(by exchange.Actor) (Attachment, error) {
	var f exchange.FieldErrors
	a := p.apply(&f, Attachment{OwnedByUser: &by.ID, Version: 1})
	if a.OwnedByUser == nil {
		a.OwnedByUser = &by.ID
	}
	if a.OwnedByOrg != nil {
		a.File(*a.OwnedByOrg)
	}
	return a, f.Err()
}

// Patch applies p to a. An attachment always has an owner, a person or an organization. A document that is taken out of
// a lab belongs to the person who took it out, not to the one who filed it.
func (p AttachmentPatch) Patch(a Attachment, by exchange.Actor) (Attachment, error) {
	var f exchange.FieldErrors
	old := a
	a = p.apply(&f, a)
	switch {
	case a.OwnedByOrg == nil && old.OfLab:
		a.OfLab = false
		if !p.OwnedByUser.Set {
			a.OwnedByUser = &by.ID
		}
	case a.OwnedByOrg != nil && (old.OwnedByOrg == nil || *old.OwnedByOrg != *a.OwnedByOrg):
		a.File(*a.OwnedByOrg)
	}
	if a.OwnedByOrg == nil && a.OwnedByUser == nil {
		f.Add("owned_by_user", "an attachment needs an owner: set owned_by_user or owned_by_org")
	}
	return a, f.Err()
}

// Validate implements Body.
func (p AttachmentPatch) Validate(create bool) exchange.FieldErrors {
	var err error
	if create {
		_, err = p.Create(exchange.Actor{})
	} else {
		_, err = p.Patch(Attachment{OwnedByUser: &uuid.Nil}, exchange.Actor{})
	}
	return exchange.FieldsOf(err)
}

func (p AttachmentPatch) apply(f *exchange.FieldErrors, a Attachment) Attachment {
	f.Rule("filename", exchange.Rule{Max: maxFilename, Pattern: filenamePattern})
	if p.Filename.Set {
		if name, err := Filename(p.Filename.Value); err != nil {
			f.Add("filename", "%v", err)
		} else {
			a.Filename = name
		}
	}
	f.Need("filename", a.Filename)
	f.Long("description", p.Description, &a.Description)
	a.OwnedByOrg = exchange.RefID(p.OwnedByOrg, a.OwnedByOrg)
	a.SequenceMapFor = exchange.RefID(p.SequenceMapFor, a.SequenceMapFor)
	if p.OwnedByUser.Set {
		a.OwnedByUser = (*uuid.UUID)(p.OwnedByUser.Value)
	}
	return a
}

// RelationsOf returns the relations of a to an attachment. linked means that a is a party of a request that the
// attachment is or was linked to; public means that a listed material shows it. An attachment filed for a lab belongs
// to nobody else: members who leave the lab lose access.
func (t Attachment) RelationsOf(a exchange.Actor, linked, public bool) exchange.Relation {
	r := a.Relations()
	if t.OwnedByUser != nil && a.Is(*t.OwnedByUser) && !t.OfLab {
		r |= exchange.OwnerOf
	}
	if t.OwnedByOrg != nil && a.MemberOf(*t.OwnedByOrg) {
		r |= exchange.MemberOf
	}
	if linked && a.Lab == 0 { // the link may come from a request of the user's own
		r |= exchange.PartyOf
	}
	if public {
		r |= exchange.ReaderOf
	}
	return r
}
