package notice

import (
	"fmt"
	"time"
)

// SigningLink asks a person without an account to sign an agreement.
type SigningLink struct {
	Number              string // of the agreement
	Title               string // of its instrument
	Provider, Recipient string // the institutions
	Sender              string // display name of who sends it
	Role                string // in words, as in "official of the recipient"
	Link                string // where it is read and signed
	Expires             time.Time
}

// SigningLink writes to the person. There is no account to take their time zone from, so times are in UTC.
func (w *Writer) SigningLink(l SigningLink) (Text, error) {
	in := zone(nil)
	return w.write(page{
		Subject: fmt.Sprintf("%s: please sign the agreement between %s and %s", l.Number,
			glued(l.Provider, subjectName, "an institution"), glued(l.Recipient, subjectName, "an institution")),
		Lead: fmt.Sprintf("%s asks you to sign the agreement %s as %s.", glued(l.Sender, maxName, "Somebody"), l.Number,
			l.Role),
		Facts: []string{
			fmt.Sprintf("Its form is %s; %s provides, and %s receives.", glued(l.Title, maxName, "a letter"),
				glued(l.Provider, maxName, "an institution"), glued(l.Recipient, maxName, "an institution")),
			"You need no account. Read it, have a code sent to this address, and sign or decline with the code.",
			"The link is valid until " + moment(l.Expires, in) + ", for this version of the agreement. Whoever you " +
				"forward it to can read the agreement and cannot sign it.",
		},
		Link: link{"Read and sign", l.Link},
		Why: "You get this e-mail from Aliquot because your institution registered you as somebody who signs for it " +
			"with this address.",
	})
}

// SigningCode writes the code with which somebody without an account signs or declines an agreement.
func (w *Writer) SigningCode(number, code string, until time.Time) (Text, error) {
	return w.write(page{
		Subject: number + ": your code is " + code,
		Lead:    "The code to sign or decline the agreement " + number + " is " + code + ".",
		Facts: []string{"Enter it on the page where you read the agreement. It is valid until " +
			moment(until, zone(nil)) + ", for this agreement alone. Nobody from Aliquot asks you for it."},
		Link: link{"Back to the agreement", w.base + "/sign"},
		Why: "You get this e-mail from Aliquot because somebody opened the link to the agreement that was mailed to " +
			"you, and asked for a code. If it was not you, do nothing: without the code nobody can sign.",
	})
}
