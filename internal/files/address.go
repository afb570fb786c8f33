package files

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// scheme begins the address of a bucket.
const scheme = "s3://"

// Address is where a bucket is.
type Address struct {
	Bucket   string
	Endpoint string // host and port of the S3 server
	Insecure bool   // http rather than https
	Region   string
	Role     bool // the key is that of the role of the machine or container
}

// ParseAddress reads an address such as s3://bucket?endpoint=https://s3.example.org&region=eu-west-1. The endpoint
// defaults to that of AWS; it is reached by https unless it says http://. The region defaults to us-east-1, which
// servers without regions accept. Neither a key nor a secret belongs in it, but keys=role says where they are.
func ParseAddress(text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Address{}, errors.New("it must be an address such as s3://bucket?endpoint=https://s3.example.org")
	}
	if u.User != nil {
		return Address{}, errors.New("it must not contain a key or a secret: set AWS_ACCESS_KEY_ID and " +
			"AWS_SECRET_ACCESS_KEY, or name a file that has them in AWS_SHARED_CREDENTIALS_FILE")
	}
	a := Address{Bucket: u.Host, Endpoint: "s3.amazonaws.com", Region: "us-east-1"}
	if err := s3utils.CheckValidBucketNameStrict(a.Bucket); err != nil {
		return Address{}, fmt.Errorf("%q is not the name of a bucket", a.Bucket)
	}
	if u.Path != "" && u.Path != "/" || u.Fragment != "" {
		return Address{}, errors.New("a bucket holds nothing else, so the address has no path")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Address{}, errors.New("its settings must be as in ?endpoint=https://s3.example.org&region=eu-west-1")
	}
	for name, values := range query {
		if !slices.Contains([]string{"endpoint", "region", "keys"}, name) || len(values) != 1 || values[0] == "" {
			return Address{}, errors.New("its settings are endpoint, region and keys, once each at most")
		}
	}
	if keys := query.Get("keys"); keys != "" && keys != "role" {
		return Address{}, errors.New("keys must be role; without it they are read from the environment or a file")
	}
	a.Role = query.Has("keys")
	if region := query.Get("region"); region != "" {
		a.Region = region
	}
	if endpoint := query.Get("endpoint"); endpoint != "" {
		host, plain := strings.CutPrefix(endpoint, "http://")
		host = strings.TrimSuffix(strings.TrimPrefix(host, "https://"), "/")
		a.Endpoint, a.Insecure = host, plain
		if at, err := url.Parse("https://" + host); err != nil || at.Host != host || host == "" {
			return Address{}, errors.New("endpoint must be a host and a port, such as https://s3.example.org:9000")
		}
	}
	return a, nil
}

// String returns the address as ParseAddress takes it.
func (a Address) String() string {
	protocol := "https://"
	if a.Insecure {
		protocol = "http://"
	}
	text := scheme + a.Bucket + "?endpoint=" + protocol + a.Endpoint + "&region=" + a.Region
	if a.Role {
		text += "&keys=role"
	}
	return text
}

// Credentials returns what reads the key of the S3 server: of the role of the machine, if the address says so, or where
// all clients do, in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN, or in the file that
// AWS_SHARED_CREDENTIALS_FILE names, which is read for each call.
func (a Address) Credentials() *credentials.Credentials {
	if a.Role {
		return credentials.NewIAM("")
	}
	return credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{}})
}
