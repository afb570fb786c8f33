package files_test

import (
	"strings"
	"testing"

	"aliquot/internal/files"

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
		"s3://bucket?secret=hush":                    "endpoint and region",
		"s3://bucket?region=a&region=b":              "endpoint and region",
		"s3://bucket?region=":                        "endpoint and region",
		"s3://bucket?endpoint=ftp://host":            "endpoint must be",
		"s3://bucket?endpoint=https://":              "endpoint must be",
		"s3://bucket?endpoint=http://h/p":            "endpoint must be",
		"s3://bucket?endpoint=https://key:hush@host": "endpoint must be",
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
