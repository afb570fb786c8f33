package request

import "testing"

func TestCourierAccount_NumberIsHidden(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"DHL 960412778":                 "DHL 960•••778",
		"Sample courier, account 00417": "Sample courier, account •••17",
		"FedEx 1234-5678-9":             "FedEx 123•••8-9",
		"UPS, account ABCDEF":           "UPS, account •••EF",
		"TNT, account 4711":             "TNT, account •••",
		"on a1b2c3 of UPS":              "on •••c3 of UPS",
		"account AB1234567Z, room 12":   "account AB1•••67Z, room 12",
		"On Monday, please":             "On Monday, please",
		"":                              "",
	} {
		if got := masked(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
