package material_test

import (
	"testing"

	"aliquot/internal/exchange/material"
)

func TestSimilar_HasTheCategoryAndDiseaseOrSpecies(t *testing.T) {
	t.Parallel()
	m := material.Material{Category: "CELL_LINE", Title: "x", Organisms: []string{"Homo sapiens"},
		Metadata: []byte(`{"disease": "Melanoma", "tissue": "Skin"}`)}
	list := material.SimilarFilters(m)
	if len(list) != 3 || list[0]["disease"][0] != "Melanoma" || list[1]["organisms"][0] != "Homo sapiens" ||
		list[0]["category"][0] != "CELL_LINE" {
		t.Errorf("%v", list)
	}
	if list := material.SimilarFilters(material.Material{Category: "OTHER", Metadata: []byte("{}")}); len(list) != 1 ||
		len(list[0]) != 2 {
		t.Errorf("%v", list)
	}
}
