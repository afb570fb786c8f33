package files

import (
	"context"
	"mime"
	"net/url"
	"time"
)

// Presign returns a link by which whoever has it downloads content from the server of the bucket itself, and which
// works for so long. Name, type and caching of the answer are part of what is signed, so that the link downloads a file
// and never shows a page.
func (s *S3) Presign(ctx context.Context, c Content, filename string, lifetime time.Duration) (string, error) {
	if !keyForm.MatchString(c.Key) {
		return "", errGone()
	}
	link, err := s.client.PresignedGetObject(ctx, s.bucket, fileOf(c.Key), lifetime, url.Values{
		"response-content-type":        {c.MediaType},
		"response-content-disposition": {mime.FormatMediaType("attachment", map[string]string{"filename": filename})},
		"response-cache-control":       {"private, no-store"}})
	if err != nil {
		return "", s.failed(ctx, err)
	}
	return link.String(), nil
}
