package identifier_test

import "aliquot/internal/exchange/identifier"

type samples struct {
	good map[string]string // as pasted → canonical
	odd  map[string]string // likewise, with a warning
	bad  []string
}

// table holds samples of every kind. Unless they are invalid, the numbers are those of real records.
var table = map[identifier.Kind]samples{
	"orcid": {
		good: map[string]string{
			"0000-0002-1825-0097":                      "0000-0002-1825-0097",
			"https://orcid.org/0000-0002-1825-0097":    "0000-0002-1825-0097",
			"http://www.orcid.org/0000-0002-1694-233x": "0000-0002-1694-233X",
			"orcid.org/0000-0001-5109-3700/":           "0000-0001-5109-3700",
			"0000000218250097":                         "0000-0002-1825-0097",
			"0000–0002–1825–0097":                      "0000-0002-1825-0097",
			" ORCID iD: 0000-0002-1825-0097\n":         "0000-0002-1825-0097",
		},
		bad: []string{"0000-0002-1825-0098", "0000-0002-1825-009", "0000-0002-1825-00977", "0000-0002-1825-009X",
			"X000-0002-1825-0097", "https://example.org/0000-0002-1825-0097",
			"0000-0002-1825-0097 0000-0001-5109-3700"},
	},
	"ror": {
		good: map[string]string{
			"https://ror.org/05dxps055": "https://ror.org/05dxps055",
			"ror.org/03yrm5c26":         "https://ror.org/03yrm5c26",
			"00F54P054":                 "https://ror.org/00f54p054",
			"ror:02mhbdp94":             "https://ror.org/02mhbdp94",
		},
		bad: []string{"05dxps056", "15dxps055", "05dxps05", "05dxpi055", "https://ror.org/", "grid.5335.0"},
	},
	"doi": {
		good: map[string]string{
			"10.1158/0008-5472.CAN-17-0582":                                "10.1158/0008-5472.can-17-0582",
			"doi:10.1109/5.771073":                                         "10.1109/5.771073",
			"DOI: 10.1109/5.771073":                                        "10.1109/5.771073",
			"info:doi/10.1109/5.771073":                                    "10.1109/5.771073",
			"https://doi.org/10.1109/5.771073":                             "10.1109/5.771073",
			"http://dx.doi.org/10.1109/5.771073.":                          "10.1109/5.771073",
			"dx.doi.org/10.17504/protocols.io.bbmuik6w":                    "10.17504/protocols.io.bbmuik6w",
			"https://doi.org/10.1002/%28SICI%291097-4571%28199806%2949:8":  "10.1002/(sici)1097-4571(199806)49:8",
			"10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O": "10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o",
			"10.1000.10/123":                                               "10.1000.10/123",
		},
		bad: []string{"11.1109/5.771073", "10.1109", "10.1109/", "10.1109/.", "10.110/5", "10.1109/5 771073",
			"https://doi.org/10.1109/%", "https://doi.org/10.1109/5%20771", "https://example.org/10.1109/5.771073",
			"doi"},
	},
	"protocols-doi": {
		good: map[string]string{
			"dx.doi.org/10.17504/protocols.io.bbmuik6w":                                       "dx.doi.org/10.17504/protocols.io.bbmuik6w",
			"10.17504/protocols.io.36wgqj1kxvk5/v1":                                           "dx.doi.org/10.17504/protocols.io.36wgqj1kxvk5/v1",
			"https://dx.doi.org/10.17504/PROTOCOLS.IO.kxygxe81zv8j/v2":                        "dx.doi.org/10.17504/protocols.io.kxygxe81zv8j/v2",
			"https://www.protocols.io/view/single-cell-rna-extraction-kxygxe81zv8j/v2?step=1": "dx.doi.org/10.17504/protocols.io.kxygxe81zv8j/v2",
			"protocols.io/view/bbmuik6w":                                                      "dx.doi.org/10.17504/protocols.io.bbmuik6w",
			"protocols.io.BBMUIK6W":                                                           "dx.doi.org/10.17504/protocols.io.bbmuik6w",
		},
		bad: []string{"10.1109/5.771073", "10.17504/protocols.io.", "10.17504/protocols.io.bbmuik6w/v",
			"10.17504/protocols.io.bbmuik6w/v0", "bbmuik6w"},
	},
	"pmid": {
		good: map[string]string{
			"13052828":            "13052828",
			"PMID:13052828":       "13052828",
			"pmid 1":              "1",
			"PubMed ID: 29092942": "29092942",
			"https://pubmed.ncbi.nlm.nih.gov/29092942/?term=pdx": "29092942",
			"https://www.ncbi.nlm.nih.gov/pubmed/29092942":       "29092942",
		},
		bad: []string{"0", "012345", "123456789", "PMC5738926", "12 34", "12a", "-5", "17495134; 20007543"},
	},
	"rrid": {
		good: map[string]string{
			"RRID:CVCL_0030":                     "RRID:CVCL_0030",
			"cvcl_y019":                          "RRID:CVCL_Y019",
			"RRID:IMSR_JAX:000664":               "RRID:IMSR_JAX:000664",
			"rrid:imsr_em:Abc1":                  "RRID:IMSR_EM:Abc1",
			"RRID: IMSR_TAC:129sve":              "RRID:IMSR_TAC:129sve",
			"RRID:MGI_3840442":                   "RRID:MGI:3840442",
			"RRID:mmrrc_026409-ucd":              "RRID:MMRRC_026409-UCD",
			"rrid:addgene_12260":                 "RRID:Addgene_12260",
			"RRID:Addgene_50465-AAV9":            "RRID:Addgene_50465-AAV9",
			"RRID:WB-STRAIN:WBStrain00000001":    "RRID:WB-STRAIN:WBStrain00000001",
			"RRID:WB-STRAIN_N2":                  "RRID:WB-STRAIN:N2",
			"RRID:ZFIN_ZDB-GENO-960809-7":        "RRID:ZFIN_ZDB-GENO-960809-7",
			"RRID:BDSC_5":                        "RRID:BDSC_5",
			"RRID:RGD_10395233":                  "RRID:RGD_10395233",
			"RRID:NXR_1049":                      "RRID:NXR_1049",
			"RRID:AB_262044":                     "RRID:AB_262044",
			"RRID:SCR_007358":                    "RRID:SCR_007358",
			"RRID:SAMN19842595":                  "RRID:SAMN19842595",
			"(ATCC Cat# CCL-2, RRID:CVCL_0030).": "RRID:CVCL_0030",
			"https://scicrunch.org/resolver/RRID:Addgene_12259": "RRID:Addgene_12259",
		},
		odd: map[string]string{
			"RRID:NEWSTOCK_17":   "RRID:NEWSTOCK_17",
			"RRID:Foo:Bar:000_1": "RRID:Foo:Bar:000_1",
		},
		bad: []string{"RRID:", "RRID:CVCL_00", "RRID:CVCL_00300", "RRID:SCR_73", "RRID:MGI:abc", "RRID:IMSR_JAX",
			"RRID:IMSR_JAX:664",
			"RRID:Addgene_012", "see the paper", "CVCL0030", "https://example.org/x_1", "RRID:_1"},
	},
	"cellosaurus": {
		good: map[string]string{
			"CVCL_0030":                             "CVCL_0030",
			"cvcl_z230":                             "CVCL_Z230",
			"RRID:CVCL_0320":                        "CVCL_0320",
			"https://www.cellosaurus.org/CVCL_0030": "CVCL_0030",
			"https://web.expasy.org/cellosaurus/CVCL_0033": "CVCL_0033",
		},
		bad: []string{"CVCL_003", "CVCL_00300", "CVCL-0030", "0030", "HeLa"},
	},
	"imsr": {
		good: map[string]string{
			"000664":                            "IMSR_JAX:000664",
			"JAX:000664":                        "IMSR_JAX:000664",
			"JAX 000664":                        "IMSR_JAX:000664",
			"Stock No: 000664":                  "IMSR_JAX:000664",
			"imsr_jax:013044":                   "IMSR_JAX:013044",
			"RRID:IMSR_JAX:000664":              "IMSR_JAX:000664",
			"https://www.jax.org/strain/000664": "IMSR_JAX:000664",
			"IMSR_TAC:129sve":                   "IMSR_TAC:129sve",
			"RRID:imsr_em:02131":                "IMSR_EM:02131",
		},
		bad: []string{"664", "0006640", "IMSR_JAX:664", "IMSR_:000664", "IMSR_TAC:", "C57BL/6J"},
	},
	"mgi": {
		good: map[string]string{
			"MGI:3840442":      "MGI:3840442",
			"mgi_97490":        "MGI:97490",
			"97490":            "MGI:97490",
			"RRID:MGI:3840442": "MGI:3840442",
			"https://www.informatics.jax.org/allele/MGI:3840442": "MGI:3840442",
		},
		bad: []string{"MGI:", "MGI:0123", "MGI:123456789", "MGI:12a"},
	},
	"mmrrc": {
		good: map[string]string{
			"MMRRC_000002-UNC":      "MMRRC_000002-UNC",
			"MMRRC:000002-UNC":      "MMRRC_000002-UNC",
			"017263-ucd":            "MMRRC_017263-UCD",
			"RRID:MMRRC_034840-JAX": "MMRRC_034840-JAX",
			"MMRRC_000191":          "MMRRC_000191",
		},
		bad: []string{"MMRRC_2-UNC", "MMRRC_000002-", "MMRRC_000002-UNCXX", "2"},
	},
	"addgene": {
		good: map[string]string{
			"12260":                         "12260",
			"Addgene_12260":                 "12260",
			"Addgene plasmid # 52961":       "52961",
			"#52961":                        "52961",
			"RRID:Addgene_42230":            "42230",
			"https://www.addgene.org/8454/": "8454",
			"50465-AAV9":                    "50465-AAV9",
		},
		bad: []string{"012260", "pX330", "Addgene", "12345678", "12260-", "12260, 12259"},
	},
	"taxonomy": {
		good: map[string]string{
			"9606":            "NCBITaxon:9606",
			"NCBITaxon:9606":  "NCBITaxon:9606",
			"NCBITaxon_10090": "NCBITaxon:10090",
			"txid7955":        "NCBITaxon:7955",
			"taxon:6239":      "NCBITaxon:6239",
			"https://www.ncbi.nlm.nih.gov/Taxonomy/Browser/wwwtax.cgi?id=9606": "NCBITaxon:9606",
			"https://www.ncbi.nlm.nih.gov/taxonomy/9606":                       "NCBITaxon:9606",
			"http://purl.obolibrary.org/obo/NCBITaxon_9606":                    "NCBITaxon:9606",
		},
		bad: []string{"0", "09606", "Homo sapiens", "NCBITaxon:", "1234567890"},
	},
	"biosample": {
		good: map[string]string{
			"SAMN19842595":   "SAMN19842595",
			"samea104228123": "SAMEA104228123",
			"SAMD00016353":   "SAMD00016353",
			"https://www.ncbi.nlm.nih.gov/biosample/SAMN19842595": "SAMN19842595",
		},
		bad: []string{"SAM19842595", "SAMN", "SAMX123", "SAMN19842595a"},
	},
	"bioproject": {
		good: map[string]string{
			"PRJNA257197": "PRJNA257197",
			"prjeb1787":   "PRJEB1787",
			"PRJDB4351":   "PRJDB4351",
			"https://www.ebi.ac.uk/ena/browser/view/PRJEB1787":              "PRJEB1787",
			"https://www.ncbi.nlm.nih.gov/bioproject/PRJNA257197/?report=x": "PRJNA257197",
		},
		bad: []string{"PRJ257197", "PRJXA1", "PRJNA", "257197"},
	},
	"geo": {
		good: map[string]string{
			"GSE2122":    "GSE2122",
			"gsm123":     "GSM123",
			"GPL570":     "GPL570",
			"GEO:GDS507": "GDS507",
			"https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122":                     "GSE2122",
			"https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122&targ=self&form=text": "GSE2122",
			"https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?view=brief&acc=gse2122#samples":  "GSE2122",
			"https://identifiers.org/geo:GSE2122":                                            "GSE2122",
			"https://www.omicsdi.org/dataset/geo/GSE2122":                                    "GSE2122",
		},
		bad: []string{"https://example.org/geo/GSE2122", "GSE2122?x=1",
			"https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=GSE2122x", "GSE", "GSE0123", "GSX123", "2122",
			"GSE1/GSE2", "GSE2122x"},
	},
	"sra": {
		good: map[string]string{
			"SRP045225":  "SRP045225",
			"erp001942":  "ERP001942",
			"DRP003977":  "DRP003977",
			"SRX123456":  "SRX123456",
			"SRR1039508": "SRR1039508",
			"SRS694077":  "SRS694077",
			"https://www.ncbi.nlm.nih.gov/sra/?term=SRP045225":                       "SRP045225",
			"https://trace.ncbi.nlm.nih.gov/Traces/sra/?study=SRP045225":             "SRP045225",
			"https://www.ebi.ac.uk/ena/browser/view/ERP001942":                       "ERP001942",
			"https://www.ebi.ac.uk/ena/browser/view/ERP001942?show=reads":            "ERP001942",
			"https://trace.ncbi.nlm.nih.gov/Traces/?run=SRR1039508&display=metadata": "SRR1039508",
			"https://identifiers.org/insdc.sra:SRP045225":                            "SRP045225",
		},
		bad: []string{"SRP04522", "XRP045225", "SRP", "SRB045225", "SRP045225 SRP045226"},
	},
	"dbgap": {
		good: map[string]string{
			"phs000007":            "phs000007",
			"PHS000007.V33.P14":    "phs000007.v33.p14",
			"phs000007.v33.p14.c1": "phs000007.v33.p14.c1",
			"https://www.ncbi.nlm.nih.gov/projects/gap/cgi-bin/study.cgi?study_id=phs000007.v33.p14": "phs000007.v33.p14",
		},
		bad: []string{"phs7", "phs000007.33", "phs0000071", "pht000007"},
	},
	"ega": {
		good: map[string]string{
			"EGAD00001000433": "EGAD00001000433",
			"egas00001000083": "EGAS00001000083",
			"https://ega-archive.org/studies/EGAS00001000083": "EGAS00001000083",
		},
		bad: []string{"EGAD0000100043", "EGA00001000433", "EGAD000010004333"},
	},
	"obo": {
		good: map[string]string{
			"UBERON:0002107": "UBERON:0002107",
			"cl_0000057":     "CL:0000057",
			"ncbitaxon:9606": "NCBITaxon:9606",
			"NCIT:c3224":     "NCIT:C3224",
			"MONDO:0005148":  "MONDO:0005148",
			"http://purl.obolibrary.org/obo/UBERON_0002107": "UBERON:0002107",
			"http://www.ebi.ac.uk/efo/EFO_0000311":          "EFO:0000311",
		},
		odd: map[string]string{"XYZ:0001": "XYZ:0001", "Abc_def-1": "Abc:def-1"},
		bad: []string{"UBERON:2107", "CL:abc", "UBERON", "liver", ":0002107", "UBERON:0002107 liver"},
	},
	"accession": {
		good: map[string]string{
			"gse2122":                             "GSE2122",
			"SRP045225":                           "SRP045225",
			"PRJNA257197":                         "PRJNA257197",
			"phs000007.v33.p14":                   "phs000007.v33.p14",
			"EGAD00001000433":                     "EGAD00001000433",
			"e-mtab-5061":                         "E-MTAB-5061",
			"PXD000001":                           "PXD000001",
			"https://doi.org/10.5281/ZENODO.1234": "10.5281/zenodo.1234",
		},
		odd: map[string]string{"syn5522637": "syn5522637", "12345": "12345", "Biobank 7 (box 3)": "Biobank 7 (box 3)"},
		bad: []string{"GSE", "GSE0", "SRP12", "phs1", "10.5281", ""},
	},
	"country": {
		good: map[string]string{
			"DE": "DE", "deu": "DE", "Germany": "DE", " germany ": "DE",
			"Côte d'Ivoire": "CI", "cote d’ivoire": "CI", "Ivory Coast": "CI",
			"U.S.A.": "US", "United States of America": "US", "St. Lucia": "LC", "ST": "ST",
			"Bosnia & Herzegovina": "BA", "Korea, Republic of": "KR", "Türkiye": "TR", "Turkey": "TR",
			"The Netherlands": "NL", "UK": "GB", "Åland Islands": "AX",
		},
		bad: []string{"XX", "Narnia", "ZZZ", "Saint", "DE FR", "49"},
	},
}
