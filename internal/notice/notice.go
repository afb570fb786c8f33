// Package notice writes the mails to people: what happened to a request, their pending tasks, and invitations to
// organizations. Each message is built from one page of facts, which one template turns into plain text and another
// into HTML. It has no clock and reads nothing.
package notice

import (
	"embed"
	"fmt"
	htmltemplate "html/template"
	"net/url"
	"strings"
	"text/template"
)

//go:embed templates
var files embed.FS

// Text is one message to one person.
type Text struct {
	Subject    string // one line of at most about 150 characters, without control characters
	Text, HTML string // the same facts twice; lines of Text end in \n
}

// Writer writes messages. It may be used by many goroutines at once.
type Writer struct {
	base string // of every link to a page of ours, without a slash at the end
	text *template.Template
	html *htmltemplate.Template
}

// New parses the templates. publicURL is the address of Aliquot, such as https://aliquot.example.org.
func New(publicURL string) (*Writer, error) {
	u, err := url.Parse(publicURL)
	if err != nil {
		return nil, err
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the public address must be a web address, not %q", publicURL)
	}
	w := &Writer{base: strings.TrimRight(publicURL, "/")}
	w.text, err = template.New("mail.txt").Funcs(template.FuncMap{"wrap": wrap, "quote": quoted}).ParseFS(files,
		"templates/mail.txt")
	if err != nil {
		return nil, err
	}
	w.html, err = htmltemplate.New("mail.html").Funcs(htmltemplate.FuncMap{"flow": unglued}).ParseFS(files,
		"templates/mail.html")
	return w, err
}

// page is the content of one message. Its texts have no line breaks and are cleaned; names and titles in them are
// glued. Empty fields are left out.
type page struct {
	Subject string
	Lead    string   // what happened
	Facts   []string // further facts about it
	Quotes  []quote
	Turn    string // whose turn it is
	Mine    bool   // it is the reader's
	Needs   []need // the requirements still open
	Parts   []part // of a digest
	Link    link   // to the exact place
	Why     string // why the reader gets the message
	Change  link   // to the settings of notifications
}

// quote is a text of a person, after a sentence that introduces it.
type quote struct {
	Label string
	Lines []string
}

// need is a requirement that is still open.
type need struct {
	What  string
	Lines []string // why it was returned
}

// part is one part of a digest: pending requests, or what happened.
type part struct {
	Title  string
	Groups []group
	More   string
}

// group is a request in a digest.
type group struct {
	Title string
	Lines []digestEvent
	Turn  string
	Mine  bool
	URL   string // the exact place
}

// digestEvent is one event in a digest, and the beginning of what its actor wrote.
type digestEvent struct {
	Text  string
	Lines []string
}

type link struct{ Text, URL string }

func (w *Writer) write(p page) (Text, error) {
	p.Subject = unglued(p.Subject)
	var text, html strings.Builder
	if err := w.text.Execute(&text, p); err != nil {
		return Text{}, err
	}
	if err := w.html.Execute(&html, p); err != nil {
		return Text{}, err
	}
	return Text{Subject: p.Subject, Text: text.String(), HTML: html.String()}, nil
}
