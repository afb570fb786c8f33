package pdfa

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
)

// metadata returns the XMP packet, which states which standards the file follows. It describes the schema of PDF/UA,
// because PDF/A does not know it.
func (d *Document) metadata() []byte {
	escape := func(text string) string {
		var b strings.Builder
		_ = xml.EscapeText(&b, []byte(text)) // a builder takes everything
		return b.String()
	}
	at := d.meta.Date.UTC().Format("2006-01-02T15:04:05Z")
	return fmt.Appendf(nil, xmpPacket, escape(d.meta.Title), escape(d.meta.Author), escape(d.meta.Lang), at, at)
}

const xmpPacket = "<?xpacket begin=\"\ufeff\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>" + `
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">
<dc:format>application/pdf</dc:format>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">%s</rdf:li></rdf:Alt></dc:title>
<dc:creator><rdf:Seq><rdf:li>%s</rdf:li></rdf:Seq></dc:creator>
<dc:language><rdf:Bag><rdf:li>%s</rdf:li></rdf:Bag></dc:language>
<xmp:CreateDate>%s</xmp:CreateDate>
<xmp:ModifyDate>%s</xmp:ModifyDate>
<pdfaid:part>3</pdfaid:part>
<pdfaid:conformance>A</pdfaid:conformance>
<pdfuaid:part>1</pdfuaid:part>
</rdf:Description>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
 xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>PDF/UA identification schema</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name>
<pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>Part of ISO 14289 that the file follows</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="w"?>`

// sRGB returns the colour profile of IEC 61966-2-1 in the form of ICC version 4.
func sRGB() []byte {
	be := binary.BigEndian
	fixed := func(values ...float64) (b []byte) {
		for _, v := range values {
			b = be.AppendUint32(b, uint32(int32(math.Round(v*65536))))
		}
		return b
	}
	tag := func(kind string, data []byte) []byte { return append(append([]byte(kind), 0, 0, 0, 0), data...) }
	text := func(s string) []byte {
		const records, recordSize, offset = 1, 12, 28
		b := be.AppendUint32(be.AppendUint32(nil, records), recordSize)
		b = append(b, "enUS"...)
		b = be.AppendUint32(be.AppendUint32(b, uint32(2*len(s))), offset)
		for _, unit := range utf16.Encode([]rune(s)) {
			b = be.AppendUint16(b, unit)
		}
		return tag("mluc", b)
	}
	white := []float64{0.9642, 1, 0.8249} // D50
	const parametric = 3 << 16            // a power with a straight part near black
	power := fixed(2.4, 1/1.055, 0.055/1.055, 1/12.92, 0.04045)
	curve := tag("para", append(be.AppendUint32(nil, parametric), power...))
	tags := []struct {
		name string
		data []byte
	}{
		{"desc", text("sRGB")}, {"cprt", text("No copyright")},
		{"wtpt", tag("XYZ ", fixed(white...))},
		{"chad", tag("sf32", fixed(1.0478112, 0.0228866, -0.0501270, 0.0295424, 0.9904844, -0.0170491, -0.0092345,
			0.0150436, 0.7521316))},
		{"rXYZ", tag("XYZ ", fixed(0.4360747, 0.2225045, 0.0139322))},
		{"gXYZ", tag("XYZ ", fixed(0.3850649, 0.7168786, 0.0971045))},
		{"bXYZ", tag("XYZ ", fixed(0.1430804, 0.0606169, 0.7141733))},
		{"rTRC", curve}, {"gTRC", curve}, {"bTRC", curve},
	}
	table, data := be.AppendUint32(nil, uint32(len(tags))), []byte(nil)
	const headerSize, entrySize = 128, 12
	start := headerSize + 4 + entrySize*len(tags)
	for _, t := range tags {
		table = append(table, t.name...)
		table = be.AppendUint32(be.AppendUint32(table, uint32(start+len(data))), uint32(len(t.data)))
		data = append(data, padded(t.data)...)
	}
	header := make([]byte, headerSize)
	be.PutUint32(header, uint32(start+len(data)))
	copy(header[8:], "\x04\x20\x00\x00mntrRGB XYZ \x07\xea\x00\x01\x00\x01") // version 4.2, made on 1 January 2026
	copy(header[36:], "acsp")
	copy(header[68:], fixed(white...))
	return bytes.Join([][]byte{header, table, data}, nil)
}
