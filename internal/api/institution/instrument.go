package institution

import (
	"aliquot/internal/api/rest"
	"aliquot/internal/api/shape"
	"aliquot/internal/app/instruments"
	"aliquot/internal/exchange"
)

// InstrumentsOf restricts a list of instruments.
type InstrumentsOf struct {
	Family     *string        `query:"family" help:"The code of a family, such as UBMTA_LETTER; without it all."`
	FixedText  *bool          `query:"fixed_text" help:"Those whose text may not be changed, or the others."`
	OnlyChosen *bool          `query:"only_chosen" help:"Those that no rule chooses by itself, or the others."`
	Reviewed   *bool          `query:"reviewed" help:"Those that counsel reviewed, or the others."`
	Usable     *bool          `query:"usable" help:"Those of which agreements can be made today, or the others."`
	From       *exchange.Date `query:"from" help:"Those that are in force since this day."`
	Until      *exchange.Date `query:"until" help:"Those that are in force until this day."`
}

// wants reports whether a list has an instrument.
func (in InstrumentsOf) wants(v instruments.View) bool {
	return is(in.Family, v.Family) && is(in.FixedText, v.FixedText) && is(in.OnlyChosen, v.OnlyChosen) &&
		is(in.Reviewed, v.Reviewed) && is(in.Usable, v.Usable) && is(in.From, v.From) && is(in.Until, v.Until)
}

// is reports whether a value is the one that is asked for; nil: any.
func is[T comparable](asked *T, value T) bool { return asked == nil || *asked == value }

// ListInstruments serves GET /instruments.
func ListInstruments(c *rest.Call, in InstrumentsOf) ([]shape.Instrument, error) {
	page, err := c.App.Instruments.List(c.Context(), in.wants, c.List.Page)
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
