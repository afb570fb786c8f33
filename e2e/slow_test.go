package e2e

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"aliquot/internal/api"
	"aliquot/internal/app"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/person"
	"aliquot/internal/files"
	"aliquot/internal/identity"
	"aliquot/internal/server"
	"aliquot/internal/store/storetest"
)

// TestUpload_MayTakeLongerThanOtherBodies runs in this process, where the server's limits can be
// short: those of the binary, 30 and 60 seconds, are too long to wait for. Everything else is
// what the binary runs.
func TestUpload_MayTakeLongerThanOtherBodies(t *testing.T) {
	t.Parallel()
	const limit = 500 * time.Millisecond
	folder, err := files.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = folder.Close() })
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	a := app.New(app.Config{DB: storetest.Open(t, storetest.SQLite), Files: folder, Access: exchange.AccessMembers,
		Registration: []string{"open"}, TokenLifetime: time.Hour, UploadLimit: 32 << 20, Log: log})
	short := httptest.NewUnstartedServer(server.Record(api.New(a, log), log))
	short.Config.ReadTimeout, short.Config.WriteTimeout = limit, limit
	short.Start()
	t.Cleanup(short.Close)
	signed, err := a.Accounts.SignIn(t.Context(), identity.Person{RegistryID: josiah}, person.Registration{})
	if err != nil {
		t.Fatal(err)
	}
	c := client{base: short.URL, token: signed.Token}
	record, err := did(c.call("POST", "/attachments/", `{"filename": "counts.csv"}`))
	if err != nil {
		t.Fatal(err)
	}
	url, err := record.at("download_url")
	if err != nil {
		t.Fatal(err)
	}
	content := bytes.Repeat([]byte("gene,count\n"), 2<<20) // more than waits on its way
	if _, err := did(c.send("PUT", url, "text/csv",
		&slow{Reader: bytes.NewReader(content), pause: 3 * limit})); err != nil {
		t.Fatalf("upload: %v", err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, short.URL+url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Token "+signed.Token)
	response, err := web.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(&slow{Reader: response.Body, pause: 3 * limit})
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("download: %d bytes of %d: %v", len(got), len(content), err)
	}
}

// slow reads a little, and pauses before the rest.
type slow struct {
	io.Reader
	pause time.Duration
	reads int
}

func (s *slow) Read(p []byte) (int, error) {
	if s.reads++; s.reads == 10 {
		time.Sleep(s.pause)
	}
	return s.Reader.Read(p)
}
