package e2e

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	api "aliquot/client"
	"aliquot/internal/files/filestest"

	"github.com/minio/minio-go/v7"
)

// The tests below need an S3 server: without one there is nothing to test, and no test.

// TestFiles_MoveToABucketAndBackWhileOthersUpload moves the files of an installation as operation.md says, and looks
// for every one that was uploaded, before, meanwhile and after.
func TestFiles_MoveToABucketAndBackWhileOthersUpload(t *testing.T) {
	t.Parallel()
	if !filestest.HasS3() {
		return
	}
	eachKind(t, func(t *testing.T, folder installation) {
		server := filestest.StartS3(t)
		folder.sources = append(folder.sources, filestest.Environ()...)
		bucket := folder.filesIn(server.Address.String())
		back := folder.filesIn(filepath.Join(folder.folder, "elsewhere"))
		p := folder.serve(t, "--rate-limit", "off")
		l := p.lab(t)
		u := &uploads{by: l.manager}
		from, place := folder, filepath.Join(folder.folder, "data", "files")
		for _, to := range []installation{bucket, back} {
			where := to.place()
			if err := u.during(func() error {
				said := from.works(t, "files", "move", "--to", where)
				if !strings.Contains(said, "files move --files '"+place+"' --to '"+where+"'") {
					return errors.New("it does not say how to go on: " + said)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if err := p.stop(); err != nil {
				t.Fatal(err)
			}
			p = to.serve(t, "--rate-limit", "off")
			u.by.base = p.base
			if err := u.during(func() error { from.works(t, "files", "move", "--to", where); return nil }); err != nil {
				t.Fatal(err)
			}
			if said := from.works(t, "files", "move", "--to", where); !strings.Contains(said, "0 files were copied") {
				t.Errorf("once all is there: %s", said)
			}
			if err := u.areThere(); err != nil {
				t.Errorf("in %s: %v", where, err)
			}
			if said := to.works(t, "verify", "--files"); !strings.Contains(said, ": 0 faults") {
				t.Errorf("verify said %s", said)
			}
			from, place = to, where
		}
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestBucket_ServesBacksUpAndRestores is about an installation whose files have been in a bucket from the start.
func TestBucket_ServesBacksUpAndRestores(t *testing.T) {
	t.Parallel()
	if !filestest.HasS3() {
		return
	}
	eachKind(t, func(t *testing.T, in installation) {
		server := filestest.StartS3(t)
		in.sources = append(in.sources, filestest.Environ()...)
		in = in.filesIn(server.Address.String())
		p := in.serve(t, "--rate-limit", "off")
		u := &uploads{by: p.lab(t).manager}
		for range 3 {
			if err := u.one(); err != nil {
				t.Fatal(err)
			}
		}
		server.Kill()
		for name, call := range map[string]func() (answer, error){
			"an upload":  func() (answer, error) { return u.by.upload("more.csv", []byte("gene,count\n")) },
			"a download": func() (answer, error) { return u.by.call("GET", u.addresses[0], "") },
		} {
			if a, err := call(); err != nil || a.status != http.StatusServiceUnavailable {
				t.Errorf("%s while the S3 server is gone: %d, %v: %s, want 503", name, a.status, err, a.body)
			}
		}
		if err := poll(func() error { return u.by.readiness(http.StatusServiceUnavailable, `"files"`) }); err != nil {
			t.Errorf("while the S3 server is gone: %v", err)
		}
		server.Start(t)
		if err := errors.Join(poll(u.areThere), u.one()); err != nil {
			t.Errorf("once it is back: %v", err)
		}
		archive := filepath.Join(in.folder, "backup.alq")
		in.works(t, "backup", "--with-keys", archive)
		if err := p.stop(); err != nil {
			t.Fatal(err)
		}
		other := in.another(t)
		other.sources = slices.Clone(in.sources)
		if out, err := other.command("restore", archive).CombinedOutput(); err == nil ||
			!strings.Contains(string(out), "empty place") {
			t.Errorf("into a bucket that is in use: %s", out)
		}
		address := server.Address
		address.Bucket = "another"
		if err := os.Mkdir(filepath.Join(filepath.Dir(server.Folder), address.Bucket), 0o700); err != nil {
			t.Fatal(err)
		}
		other = other.filesIn(address.String())
		other.works(t, "restore", archive)
		if said := other.works(t, "verify", "--files"); !strings.Contains(said, "4 files of") {
			t.Errorf("verify said %s", said)
		}
	})
}

// TestBucket_SendsSequenceMapsByLink is about the setting files-links.
func TestBucket_SendsSequenceMapsByLink(t *testing.T) {
	t.Parallel()
	if !filestest.HasS3() {
		return
	}
	eachKind(t, func(t *testing.T, in installation) {
		in.sources = append(in.sources, filestest.Environ()...)
		in = in.filesIn(filestest.StartS3(t).Address.String())
		l := in.serve(t, "--files-links").lab(t)
		plasmid, err := did(l.manager.call("POST", "/materials",
			`{"category": "PLASMID", "title": "pX", "organization_id": `+l.id+`}`))
		if err != nil {
			t.Fatal(err)
		}
		material, _ := plasmid.at("id")
		made, err := did(l.manager.upload("map.gb", []byte("LOCUS pX\n")))
		if err != nil {
			t.Fatal(err)
		}
		id, _ := made.at("id")
		of := `{"sequence_map_for": ` + material + `}`
		if _, err := did(l.manager.call("PATCH", "/attachments/"+id, of)); err != nil {
			t.Fatal(err)
		}
		address, _ := made.at("download_url")
		a, err := l.manager.call("GET", address+"?redirect=true", "")
		if err != nil || a.status != http.StatusFound {
			t.Fatalf("got %d %v, %v", a.status, a.header, err)
		}
		sent, err := http.Get(a.header.Get("Location"))
		if err != nil {
			t.Fatal(err)
		}
		defer sent.Body.Close()
		if body, err := io.ReadAll(sent.Body); err != nil || string(body) != "LOCUS pX\n" {
			t.Errorf("the bucket sent %q, %v", body, err)
		}
	})
}

// TestBucket_HoldsWhatWasAgreed is about the setting files-hold and "aliquot files holds": a hold that somebody lifted
// with the tools of the server is found and made again.
func TestBucket_HoldsWhatWasAgreed(t *testing.T) {
	t.Parallel()
	if !filestest.HasS3() {
		return
	}
	eachKind(t, func(t *testing.T, in installation) {
		in.sources = append(in.sources, filestest.Environ()...)
		server := filestest.StartS3(t)
		out, err := in.filesIn(server.Address.String()).command("serve", "--addr", "127.0.0.1:0", "--files-hold").
			CombinedOutput()
		if err == nil || !strings.Contains(string(out), "files-hold: ") {
			t.Errorf("a bucket without Object Lock: %v: %s", err, out)
		}
		server.LockedBucket(t, "agreed")
		address := server.Address
		address.Bucket = "agreed"
		in = in.filesIn(address.String())
		p := in.serve(t, "--files-hold")
		manager, requester := p.lab(t).manager.party(t), party{}
		if c, err := signIn(p.base, josiah); err == nil {
			requester = c.party(t)
		} else {
			t.Fatal(err)
		}
		found, err := requester.ListMaterialsWithResponse(t.Context(),
			&api.ListMaterialsParams{Category: new(api.MaterialCategoryCELLLINE)})
		if err != nil || len(*found.JSON200) == 0 {
			t.Fatal("no material", err)
		}
		made, err := requester.CreateRequestWithResponse(t.Context(), api.RequestNew{Material: (*found.JSON200)[0].ID,
			RequesterAbstract: new("How cells polarise.")})
		if err != nil {
			t.Fatal(err)
		}
		id := made.JSON201.ID
		for _, step := range []struct {
			by    party
			patch api.RequestPatch
		}{
			{manager, api.RequestPatch{Status: new(api.RequestStatusAPPROVED)}},
			{requester, api.RequestPatch{IRBAttachment: requester.hand("irb-approval.pdf")}},
		} {
			if _, err := step.by.UpdateRequestWithResponse(t.Context(), id, step.patch); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := manager.AcceptDocumentWithResponse(t.Context(), id, api.DocumentNameIRB); err != nil {
			t.Fatal(err)
		}
		if err := poll(func() error {
			out, err := in.command("files", "holds").CombinedOutput()
			if err == nil && !strings.Contains(string(out), "hold: 1.") {
				err = fmt.Errorf("it says %s", out)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}

		client, lifted := server.Client(t), 0
		for object := range client.ListObjects(t.Context(), address.Bucket, minio.ListObjectsOptions{Recursive: true}) {
			hold, err := client.GetObjectLegalHold(t.Context(), address.Bucket, object.Key,
				minio.GetObjectLegalHoldOptions{})
			if err != nil || *hold != minio.LegalHoldEnabled || lifted > 0 {
				continue
			}
			off := minio.LegalHoldDisabled
			if err := client.PutObjectLegalHold(t.Context(), address.Bucket, object.Key,
				minio.PutObjectLegalHoldOptions{Status: &off}); err != nil {
				t.Fatal(err)
			}
			lifted++
		}
		if lifted != 1 {
			t.Fatal("the bucket holds nothing")
		}
		out, err = in.command("files", "holds").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "is not held") ||
			!strings.Contains(string(out), "Not held: 1.") {
			t.Errorf("after a hold was lifted: %v: %s", err, out)
		}
		if said := in.works(t, "files", "holds", "--repair"); !strings.Contains(said, "Held now: 1. Not held: 0.") {
			t.Errorf("repaired: %s", said)
		}
		if said := in.works(t, "files", "holds"); !strings.Contains(said, "Held now: 0. Not held: 0.") {
			t.Errorf("afterwards: %s", said)
		}
	})
}

// filesIn is the same installation with its files in another place.
func (in installation) filesIn(place string) installation {
	in.sources = append(in.sources[:len(in.sources):len(in.sources)], "ALIQUOT_FILES="+place)
	return in
}

// place is what filesIn said last.
func (in installation) place() string {
	return strings.TrimPrefix(in.sources[len(in.sources)-1], "ALIQUOT_FILES=")
}

// uploads are files that a server took, each with its number in it.
type uploads struct {
	by        client
	addresses []string // of their content
}

func (u *uploads) content(n int) string { return fmt.Sprintf("gene,count\nA,%d\n", n) }

func (u *uploads) one() error {
	n := len(u.addresses)
	file, err := did(u.by.upload(fmt.Sprintf("counts %d.csv", n), []byte(u.content(n))))
	if err != nil {
		return err
	}
	address, err := file.at("download_url")
	u.addresses = append(u.addresses, address)
	return err
}

// during uploads files, at least three, until something else is done.
func (u *uploads) during(do func() error) error {
	stop, stopped := make(chan struct{}), make(chan error, 1)
	var end sync.Once
	defer end.Do(func() { close(stop) })
	for range 3 {
		if err := u.one(); err != nil {
			return err
		}
	}
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			if err := u.one(); err != nil {
				stopped <- err
				return
			}
		}
	}()
	err := do()
	end.Do(func() { close(stop) })
	return errors.Join(err, <-stopped)
}

// areThere reads every file.
func (u *uploads) areThere() error {
	for n, address := range u.addresses {
		a, err := did(u.by.call("GET", address, ""))
		if err == nil && string(a.body) != u.content(n) {
			err = fmt.Errorf("it is %q", a.body)
		}
		if err != nil {
			return fmt.Errorf("file %d of %d: %w", n, len(u.addresses), err)
		}
	}
	return nil
}
