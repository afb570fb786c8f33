package bench

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"aliquot/internal/exchange/material"
	"aliquot/internal/importer/sourcetest"
)

const (
	importBar      = 10 * time.Millisecond // of one series, beyond what the source takes
	studyBar       = 50 * time.Millisecond // of 650 kB of XML
	studyMemoryBar = 8 * mib
	studyBytes     = 650_000
)

// BenchmarkImport imports one series after the other by POST /materials/import/, from a local
// source whose answers take next to no time: the record, its platform and its publication are
// three calls, and the transaction is durable.
func BenchmarkImport(b *testing.B) {
	each(b, func(b *testing.B, w *world) {
		grant := w.make(w.member, "/v1/grants", obj{"title": "Colon", "funder_id": "R01"})
		var took []time.Duration
		for range b.N {
			for n := range 200 {
				body := fmt.Sprintf(`{"import_source": "GEO", "accession": "GSE%d", "organization_id": %d, "grant_id": %d}`, n+1, w.lab, grant)
				began := time.Now()
				var made struct {
					ID        int64
					ErrorCode string `json:"error_code"`
				}
				w.read(w.request(ours, "POST", "/v1/materials/import/", w.member, body), &made)
				if made.ID == 0 {
					b.Fatalf("GSE%d was not made: %s", n+1, made.ErrorCode)
				}
				took = append(took, time.Since(began))
			}
		}
		slices.Sort(took)
		median := took[len(took)/2]
		b.ReportMetric(float64(median.Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		b.ReportMetric(0, "ns/op")
		if median >= importBar {
			b.Errorf("an import takes %s, not %s", median, importBar)
		}
	})
}

// BenchmarkStudy reads a study of the SRA whose experiments are 650 kB of XML, over HTTP from a
// local source. Memory is all that is allocated, freed or not; the peak is lower.
func BenchmarkStudy(b *testing.B) {
	var xml strings.Builder
	xml.WriteString(`<?xml version="1.0" ?><EXPERIMENT_PACKAGE_SET>`)
	for n := 0; xml.Len() < studyBytes; n++ {
		fmt.Fprintf(&xml, `<EXPERIMENT_PACKAGE><EXPERIMENT accession="SRX%[1]d"><STUDY_REF accession="SRP000001"/><DESIGN><LIBRARY_DESCRIPTOR><LIBRARY_STRATEGY>RNA-Seq`+
			`</LIBRARY_STRATEGY><LIBRARY_CONSTRUCTION_PROTOCOL>%[2]s</LIBRARY_CONSTRUCTION_PROTOCOL></LIBRARY_DESCRIPTOR></DESIGN><PLATFORM><ILLUMINA><INSTRUMENT_MODEL>`+
			`Illumina HiSeq 2500</INSTRUMENT_MODEL></ILLUMINA></PLATFORM></EXPERIMENT><STUDY accession="SRP000001"><DESCRIPTOR><STUDY_TITLE>A study</STUDY_TITLE>`+
			`<STUDY_ABSTRACT>%[2]s</STUDY_ABSTRACT></DESCRIPTOR></STUDY><SAMPLE accession="SRS%[1]d"><SAMPLE_NAME><SCIENTIFIC_NAME>Mus musculus</SCIENTIFIC_NAME>`+
			`</SAMPLE_NAME><SAMPLE_ATTRIBUTES>%[3]s</SAMPLE_ATTRIBUTES></SAMPLE><RUN_SET><RUN accession="SRR%[1]d" published="2019-01-28 15:33:07"><SRAFiles>%[4]s</SRAFiles>`+
			`</RUN></RUN_SET></EXPERIMENT_PACKAGE>`, n, strings.Repeat("What was sequenced and how. ", 40),
			strings.Repeat("<SAMPLE_ATTRIBUTE><TAG>tissue</TAG><VALUE>liver</VALUE></SAMPLE_ATTRIBUTE>", 12),
			strings.Repeat(`<SRAFile cluster="public" filename="SRR1" size="1956921805" date="2020-02-25 05:08:44" md5="9dc519ddc6a0aed81998137fcefa16f2"/>`, 20))
	}
	xml.WriteString(`</EXPERIMENT_PACKAGE_SET>`)
	s := sourcetest.Start(b)
	s.Break("/entrez/eutils/efetch.fcgi",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(xml.String())) })
	var took []time.Duration
	var most uint64
	for range b.N {
		for range 40 {
			im := s.Importer(b) // that remembers nothing
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			if _, err := im.Draft(b.Context(),
				material.ImportOptions{Source: material.SourceSRA, Identifier: "SRP000001"}); err != nil {
				b.Fatal(err)
			}
			took = append(took, time.Since(began))
			runtime.ReadMemStats(&after)
			most = max(most, after.TotalAlloc-before.TotalAlloc)
		}
	}
	slices.Sort(took)
	median := took[len(took)/2]
	b.ReportMetric(float64(median.Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(most)/mib, "alloc-MiB")
	b.ReportMetric(0, "ns/op")
	if median >= studyBar {
		b.Errorf("it takes %s, not %s", median, studyBar)
	}
	if most >= studyMemoryBar {
		b.Errorf("it allocates %d MiB, not %d", most/mib, studyMemoryBar/mib)
	}
}
