package files_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aliquot/internal/files"
	"aliquot/internal/files/filestest"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

func TestParseAddress_ReadsWhatItWrites(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]files.Address{
		"s3://aliquot": {Bucket: "aliquot", Endpoint: "s3.amazonaws.com", Region: "us-east-1"},
		"s3://aliquot?endpoint=https://s3.example.org&region=eu-west-1": {Bucket: "aliquot", Endpoint: "s3.example.org",
			Region: "eu-west-1"},
		"s3://aliquot?endpoint=s3.example.org:9000/": {Bucket: "aliquot", Endpoint: "s3.example.org:9000",
			Region: "us-east-1"},
		"s3://a.b-c/?endpoint=http://[::1]:7070": {Bucket: "a.b-c", Endpoint: "[::1]:7070", Insecure: true,
			Region: "us-east-1"},
		"s3://aliquot?keys=role": {Bucket: "aliquot", Endpoint: "s3.amazonaws.com", Region: "us-east-1", Role: true},
	} {
		got, err := files.ParseAddress(text)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
		if again, err := files.ParseAddress(got.String()); err != nil || again != got {
			t.Errorf("%s: written as %s, which is read as %+v, %v", text, got, again, err)
		}
	}
}

func TestParseAddress_RefusesWhatItWouldMisunderstand(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"s3://":                                      "not the name of a bucket",
		"s3://Bucket_":                               "not the name of a bucket",
		"s3://bucket/folder":                         "no path",
		"s3://bucket#part":                           "no path",
		"s3://key:hush@bucket":                       "AWS_SECRET_ACCESS_KEY",
		"s3://bucket?secret=hush":                    "endpoint, region and keys",
		"s3://bucket?region=a&region=b":              "endpoint, region and keys",
		"s3://bucket?region=":                        "endpoint, region and keys",
		"s3://bucket?endpoint=ftp://host":            "endpoint must be",
		"s3://bucket?endpoint=https://":              "endpoint must be",
		"s3://bucket?endpoint=http://h/p":            "endpoint must be",
		"s3://bucket?endpoint=https://key:hush@host": "endpoint must be",
		"s3://bucket?keys=hush":                      "keys must be role",
		"s3://bucket?endpoint=%zz":                   "its settings must be",
		"s3://bucket\x00":                            "such as",
	} {
		_, err := files.ParseAddress(text)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: got %v, want an error with %q and no secret", text, err, says)
		}
	}
}

func TestOpenS3_WithoutAKeySaysWhereItIsReadFrom(t *testing.T) {
	t.Parallel()
	_, err := files.OpenS3(files.Address{Bucket: "bucket", Endpoint: "s3.example.org", Region: "us-east-1"},
		credentials.NewStaticV4("", "", ""), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
		t.Errorf("got %v", err)
	}
}

func TestKeys_OfAFileThatChangesAreReadAgain(t *testing.T) {
	name := filepath.Join(t.TempDir(), "keys")
	for _, variable := range []string{"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY",
		"AWS_PROFILE"} {
		t.Setenv(variable, "")
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", name)
	keys := files.Address{}.Credentials()
	for _, want := range []string{"first", "second"} {
		text := "[default]\naws_access_key_id = " + want + "\naws_secret_access_key = hush\n"
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := keys.GetWithContext(nil); err != nil || got.AccessKeyID != want {
			t.Errorf("the key is %q, %v, want %q", got.AccessKeyID, err, want)
		}
	}
}

func TestKeys_OfARoleAreThoseThatItsServerGives(t *testing.T) {
	role := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"AccessKeyId": %q, "SecretAccessKey": %q, "Token": "", "Expiration": %q}`,
			filestest.AccessKey, filestest.SecretKey, time.Now().Add(time.Hour).Format(time.RFC3339))
	}))
	defer role.Close()
	t.Setenv("AWS_ACCESS_KEY_ID", "another")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "another")
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", role.URL)
	address, err := files.ParseAddress("s3://bucket?keys=role")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := address.Credentials().GetWithContext(nil); err != nil || got.AccessKeyID != filestest.AccessKey {
		t.Errorf("the key is %q, %v", got.AccessKeyID, err)
	}
	if !filestest.HasS3() {
		return
	}
	server := filestest.StartS3(t)
	server.Address.Role = true
	store, err := files.Open(server.Address.String(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Check(t.Context()); err != nil {
		t.Error(err)
	}
	role.Close()
	if _, err := files.Open(server.Address.String(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "no role") {
		t.Errorf("without a role: %v", err)
	}
}
