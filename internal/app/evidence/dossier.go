package evidence

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"aliquot/internal/dossier"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/document"
	"aliquot/internal/exchange/request"
	"aliquot/internal/record"
	"aliquot/internal/store"

	"github.com/google/uuid"
)

// RequestDossier returns the dossier of a request: its events, its documents in all versions, the MTA that it was made
// under, and the proof. The log is signed for that if it does not have the last event yet.
func (a Evidence) RequestDossier(ctx context.Context, who exchange.Actor, id int64) (dossier.Ready, error) {
	q, err := a.requests.Request(ctx, who, id)
	if err != nil {
		return dossier.Ready{}, err
	}
	return a.dossierOf(ctx, q)
}

// OperatorDossier is RequestDossier for whoever runs the machine.
func (a Evidence) OperatorDossier(ctx context.Context, id int64) (dossier.Ready, error) {
	q, err := a.DB.Read().Requests.Get(ctx, id)
	if err != nil {
		return dossier.Ready{}, err
	}
	return a.dossierOf(ctx, q)
}

// maxSignings is how often the log is signed for one dossier, of an object that others change meanwhile.
const maxSignings = 3

func (a Evidence) dossierOf(ctx context.Context, q request.Detail) (dossier.Ready, error) {
	if a.LogKeys == nil {
		return dossier.Ready{}, errNotSigned
	}
	keys, err := a.LogKeys()
	if err != nil {
		return dossier.Ready{}, &exchange.Error{Code: exchange.Unavailable, Cause: err, Message: errNotSigned.Message}
	}
	for signed := 0; ; signed++ {
		d := dossier.Dossier{Title: fmt.Sprintf("Request %d: %s", q.ID, q.Material), Signers: keys.Signers}
		d.Publisher, _, _ = strings.Cut(keys.Origin(), "/")
		err := a.DB.Snapshot(ctx, func(ctx context.Context, c store.Conn) error {
			return a.fillDossier(ctx, c, q.ID, &d)
		})
		if err == nil {
			return dossier.Prepare(d)
		}
		if exchange.CodeOf(err) != exchange.NotFound {
			return dossier.Ready{}, err
		}
		if signed == maxSignings {
			return dossier.Ready{}, errNotSigned
		}
		if err := a.SignNow(ctx); err != nil {
			return dossier.Ready{}, err
		}
	}
}

// fillDossier reads what a dossier is made of. NotFound: the last event of a chain is not in the signed log.
func (a Evidence) fillDossier(ctx context.Context, c store.Conn, id int64, d *dossier.Dossier) error {
	q, err := c.Requests.Get(ctx, id)
	if err != nil {
		return err
	}
	names := []string{fmt.Sprintf("request/%d", id)}
	if q.MTA != nil {
		names = append(names, fmt.Sprintf("attachment/%d", q.MTA.Attachment))
	}
	var verified []*record.Verifier
	for _, name := range names {
		chain, v, err := readChain(ctx, c, name)
		if err != nil {
			return err
		}
		d.Chains, verified = append(d.Chains, chain), append(verified, v)
	}
	if d.Files, err = a.dossierFiles(ctx, c, q, d.Chains[0]); err != nil {
		return err
	}
	if d.Keys, err = c.Log.Keys(ctx, true); err != nil {
		return err
	}
	for _, w := range a.Witnesses {
		d.Keys = append(d.Keys, w.Key)
	}
	signed, err := c.Log.Checkpoint(ctx, 0)
	if err != nil {
		return err
	}
	if d.Timestamp = signed.Response; d.Timestamp != nil {
		if d.Authority, err = record.TimestampAuthority(d.Timestamp); err != nil {
			return err
		}
	}
	d.Cover, err = cover(ctx, c, q, d.Chains[0], verified[0])
	return err
}

// readChain reads a whole chain with the proof of its last event. A chain that does not hold is an error.
func readChain(ctx context.Context, c store.Conn, name string) (dossier.Chain, *record.Verifier, error) {
	const atOnce = 500
	var chain dossier.Chain
	v := &record.Verifier{Chain: name}
	for more := true; more; {
		list, err := c.Chains.Events(ctx, name, v.Head.Seq, atOnce)
		if err != nil {
			return chain, nil, err
		}
		for _, e := range list {
			if err := v.Add(e.Event, e.Openings); err != nil {
				return chain, nil, err
			}
			chain.Events = append(chain.Events, dossier.Event{Event: e.Event, Openings: e.Openings})
		}
		more = len(list) == atOnce
	}
	if err := v.End(v.Head); err != nil {
		return chain, nil, err
	}
	var err error
	chain.Proof, err = c.Log.Prove(ctx, name, v.Head.Seq)
	return chain, v, err
}

// dossierFiles lists the documents of a request in all versions, and the MTA that it was made under. One whose content
// was erased, or is withheld, is left out.
func (a Evidence) dossierFiles(ctx context.Context, c store.Conn, q request.Detail,
	chain dossier.Chain) ([]dossier.File, error) {
	var files []dossier.File
	if q.MTA != nil {
		list, err := versionsOf(ctx, c, q.MTA.Attachment)
		if err != nil {
			return nil, err
		}
		for _, version := range list {
			if version.Version == q.MTA.Version {
				files = append(files, a.dossierFile(0, "mta", "The MTA that the lab offered", version))
			}
		}
	}
	for _, d := range q.Documents {
		hashes := hashesOf(chain, d.ID)
		list, err := versionsOf(ctx, c, d.AttachmentID)
		if err != nil {
			return nil, err
		}
		for i, version := range list {
			if hashes[version.SHA256] {
				delete(hashes, version.SHA256)
				title := fmt.Sprintf("%s, added on %s", slotTitles[d.Slot], d.AddedAt.UTC().Format(time.DateOnly))
				name := strings.ReplaceAll(string(d.Slot), "_", "-")
				if i > 0 {
					name = fmt.Sprintf("%s-%d", name, version.Version)
				}
				files = append(files, a.dossierFile(d.ID, name, title, version))
			}
		}
	}
	return files, nil
}

var slotTitles = map[document.Slot]string{document.SignedMTA: "MTA signed by the requester",
	document.IRB: "IRB approval", document.ExecutedMTA: "Executed MTA"}

// hashesOf are the SHA-256 that a document of a request had.
func hashesOf(chain dossier.Chain, id int64) map[string]bool {
	hashes := map[string]bool{}
	for _, e := range chain.Events {
		detail, _ := record.ParseDetail(e.Detail) // readChain has checked it
		f, ok := detail.Get(fmt.Sprintf("%sdocument.%d.sha256", record.SetPrefix, id))
		if ok && f.Mark == record.Clear {
			hashes[f.Value] = true
		}
	}
	return hashes
}

// versionsOf reads the content of an attachment in all versions that are stored, the current one first.
func versionsOf(ctx context.Context, c store.Conn, attachment int64) ([]document.AttachmentVersion, error) {
	var list []document.AttachmentVersion
	t, err := c.Attachments.Get(ctx, attachment)
	if err == nil && t.Content != nil && t.Content.Withheld() == nil {
		list = append(list, t.Present())
	}
	if err != nil && exchange.CodeOf(err) != exchange.NotFound {
		return nil, err
	}
	const most = 1000
	earlier, err := c.Attachments.StoredVersions(ctx, attachment, 0, most)
	for _, v := range earlier {
		if v.Attachment == attachment && v.Withheld() == nil {
			list = append(list, v)
		}
	}
	return list, err
}

// extensions are those of the media types that documents usually have.
var extensions = map[string]string{"application/pdf": ".pdf", "image/png": ".png", "image/jpeg": ".jpg",
	"image/tiff": ".tif", "text/plain": ".txt",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx"}

func (a Evidence) dossierFile(number int64, name, title string, v document.AttachmentVersion) dossier.File {
	media, _, _ := strings.Cut(v.MediaType, ";")
	if title += " (" + v.Filename + ")"; v.Filename == "" {
		title = strings.TrimSuffix(title, " ()")
	}
	return dossier.File{Name: fmt.Sprintf("documents/%03d-%s%s", number, name, extensions[media]), Title: title,
		MediaType: v.MediaType, Size: v.Size, SHA256: v.SHA256,
		Open: func() (io.ReadCloser, error) { return a.Files.Open(context.Background(), v.Key) }}
}

// cover tells what happened to a request in words.
func cover(ctx context.Context, c store.Conn, q request.Detail, chain dossier.Chain,
	v *record.Verifier) (dossier.Cover, error) {
	events, err := c.Events.Chain(ctx, q.ID)
	if err != nil {
		return dossier.Cover{}, err
	}
	ids := []uuid.UUID{q.Requester, q.AssignedTo}
	for _, e := range events {
		ids = append(ids, e.Actor)
	}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return strings.Compare(a.String(), b.String()) })
	users, err := c.Users.ByIDs(ctx, slices.Compact(ids))
	if err != nil {
		return dossier.Cover{}, err
	}
	people := map[uuid.UUID]string{uuid.Nil: "Aliquot"}
	for _, u := range users {
		people[u.ID] = u.Name()
	}
	lab, err := c.Organizations.Get(ctx, q.Organization)
	if err != nil {
		return dossier.Cover{}, err
	}
	said := dossier.Cover{Facts: [][2]string{{"Material", q.Material}, {"Lab", lab.Name},
		{"Requester", people[q.Requester]}, {"Requested on", q.CreatedAt.UTC().Format(time.DateOnly)},
		{"Status", request.StatusName(q.Status)}}}
	erased := erasedEvents(chain, v)
	for _, e := range events {
		text := people[e.Actor] + " " + request.DescribeAction(e, "", "") + "."
		if e.Detail.Text != "" {
			text += " “" + e.Detail.Text + "”"
		}
		if at, ok := erased[e.Seq]; ok {
			text += " A text was erased on " + at.UTC().Format(time.DateOnly) + "."
		}
		said.Story = append(said.Story, dossier.Line{At: e.At, Text: text})
	}
	return said, nil
}

// erasedEvents are the events of a request, by their number, whose text was erased, and when.
func erasedEvents(chain dossier.Chain, v *record.Verifier) map[int64]time.Time {
	erased := map[int64]time.Time{}
	for _, e := range chain.Events {
		at, gone := v.Gone[strconv.FormatInt(e.Seq, 10)+".event.detail"]
		detail, _ := record.ParseDetail(e.Detail) // readChain has checked it
		if of, ok := detail.Get(record.RequestEvent); gone && ok {
			n, _ := strconv.ParseInt(of.Value, 10, 64)
			erased[n] = at
		}
	}
	return erased
}
