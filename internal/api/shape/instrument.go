package shape

import (
	"aliquot/internal/agreement/instrument"
	"aliquot/internal/agreement/party"
	"aliquot/internal/app/instruments"
	"aliquot/internal/exchange"
)

// Instrument is a form of agreement in one version.
type Instrument struct {
	ID         string            `json:"id"`
	Family     string            `json:"family"`
	Version    string            `json:"version"`
	Title      string            `json:"title"`
	Citation   string            `json:"citation"`
	Parties    []string          `json:"parties"`
	Subjects   []string          `json:"subjects"`
	Excludes   []string          `json:"excludes"`
	Purposes   []string          `json:"purposes"`
	Master     *string           `json:"master"`
	FixedText  bool              `json:"fixed_text"`
	Signers    []string          `json:"signers"`
	LeastLevel string            `json:"least_level"`
	Terms      []string          `json:"terms"`
	OnlyChosen bool              `json:"only_chosen"`
	Reviewed   bool              `json:"reviewed"`
	SHA256     *string           `json:"sha256"`
	Usable     bool              `json:"usable"`
	From       exchange.Date     `json:"from"`
	Until      *exchange.Date    `json:"until"`
	Fields     []InstrumentField `json:"fields"`
	Template   string            `json:"template"`
}

// ShowInstrument is the JSON form of an instrument.
func ShowInstrument(v instruments.View) Instrument {
	i := v.Instrument
	shown := Instrument{ID: i.ID, Family: i.Family, Version: i.Version, Title: i.Title, Citation: i.Citation,
		Parties:  List(i.Parties, func(k party.Kind) string { return string(k) }),
		Subjects: i.Subjects, Excludes: i.Excludes, Purposes: i.Purposes, FixedText: i.FixedText, Signers: i.Signers,
		LeastLevel: i.LeastLevel, Terms: i.Terms, OnlyChosen: i.OnlyChosen, Reviewed: i.Reviewed, Usable: v.Usable,
		From: i.From, Template: i.Template,
		Fields: List(i.Fields, func(f instrument.Field) InstrumentField { return InstrumentField(f) })}
	if i.Master != "" {
		shown.Master = &i.Master
	}
	if i.SHA256 != "" {
		shown.SHA256 = &i.SHA256
	}
	if i.Until != "" {
		shown.Until = &i.Until
	}
	return shown
}

// InstrumentField is a place in the text of an instrument.
type InstrumentField struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}
