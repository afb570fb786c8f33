package ui

import (
	"errors"
	"strconv"
	"strings"

	"aliquot/internal/agreement/letter"
	"aliquot/internal/agreement/party"
	"aliquot/internal/agreement/requirement"
	"aliquot/internal/agreement/signing"
	"aliquot/internal/app/letters"
	"aliquot/internal/exchange"
)

// LetterPath returns the address of the page of a letter.
func LetterPath(id int64) string { return "/letters/" + strconv.FormatInt(id, 10) }

// LetterState is the state of a letter for people.
type LetterState struct{ Tone, Icon, Words string }

// LetterStateOf returns a state as pages show it.
func LetterStateOf(s letter.State) LetterState {
	return map[letter.State]LetterState{
		letter.Draft:     {"", "edit", "Draft"},
		letter.Sent:      {"info", "clock", "Being signed"},
		letter.Executed:  {"good", "done", "Executed"},
		letter.Declined:  {"bad", "declined", "Declined"},
		letter.Withdrawn: {"", "cancelled", "Withdrawn"},
		letter.Expired:   {"", "archive", "Expired"},
	}[s]
}

// LetterRole is a role in which a letter is signed.
type LetterRole struct {
	Role, Words string
	Name        string         // who signs as the scientist, if that is known
	Signed      *signing.Kept  // nil: not yet
	Mine        bool           // the visitor can sign it
	Why         string         // why no standing approval signs it; "": it is none of an official, or nobody asked
	Externals   []party.Person // who may sign it by a link that the visitor can have mailed
	Link        *signing.Link  // the newest that was mailed
}

// LetterRoles returns the roles of a letter in their order. mine are those in which the visitor can sign, names who the
// scientists are.
func LetterRoles(v letters.View, mine []string, names map[string]string) (list []LetterRole) {
	for _, role := range v.Instrument.Signers {
		r := LetterRole{Role: role, Words: RoleWords(v, role), Name: names[role]}
		for i := range v.Signatures {
			if v.Signatures[i].Role == role {
				r.Signed = &v.Signatures[i]
			}
		}
		for _, one := range mine {
			r.Mine = r.Mine || one == role && r.Signed == nil
		}
		for _, c := range v.Coverage {
			if c.Role == role && len(c.Why) > 0 {
				r.Why = c.Why[0].Text
			}
		}
		list = append(list, r)
	}
	return list
}

// RoleWords returns a role in which a letter is signed, with the institution.
func RoleWords(v letters.View, role string) string {
	institution := v.Recipient.LegalName
	if party.Provides(role) {
		institution = v.Provider.LegalName
	}
	if party.IsOfficial(role) {
		return "Official of " + institution
	}
	return "Scientist, " + institution
}

// Words returns the name of a field of a letter, or another code, for people, as "Provider name"; other text stays.
func Words(code string) string {
	if strings.ContainsAny(code, " -") {
		return code
	}
	return Capital(strings.ToLower(strings.ReplaceAll(code, "_", " ")))
}

// LetterProblem is why something could not be done with a letter, and what helps.
type LetterProblem struct {
	Message   string
	Questions []LetterQuestion
	Obstacles []LetterObstacle
	Missing   []letters.MissingField
}

// LetterQuestion is a fact that the lab has to state, on the page of the material.
type LetterQuestion struct{ Label, Address string }

// LetterObstacle is why an instrument is not valid.
type LetterObstacle struct{ Instrument, Why, Remedy string }

// remedies say what would change that an instrument is not valid.
var remedies = map[string]string{
	"INSTALL_TEXT": "The operator of this site can install its text.",
	"SIGN_MASTER":  "The institution that lacks it can sign the master agreement now.",
	"STATE_FACTS":  "The lab states it among the transfer facts of the material.",
	"STATE_KIND":   "An officer of the institution states its kind.",
	"CHOOSE":       "It can be chosen.",
}

// RemedyWords returns what would change that an instrument is not valid, "" if nothing does.
func RemedyWords(remedy string) string { return remedies[remedy] }

// LetterProblemOf returns what an error says about a letter; nil if it is nil or no error for people.
func LetterProblemOf(err error) *LetterProblem {
	e, ours := errors.AsType[*exchange.Error](err)
	if !ours {
		return nil
	}
	p := &LetterProblem{Message: e.Message}
	questions, _ := e.Details["questions"].([]letter.Question)
	p.Questions = LetterQuestions(questions)
	obstacles, _ := e.Details["obstacles"].([]letters.Obstacle)
	for _, o := range obstacles {
		if len(p.Questions) == 0 { // what decides is asked, which instruments that rules out follows
			p.Obstacles = append(p.Obstacles, LetterObstacle{o.Title, o.Why, RemedyWords(o.Remedy)})
		}
	}
	p.Missing, _ = e.Details["missing"].([]letters.MissingField)
	for i := range p.Missing {
		p.Missing[i].Field = Words(p.Missing[i].Field)
	}
	return p
}

// LetterQuestions returns the facts that nobody has stated, each with the page on which the lab states it.
func LetterQuestions(list []letter.Question) (questions []LetterQuestion) {
	for _, q := range list {
		id := strconv.FormatInt(q.Material, 10)
		questions = append(questions, LetterQuestion{requirement.FactLabel(q.Fact), "/catalog/" + id + "#transfer"})
	}
	return questions
}
