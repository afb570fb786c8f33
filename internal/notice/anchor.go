package notice

import (
	"html"
	"strings"
)

// anchorLead introduces a checkpoint.
const anchorLead = "Checkpoint of the record. Whoever keeps this message can check later that nothing before it was " +
	"rewritten:"

// Anchor adds a signed checkpoint of the log to the end of a message, as text and as HTML. "" adds nothing.
func Anchor(text, page, checkpoint string) (string, string) {
	if checkpoint == "" {
		return text, page
	}
	text += "\n" + wrap("", anchorLead) + "\n\n" + checkpoint
	return text, strings.Replace(page, "</footer>", `<p style="margin:16px 0 4px">`+anchorLead+
		`</p><pre style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere;font-size:11px">`+
		html.EscapeString(checkpoint)+"</pre>\n</footer>", 1)
}
