package seed

import (
	"fmt"
	"strings"

	"aliquot/internal/exchange/material"
)

// kind is how the materials of a category are described; each sets the title too.
type kind struct {
	category string
	percent  int // of all materials
	describe func(t *topic, x *material.Material) map[string]any
}

var kinds = []kind{
	{"PLASMID", 30, plasmid}, {"CELL_LINE", 25, cellLine}, {"DATASET", 15, dataset}, {"MODEL_ORGANISM", 12, strain},
	{"PROTOCOL", 7, protocol}, {"OTHER", 7, other}, {"PDX", 4, pdx},
}

// kindOf has the index of a kind for each percent.
var kindOf = func() (list []int) {
	for i, k := range kinds {
		for range k.percent {
			list = append(list, i)
		}
	}
	return list
}()

func (t *topic) taxon() []string { return []string{"NCBITaxon:" + t.organism[1]} }

func (t *topic) level() string {
	if t.of100(70) {
		return "BSL-1"
	}
	return one(t.dice, "BSL-2", "BSL-2", "BSL-2", "BSL-2", "BSL-3")
}

func cellLine(t *topic, x *material.Material) map[string]any {
	t.line = t.any("lines")
	t.organism = []string{t.line[2],
		map[string]string{"Homo sapiens": "9606", "Mus musculus": "10090", "Rattus norvegicus": "10116"}[t.line[2]], ""}
	t.fixed["disease"] = t.line[3]
	if t.line[4] != "" {
		t.fixed["tissue"] = t.line[4]
	}
	name, rrid := t.line[0], t.line[1]
	changed := t.of100(75)
	if changed { // a line of its own, with an accession like the others
		name = say(one(t.dice, "{line}-{gene}-KO", "{line} {gene}-{tag}", "{line} sh{gene}",
			"{line}/{gene} {tag} clone {n}", "{line} {gene}-/- c{n}", "{line}-{tag}"), t.name) +
			one(t.dice, "", fmt.Sprintf(" %s%d", string('A'+rune(t.IntN(8))), 1+t.IntN(12)))
		rrid = "CVCL_" + code(t.number*7919%(36*36*36*36), 4)
	}
	if t.of100(12) { // as a lab names its own
		name = fmt.Sprintf("%s-%s%d", one(t.dice, "NCI", "SNU", "OCI", "UM", "HCC", "YCC"),
			string('A'+rune(t.IntN(26))), 100+t.IntN(3000))
	}
	x.Title = name + t.say(one(t.dice, " cells from {tissue}, frozen", " {disease} cell line",
		", {tissue} line, for {technique}", " line, tested by {technique}", " cell line with {gene} reporter"))
	x.URL = "https://www.cellosaurus.org/" + rrid
	x.NeedsMTA = x.NeedsMTA || changed && t.of100(50)
	meta := map[string]any{"cell_line_name": name, "rrid": "RRID:" + rrid, "line_type": t.line[5],
		"disease": t.name("disease"), "tissue": t.name("tissue"),
		"cell_type": t.word("celltypes"), "is_genetically_modified": changed,
		"sex":               one(t.dice, "female", "male", "unknown"),
		"mycoplasma_result": one(t.dice, "negative", "negative", "negative", "not tested", "positive"),
		"biosafety_level":   t.level(),
		"growth_medium": one(t.dice, "DMEM", "RPMI 1640", "McCoy's 5A", "F-12K", "MEM") +
			", 10% fetal bovine serum, 2 mM glutamine",
		"culture_conditions": "37 °C, 5% CO₂, " + one(t.dice, "adherent", "suspension"),
		"passage_number":     t.say("p{n}"),
		"subculturing":       t.say("1:{n} every 3 days, 0.25% trypsin-EDTA"), "modification": "",
		"organism_ids": t.taxon()}
	if changed {
		meta["modification"] = t.some(cells, 3)
	} else {
		delete(meta, "modification")
		meta["cryopreservation"] = t.some(cells, 2)
	}
	if t.organism[1] == "" {
		delete(meta, "organism_ids")
	}
	return meta
}

func plasmid(t *topic, x *material.Material) map[string]any {
	name := say(one(t.dice, "{backbone}-{gene}-{tag}", "{backbone}-{tag}-{gene}", "p{tag}-{gene}",
		"pLenti-{gene}-{tag}-Puro", "pAAV-hSyn-{tag}-{gene}", "{backbone} sg{gene} #{n}", "{backbone}-sh{gene}-{n}"),
		t.name)
	x.Title = name + t.say(one(t.dice, " plasmid", " vector for {technique} in {tissue}",
		" ({animal} {gene} expression vector)", ", expresses {gene} in {tissue}",
		" lentiviral vector for {disease} models", " encoding {gene} fused to {tag}"))
	number := fmt.Sprint(10_000 + t.number)
	x.URL = "https://www.addgene.org/" + number + "/"
	return map[string]any{"plasmid_name": name, "rrid": "RRID:Addgene_" + number, "addgene_id": number,
		"plasmid_type": one(t.dice, "insert", "insert", "insert", "grna", "backbone", "library"),
		"vector_type": []string{one(t.dice, "mammalian", "mammalian", "lentiviral", "bacterial", "aav", "crispr",
			"rnai", "yeast", "reporter", "cre-lox", "insect", "plant")},
		"backbone":    t.name("backbone"),
		"promoter":    one(t.dice, "CMV", "EF1a", "PGK", "CAG", "hSyn", "U6", "T7", "UAS"),
		"insert_name": t.name("gene"), "insert_species": t.organism[0], "total_size": 4000 + t.IntN(9000),
		"tags": []string{t.name("tag")},
		"selectable_markers": []string{one(t.dice, "puromycin", "neomycin", "blasticidin", "hygromycin",
			"fluorescent", "none")},
		"bacterial_resistance": []string{one(t.dice, "ampicillin", "ampicillin", "ampicillin", "kanamycin",
			"chloramphenicol", "spectinomycin")},
		"sequence_verified": one(t.dice, "full", "full", "insert", "digest", "no"), "biosafety_level": t.level(),
		"growth_strain": one(t.dice, "DH5alpha", "NEB Stable", "Stbl3", "TOP10"), "description": t.some(plasmids, 3)}
}

func dataset(t *topic, x *material.Material) map[string]any {
	x.Title = t.say(one(t.dice, "{technique} of {tissue} in {disease}",
		"{gene} knockout {animal} {tissue}: {technique}", "Effect of {gene} loss on {tissue} measured by {technique}",
		"{technique} profiles of {n} {disease} samples and matched {tissue}",
		"Expression of {gene} and {gene2} during {tissue} development",
		"Atlas of the {animal} {tissue} by {technique}"))
	accession := fmt.Sprintf("GSE%d", 10_000+t.number)
	x.Imported, x.ImportSource = t.of100(80), material.SourceGEO
	x.URL = "https://www.ncbi.nlm.nih.gov/geo/query/acc.cgi?acc=" + accession
	if t.of100(35) {
		accession = fmt.Sprintf("SRP%06d", 10_000+t.number)
		x.ImportSource, x.URL = material.SourceSRA, "https://www.ncbi.nlm.nih.gov/sra/?term="+accession
	}
	if x.Imported {
		x.ImportIdentifier = &accession
	} else {
		x.ImportSource = ""
	}
	return map[string]any{"accession_code": accession, "num_samples": 2 + t.IntN(300), "organism_ids": t.taxon(),
		"data_type": []string{one(t.dice, "rna-seq", "rna-seq", "rna-seq", "scrna-seq", "expression array", "chip-seq",
			"atac-seq", "genome", "methylation", "proteomics", "imaging")},
		"tissue": t.name("tissue"), "disease": t.name("disease"),
		"technology": one(t.dice, "High-throughput sequencing", "Array", "Mass spectrometry"),
		"platform": one(t.dice, "Illumina NovaSeq 6000", "Illumina HiSeq 2500", "Illumina NextSeq 500",
			"Affymetrix Human Genome U133 Plus 2.0 Array", "Oxford Nanopore PromethION"),
		"data_level":  []string{one(t.dice, "raw", "processed")},
		"access":      one(t.dice, "open", "open", "open", "controlled", "request"),
		"description": t.some(datasets, 4)}
}

func strain(t *topic, x *material.Material) map[string]any {
	t.organism = t.any("models")
	gene := t.name("gene")
	name := map[string]string{
		"10090": one(t.dice, "B6.129-"+gene+"<tm"+t.say("{n}")+one(t.dice, "Jae", "Tyj", "Hze", "Djk", "Cgr")+">/J",
			"C57BL/6J-"+gene+"<em"+t.say("{n}")+">", "Tg("+gene+"-cre)"+t.say("{n}")+"Stl"),
		"7227": one(t.dice, "w[*]; P{"+gene+"-GAL4}", "y[1] v[1]; UAS-"+gene+"-RNAi"),
		"7955": strings.ToLower(gene) + t.say("<sa{n}{n}>"),
		"6239": strings.ToLower(gene) + t.say("(e{n}{n}) {number}"), "4932": "BY4741 " + strings.ToLower(gene) +
			"::KanMX", "10116": "SD-" + gene + t.say("<em{n}Mcwi>"),
	}[t.organism[1]]
	x.Title = name + t.say(one(t.dice, " {animal} strain", " ({gene} knockout {animal})",
		", conditional {animal} mutant for {tissue}", " {animal} strain, model of {disease}",
		" {animal} line for {technique}"))
	stock := fmt.Sprintf("%06d", t.number%1_000_000)
	x.URL = "https://www.jax.org/strain/" + stock
	return map[string]any{"strain_name": name, "rrid": "RRID:IMSR_JAX:" + stock, "organism_ids": t.taxon(),
		"is_genetically_modified": true,
		"zygosity":                one(t.dice, "homozygous", "heterozygous", "hemizygous", "mixed"),
		"genetic_background": one(t.dice, "C57BL/6J", "BALB/cJ", "FVB/NJ", "129S1/SvImJ", "NOD/ShiLtJ", "AB", "N2",
			"w1118"),
		"modification_type": one(t.dice, "knockout", "knockout", "conditional", "knockin", "transgene", "cre",
			"reporter", "point"), "genes": []string{gene},
		"health_status": one(t.dice, "spf", "spf", "conventional"),
		"shipping_form": one(t.dice, "live", "live", "embryos", "sperm", "frozen"),
		"description":   t.some(strains, 4)}
}

func protocol(t *topic, x *material.Material) map[string]any {
	x.Title = t.say(one(t.dice, "{technique} of {animal} {tissue}",
		"Isolation of cells from {animal} {tissue} for {technique}", "{technique} with {gene} antibodies, version {n}",
		"Genotyping of {gene} {animal} lines", "Quantification of {gene} in {disease} {tissue} by {technique}"))
	id := strings.ToLower(code(t.number+36*36*36*36, 6))
	x.URL = "https://www.protocols.io/view/" + id
	if x.Imported = t.of100(50); x.Imported {
		x.ImportSource, x.ImportIdentifier = material.SourceProtocols, new("dx.doi.org/10.17504/protocols.io."+id)
	}
	return map[string]any{"protocol_name": x.Title, "protocol_doi": "dx.doi.org/10.17504/protocols.io." + id,
		"technique":   []string{t.name("technique")},
		"sample_type": t.name("tissue"), "expertise": one(t.dice, "beginner", "trained", "trained", "expert"),
		"status":   one(t.dice, "working", "working", "reproduced", "development"),
		"abstract": t.some(protocols, 4)}
}

func other(t *topic, x *material.Material) map[string]any {
	what := one(t.dice, "antibody", "antibody", "antibody", "antibody", "protein", "compound", "tissue", "virus")
	x.Title = t.say(map[string]string{
		"antibody": one(t.dice, "{host} anti-{gene} antibody", "Anti-{gene} ({host}), validated for {technique}",
			"{gene} antibody clone {n}F{n}"),
		"protein":  "Recombinant {animal} {gene} protein, {tag} tagged",
		"compound": "{gene} inhibitor, compound {n}, for {disease}",
		"tissue":   "{tissue} sections, {animal}, {disease}",
		"virus":    "AAV-{gene}-{tag} for {tissue} transduction"}[what])
	meta := map[string]any{"material_type": what, "organism_ids": t.taxon(), "biosafety_level": t.level(),
		"description": t.some(others, 3),
		"validation":  t.some(others, 1), "storage": one(t.dice, "−80 °C, avoid repeated thawing", "−20 °C", "4 °C"),
		"shipping_form": one(t.dice, "frozen", "cool", "ambient")}
	if what == "antibody" {
		meta["rrid"] = fmt.Sprintf("RRID:AB_%d", 100_000+t.number)
		x.URL = fmt.Sprintf("https://antibodyregistry.org/AB_%d", 100_000+t.number)
	}
	return meta
}

func pdx(t *topic, x *material.Material) map[string]any {
	t.organism = []string{"Homo sapiens", "9606", "human"}
	t.fixed["disease"] = t.word("cancers")
	id := fmt.Sprintf("%s%05d-%03d-%s", one(t.dice, "BL", "K", "CN", "TM"), t.number%100_000, 1+t.IntN(300),
		one(t.dice, "T", "R", "F"))
	x.Title = t.say("PDX model " + id + ", {disease}, {tissue}")
	x.NeedsMTA, x.NeedsIRB = true, x.NeedsIRB || t.of100(30)
	unsure := func() string { return one(t.dice, "yes", "yes", "no", "unknown") }
	return map[string]any{"submitter_patient_id": "PT-" + id, "sex": one(t.dice, "female", "male"),
		"age":       fmt.Sprintf("%d to %d years", 5*(4+t.IntN(12)), 5*(17+t.IntN(2))),
		"diagnosis": t.name("disease"), "consent_to_share": one(t.dice, "yes", "academia"),
		"submitter_tumor_id":       "PT-" + id + "-T1",
		"primary_tissue_of_origin": t.name("tissue"),
		"tumor_type":               one(t.dice, "primary", "primary", "metastasis", "recurrence"),
		"specimen_tumor_tissue":    t.word("tissues"),
		"tissue_histology":         t.say("{disease} of {tissue}"), "tumor_grade": fmt.Sprint(1 + t.IntN(4)),
		"disease_stage":    fmt.Sprintf("T%dN%dM%d", 1+t.IntN(4), t.IntN(3), t.IntN(2)),
		"specific_markers": t.some(tumours, 3), "is_from_untreated_patient": unsure(), "submitter_pdx_id": id,
		"model_organism": "Mus musculus",
		"host_strain":    one(t.dice, "NSG", "NOD/SCID", "athymic nude"), "is_strain_humanized": "no",
		"tumor_preparation":                 one(t.dice, "fragment", "suspension"),
		"injection_type_and_site":           one(t.dice, "Subcutaneous, right flank", "Orthotopic"),
		"tumor_characterization_technology": []string{one(t.dice, "histology", "ihc", "str", "exome")},
		"is_not_of_mouse_or_ebv_origin":     unsure(), "is_passage_qa_performed": unsure(),
		"pdx_model_availability": one(t.dice, "frozen", "live", "collaboration")}
}
