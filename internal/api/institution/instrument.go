package institution

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
)

// InstrumentsOf restricts a list of instruments.
type InstrumentsOf struct {
	Family *string `query:"family" help:"The code of a family, such as UBMTA_LETTER; without it all."`
}

// ListInstruments serves GET /instruments.
func ListInstruments(c *rest.Call, in InstrumentsOf) ([]shape.Instrument, error) {
	family := ""
	if in.Family != nil {
		family = *in.Family
	}
	page, err := c.App.Instruments.List(c.Context(), family, c.List.Page)
	return rest.AnswerList(c, page, err, shape.ShowInstrument)
}

// InstrumentVersion says which version of an instrument is read.
type InstrumentVersion struct {
	Version *string `query:"version" help:"The version; without it the one in force today or, if none is, the last."`
}

// GetInstrument serves GET /instruments/{instrument}.
func GetInstrument(c *rest.Call, in InstrumentVersion) (shape.Instrument, error) {
	version := ""
	if in.Version != nil {
		version = *in.Version
	}
	i, err := c.App.Instruments.Get(c.Context(), c.PathValue("instrument"), version)
	return shape.ShowInstrument(i), err
}
