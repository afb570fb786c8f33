package exchange

import (
	"fmt"
	"net/url"
	"time"

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
	Filename       Opt[string]   `json:"filename"`
	Description    Opt[string]   `json:"description"`
	OwnedByUser    Null[UserRef] `json:"owned_by_user"`
	OwnedByOrg     Null[Ref]     `json:"owned_by_org"`
	SequenceMapFor Null[Ref]     `json:"sequence_map_for"`
}

// Create makes a new attachment whose owner is the person who files it.
func (p AttachmentPatch) Create(by Actor) (Attachment, error) {
	var f FieldErrors
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
func (p AttachmentPatch) Patch(a Attachment, by Actor) (Attachment, error) {
	var f FieldErrors
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
func (p AttachmentPatch) Validate(create bool) FieldErrors {
	var err error
	if create {
		_, err = p.Create(Actor{})
	} else {
		_, err = p.Patch(Attachment{OwnedByUser: &uuid.Nil}, Actor{})
	}
	return fieldsOf(err)
}

func (p AttachmentPatch) apply(f *FieldErrors, a Attachment) Attachment {
	f.rule("filename", Rule{Most: maxFilename, Pattern: filenamePattern})
	if p.Filename.Set {
		if name, err := Filename(p.Filename.Value); err != nil {
			f.Add("filename", "%v", err)
		} else {
			a.Filename = name
		}
	}
	f.need("filename", a.Filename)
	f.long("description", p.Description, &a.Description)
	a.OwnedByOrg = refID(p.OwnedByOrg, a.OwnedByOrg)
	a.SequenceMapFor = refID(p.SequenceMapFor, a.SequenceMapFor)
	if p.OwnedByUser.Set {
		a.OwnedByUser = (*uuid.UUID)(p.OwnedByUser.Value)
	}
	return a
}
