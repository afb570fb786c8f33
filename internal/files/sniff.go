package files

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gabriel-vasile/mimetype"

	"aliquot/internal/exchange"
)

// sniffLength is how many bytes of a file Sniff reads; mimetype reads no more either.
const sniffLength = 4096

// Types of sequence maps. Neither is registered with IANA; these names are in common use.
const (
	GenBank = "text/x-genbank"
	FASTA   = "text/x-fasta"
)

const welcome = "Accepted are PDF, images (PNG, JPEG, TIFF, GIF, WebP), office documents, text, CSV, ZIP, gzip, " +
	"GenBank and FASTA files."

// refusedTypes are the media types, as mimetype names them, that a browser or a desktop would run. Their subtypes in
// mimetype's tree are refused too.
var refusedTypes = map[string]string{
	"text/html":                               "an HTML page",
	"application/xhtml+xml":                   "an XHTML page",
	"image/svg+xml":                           "an SVG drawing",
	"text/javascript":                         "JavaScript",
	"text/x-php":                              "a PHP script",
	"application/java-archive":                "a Java program",
	"application/vnd.android.package-archive": "an Android program",
	"application/x-ms-installer":              "a Windows installer",
	"application/x-ms-shortcut":               "a Windows shortcut",
	"application/vnd.ms-htmlhelp":             "a Windows help file",
	"application/vnd.debian.binary-package":   "a Debian package",
	"application/x-rpm":                       "an RPM package",
	"application/x-chrome-extension":          "a browser extension",
	"application/x-bytecode.python":           "a Python program",
	"application/vnd.ms-cab-compressed":       "a Windows cabinet",
}

// refusedNames are the extensions of files that a desktop would run or a browser would show as a page.
var refusedNames = strings.Fields(`
	.apk .app .application .appref-ms .appx .appxbundle .bat .cab .chm .cjs .class .cmd .com .cpl .crx .deb .desktop
	.diagcab .dll .dmg .docm .dotm .dylib .elf .exe .gadget .hlp .hta .htm .html .inf .iqy .iso .jar .jnlp .js .jse
	.library-ms .lnk .mht .mhtml .mjs .msc .msi .msix .msixbundle .msp .mst .one .onepkg .onetoc2 .pif .potm .ppam
	.ppsm .pptm .ps1 .ps1xml .psd1 .psm1 .reg .rpm .scf .scr .sct .search-ms .searchconnector-ms .settingcontent-ms
	.sh .shtml .sldm .slk .so .svg .svgz .swf .url .vb .vbe .vbs .vhd .vhdx .wasm .webloc .ws .wsc .wsf .wsh .xht
	.xhtml .xlam .xll .xlm .xlsm .xltm .xpi`)

// Sniff returns the media type of a file, without parameters, from its first bytes (4096 suffice). The name does not
// decide the type but can be refused: a name with the extension of a program or a page makes a desktop treat the file
// as one, whatever is in it. Either may be empty, so that a name can be checked before the content arrives.
//
// Programs, scripts, shortcuts, OneNote notebooks, disk images, HTML, XHTML, SVG and JavaScript are refused with
// UnsupportedMedia; Inspect checks the rest of the file. Content of unknown type is "application/octet-stream", which
// is fine: formats of instruments often are.
func Sniff(head []byte, filename string) (mediaType string, err error) {
	ending := strings.ToLower(path.Ext(strings.TrimRight(filename, ". "))) // Windows drops dots and spaces at the end
	if slices.Contains(refusedNames, ending) {
		return "", refuse("a file named *" + ending)
	}
	head = bytes.TrimPrefix(head, []byte("\ufeff")) // the byte order mark
	if what := cmp.Or(program(head), container(head), page(head), shortcut(head)); what != "" {
		return "", refuse(what)
	}
	if !bytes.HasPrefix(head, []byte("%PDF-")) {
		// mimetype finds a PDF after anything, such as an HTML page; what comes first decides.
		head = bytes.ReplaceAll(head, []byte("%PDF-"), []byte("%pdf-"))
	}
	text := false
	found := mimetype.Detect(head)
	for t := found; t != nil; t = t.Parent() {
		name, _, _ := strings.Cut(t.String(), ";")
		if what, ok := refusedTypes[name]; ok {
			return "", refuse(what)
		}
		text = text || name == "text/plain"
	}
	mediaType, _, _ = strings.Cut(found.String(), ";")
	switch {
	case mediaType == "application/vnd.microsoft.portable-executable", // "MZ" and no zero byte
		mediaType == "application/x-shockwave-flash": // "CWS" and nothing but text
		return "text/plain", nil
	case text && genBankForm.Match(head):
		return GenBank, nil
	case text && fastaForm.Match(head):
		return FASTA, nil
	}
	return mediaType, nil
}

var (
	scriptForm = regexp.MustCompile(`^#![ \t]*/`) // without the slash it is a line of Ensembl's GTF

	// LOCUS       SCU49845     5028 bp    DNA             PLN       21-JUN-1999
	genBankForm = regexp.MustCompile(`^\s*LOCUS +\S+ +\d+ (?:bp|aa)\b`)

	// A line ">name and words", then sequence: letters, gaps and stops without a blank.
	fastaForm = regexp.MustCompile(`^\s*>[^\n]*\n[A-Za-z*-]+\s*(?:\n|$)`)
)

// program returns the kind of program that head begins, "" for anything else. It is checked before mimetype, which
// takes a program for an archive or a PDF if it contains their signatures further on.
func program(head []byte) string {
	opens := func(first string) bool { return bytes.HasPrefix(head, []byte(first)) }
	switch {
	case opens("\x7fELF"):
		return "a Linux program"
	case opens("MZ") && bytes.IndexByte(head, 0) >= 0: // a table may begin with "MZ" too, without zero bytes
		return "a Windows program"
	case (opens("CWS") || opens("FWS") || opens("ZWS")) && bytes.ContainsFunc(head, control): // and so may a table
		return "a Flash program"
	case opens("\xfe\xed\xfa\xce"), opens("\xfe\xed\xfa\xcf"), opens("\xce\xfa\xed\xfe"), opens("\xcf\xfa\xed\xfe"):
		return "a macOS program"
	case opens("\xca\xfe\xba\xbe"), opens("\xca\xfe\xba\xbf"), opens("\xbe\xba\xfe\xca"):
		return "a Java or macOS program"
	case opens("dex\n"):
		return "an Android program"
	case opens("\x00asm"):
		return "a WebAssembly program"
	case scriptForm.Match(head):
		return "a script"
	}
	return ""
}

// control reports whether a character is in no text.
func control(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\f\r", r) }

// container returns the kind of container whose files a desktop opens from within it, "" for anything else.
func container(head []byte) string {
	opens := func(first string) bool { return bytes.HasPrefix(head, []byte(first)) }
	switch {
	case opens("\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3"),
		opens("\xa1\x2f\xff\x43\xd9\xef\x76\x4c\x9e\xe2\x10\xea\x57\x22\x76\x5f"):
		return "a notebook of OneNote"
	case opens("conectix"), opens("vhdxfile"), opens("KDMV"), opens("QFI\xfb"):
		return "a disk image"
	case opens("ITSF"), opens("?_\x03\x00"):
		return "a Windows help file"
	case opens("\x4c\x00\x00\x00\x01\x14\x02\x00"):
		return "a Windows shortcut"
	}
	return ""
}

// Shortcuts are texts: a section in brackets, or a property list with an address. Some begin with other sections.
var (
	shortcutForm = regexp.MustCompile(`(?i)\A(?:[ \t\r]*(?:[;#].*|\[[^\]\n]*\][ \t\r]*|[^=\n\[]+=.*)?\n)*[ \t\r]*\[` +
		`(?:InternetShortcut(?:\.[AW])?|Desktop Entry)\]`)
	weblocForm = regexp.MustCompile(`(?s)<plist\b.*<key>\s*URL\s*</key>`)
)

// shortcut returns the kind of shortcut that head is, "" for anything else.
func shortcut(head []byte) string {
	text := head
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.IndexByte(text[:min(len(text), 64)], 0) == 1 {
		text = bytes.ReplaceAll(text, []byte{0}, nil) // UTF-16 of plain letters
	}
	text = bytes.TrimPrefix(text, []byte("\xff\xfe"))
	switch {
	case bytes.IndexByte(text, 0) < 0 && shortcutForm.Match(text), weblocForm.Match(text),
		bytes.HasPrefix(text, []byte("bplist00")) && bytes.Contains(text, []byte("SURL")):
		return "a shortcut to an address or a program"
	}
	return ""
}

// Root elements that a desktop runs or follows.
var refusedRoots = map[string]string{
	"html": "an HTML page", "svg": "an SVG drawing", "hta:application": "an HTML application", "scriptlet": "a script",
	"librarydescription": "a Windows library", "searchconnectordescription": "a Windows library",
	"pcsettings": "a Windows shortcut",
	"jnlp":       "a Java program", "asmv1:assembly": "a Windows program",
}

// page returns the kind of page whose root element comes first in head, "" for anything else. It sees what mimetype
// does not: a name with a prefix, a DOCTYPE with entities before it.
func page(head []byte) string {
	if !bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) {
		return ""
	}
	decoder := xml.NewDecoder(bytes.NewReader(head))
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		token, err := decoder.RawToken()
		if err != nil {
			return ""
		}
		element, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		name := strings.ToLower(element.Name.Local)
		whole := strings.ToLower(element.Name.Space) + ":" + name
		if name == "job" || name == "package" || name == "component" {
			if bytes.Contains(bytes.ToLower(head), []byte("<script")) {
				return "a script"
			}
		}
		return cmp.Or(refusedRoots[whole], refusedRoots[name])
	}
}

func refuse(what string) error {
	return exchange.Errorf(exchange.UnsupportedMedia, "This is %s, which is not accepted. %s", what, welcome)
}
