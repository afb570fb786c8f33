package exchange

import (
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"
)

// Attachment is the record of a document or sequence map; its bytes lie in the files room.
type Attachment struct {
	ID             int64
	Filename       string
	Description    string
	OwnedByOrg     *int64
	OwnedByUser    *uuid.UUID
	SequenceMapFor *int64 // the material this is a sequence map for
	Content        *Content
	ContentDeleted bool // storage_resource_deleted
	DeletedAt      *time.Time
	CreatedAt      time.Time
	UpdatedAt      time.Time
}

// Content is what is known of an attachment's stored bytes.
type Content struct {
	Key       string // where the files room keeps it; random, never the file's name
	Size      int64  // bytes
	SHA256    string // hex
	MediaType string // sniffed, not believed
}

// DownloadPath is the specification's download_url.
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

// Create makes a new attachment owned by its maker.
func (p AttachmentPatch) Create(by Actor) (Attachment, error) {
	var f Faults
	p.OwnedByUser = NullOf(UserRef(by.ID))
	a := p.lay(&f, Attachment{})
	return a, f.Err()
}

// Patch lays p over a. An attachment always keeps an owner, a person or an organization.
func (p AttachmentPatch) Patch(a Attachment) (Attachment, error) {
	var f Faults
	a = p.lay(&f, a)
	if a.OwnedByOrg == nil && a.OwnedByUser == nil {
		f.Add("owned_by_user", "an attachment needs an owner: keep owned_by_user or owned_by_org")
	}
	return a, f.Err()
}

func (p AttachmentPatch) lay(f *Faults, a Attachment) Attachment {
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
