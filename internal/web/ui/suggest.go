package ui

import (
	"encoding/json"
	"net/http"
)

// Suggestion is a line that a field suggests while somebody types. Choosing it leads to its address, or enters its
// value in the field.
type Suggestion struct {
	Text    string `json:"text"`
	Kind    string `json:"kind"`
	Address string `json:"address,omitempty"`
	Value   string `json:"value,omitempty"`
}

// MaxSuggested is how many lines a field suggests.
const MaxSuggested = 8

// Suggest answers the script of a field.
func Suggest(list []Suggestion) (Response, error) {
	if list == nil {
		list = []Suggestion{}
	}
	text, err := json.Marshal(list)
	return Response{Serve: func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		Send(w, r, http.StatusOK, text)
	}}, err
}
