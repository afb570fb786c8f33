package notice_test

import (
	"strings"
	"testing"

	"aliquot/internal/notice"
)

func TestAnchor_IsAtTheEndOfTextAndPage(t *testing.T) {
	t.Parallel()
	const note = "aliquot.example.org/log/2026\n7\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n— a<b AAAA\n"
	text, page := notice.Anchor("Hello.\n", "<footer>x</footer>", note)
	if !strings.HasPrefix(text, "Hello.\n\nCheckpoint of the record.") || !strings.HasSuffix(text, "\n\n"+note) {
		t.Errorf("text %q", text)
	}
	if !strings.Contains(page, "— a&lt;b AAAA") || !strings.HasSuffix(page, "</pre>\n</footer>") {
		t.Errorf("page %q", page)
	}
	if text, page = notice.Anchor("Hello.\n", "<footer>", ""); text != "Hello.\n" || page != "<footer>" {
		t.Errorf("without a checkpoint: %q, %q", text, page)
	}
}
