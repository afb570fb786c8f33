package seed

// Templates of sentences; {names} are words of the topic.
var (
	notes = []string{
		"Please cite the publication and name our lab in the acknowledgements when you use this material.",
		"We send two aliquots and ask that you pass none on to others without our written consent.",
		"Available to academic labs; companies please write to our transfer office for a licence first.",
		"Stock checked by {technique} in our hands, lot {number}, last tested before it was frozen.",
		"Expect two to four weeks between the signed agreement and the parcel, as we thaw and test each lot.",
		"Ask us for the protocol that we use with {tissue}, which differs from the published one.",
		"Related materials on {gene} and {gene2} are in our list as well.",
	}
	cells = []string{
		"{gene} was deleted by CRISPR-Cas9 with two guides in exon {n}, and clones were verified by sequencing and " +
			"western blotting.",
		"Expresses {tag} from the endogenous {gene} locus, confirmed by flow cytometry and {technique} in three " +
			"passages.",
		"Stable pool with {gene} under a doxycycline promoter; induction gives about {n}-fold more protein after " +
			"24 hours.",
		"Grows slower than the parental line and loses {gene} expression after passage {n} unless kept under " +
			"selection.",
		"We use it as a model of {disease}, mostly for {technique} and drug response of {tissue} cells.",
		"Thaw quickly at 37 °C, remove DMSO by centrifugation and plate densely; medium change after one day.",
		"Authenticated by short tandem repeat profiling; mycoplasma tested by PCR every month in our facility.",
	}
	plasmids = []string{
		"Expresses {animal} {gene} fused to {tag} at the C terminus; the fusion rescues the loss of {gene} in " +
			"{tissue} cells.",
		"Cloned into {backbone} by Gibson assembly and verified by sequencing of the insert and both junctions.",
		"We used it for {technique} of {gene} and {gene2} in {disease} models, where it expresses well for at least " +
			"{n} days.",
		"The guide targets exon {n} of {gene} and cuts in more than half of the alleles two days after transfection.",
		"Grow at 30 °C in a recombination-deficient strain, as the repeats are unstable at higher temperatures.",
		"Titers of lentivirus made with it are around 10⁷ units per millilitre; concentrate before transduction of " +
			"primary cells.",
		"Control vectors without {gene} and with a dead mutant are available from us on request.",
	}
	datasets = []string{
		"We compared {tissue} of {n} patients with {disease} and {n} healthy donors by {technique}, at a depth of " +
			"{n} million reads a sample.",
		"Loss of {gene} in {animal} {tissue} changes the expression of {n} genes, among them {gene2} and {gene3}, " +
			"two days after induction.",
		"Libraries were prepared from total RNA with ribosomal depletion, and sequenced paired-end over two lanes.",
		"Samples were taken at {n} time points after treatment; each condition has three biological replicates.",
		"Raw reads, a count matrix and the annotation of clusters are deposited; the code for all figures is public.",
		"{gene} binds near the promoters of genes that are upregulated in {disease}, which suggests a direct role in " +
			"its onset.",
		"Quality was checked by the share of mitochondrial reads and doublets; cells below the thresholds were " +
			"removed.",
	}
	strains = []string{
		"Exon {n} of {gene} is flanked by loxP sites; crossed to a Cre line it is lost in {tissue} within two weeks.",
		"Homozygotes are viable and fertile, and develop signs of {disease} from {n} weeks on, with full penetrance.",
		"Reporter of {gene} expression: {tag} is seen in {tissue} from embryonic day {n}, as compared with in situ " +
			"hybridization.",
		"Backcrossed for {n} generations; genotyping by PCR with three primers, protocol on request.",
		"We use the strain for {technique} and {technique2} of {tissue}, and as a control for {gene2} mutants.",
		"Litters are small, so please allow three months for a cohort of live animals; frozen sperm is sent faster.",
		"The colony is kept free of specific pathogens and tested every quarter.",
	}
	protocols = []string{
		"This protocol prepares {animal} {tissue} for {technique} in less than {n} hours, without an ultracentrifuge.",
		"It works with fresh and frozen samples of {disease} and yields about {n} thousand viable cells per gram.",
		"Critical steps are the digestion at 37 °C, which must not exceed {n} minutes, and the removal of debris on " +
			"a gradient.",
		"Stain with antibodies against {gene} and {gene2}, wash three times, and keep the samples in the dark until " +
			"they are measured.",
		"Expected results, common problems and what to do about them are listed at the end.",
		"We compared it to two published methods by {technique2}; recovery of rare cells is about twice as high.",
	}
	others = []string{
		"Raised against a peptide of {animal} {gene}, affinity purified, and tested on {tissue} of knockout animals, " +
			"where no signal is seen.",
		"Works in {technique} at 1:{n}00 and in western blotting at 1:{n}000; does not work in frozen sections.",
		"Recognizes {gene} of several species, and weakly {gene2}; preabsorption with the peptide removes the signal.",
		"We used it to show that {gene} is lost in {disease} and that its level predicts the response to treatment.",
		"Sent as {n} microlitres at 0.5 mg/ml in phosphate buffered saline with sodium azide; avoid repeated thawing.",
	}
	tumours = []string{
		"{gene} mutated and {gene2} amplified by panel sequencing of the second passage; stable over {n} weeks of " +
			"growth.",
		"Positive for {gene} and negative for {gene3} by immunohistochemistry, as the tumour of the patient was.",
		"Grows to 500 cubic millimetres in {n} weeks; about half of the hosts develop metastases in {tissue}.",
		"Responds to standard treatment of {disease} at first, and relapses after {n} weeks with loss of {gene2}.",
	}
	publications = []string{
		"{gene} controls {tissue} homeostasis through {gene2} in {organism}",
		"Loss of {gene} drives {disease} progression",
		"A {technique} atlas of the {animal} {tissue} in health and {disease}",
		"{gene} and {gene2} cooperate in the development of {tissue}",
		"Targeting {gene} sensitizes {disease} to inhibition of {gene2}",
		"{technique} reveals the dynamics of {gene} in living {tissue}",
		"Role of {gene}-dependent signalling in {disease}: evidence from {technique}",
	}
	abstracts = []string{
		"We want to test whether {gene} is needed for the survival of {tissue} cells in {disease}, by {technique} of " +
			"cells with and without it.",
		"In our {animal} model of {disease} we see a loss of {gene2}; with your material we will ask by {technique} " +
			"whether {gene} explains it.",
		"We compare published tools for {gene} side by side in {tissue}, and need yours as a reference for " +
			"{technique}.",
	}
	messages = []string{
		"Could you tell us which lot this will be, and whether it was tested for mycoplasma?",
		"Thank you, our transfer office is looking at the agreement and should be done next week.",
		"We can ship on Monday; is somebody there on Wednesday to take in the parcel?",
		"Please note that we only need {n} vials for the {technique} part of the project.",
		"The agreement of your office names another material, could you correct the title?",
		"It arrived in good condition, many thanks to everyone who helped!",
	}
	problems = []string{"The parcel came without dry ice and the vials had thawed.",
		"No viable cells after thawing of the first of two vials.",
		"The sequence of the insert differs from the map that we have."}
)
