package institutions

import (
	"context"
	"slices"

	"aliquot/internal/agreement/approval"
	"aliquot/internal/app/core"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

// ApprovalView is a standing approval as the page of its institution shows it, with the names of what it names.
type ApprovalView struct {
	approval.Approval
	By   string   // its officer
	For  []string // its members
	With []string // its counterparties
	Idle []Family // those of its families that need a list of counterparties, which it has not: it never signs them
}

// ApprovalPage is what the page of standing approvals shows: those of an institution, and what a new one may name.
type ApprovalPage struct {
	Approvals []ApprovalView // the newest first
	Families  []Family
}

// Family is a family of instruments whose text is here.
type Family struct {
	Code, Title string
	Master      bool // it is under a master agreement
}

// FamilyTitle returns what the agreements of a family are called, its code if that is not known.
func FamilyTitle(families []Family, code string) string {
	for _, f := range families {
		if f.Code == code {
			return f.Title
		}
	}
	return code
}

// ApprovalPage reads the standing approvals of an institution, for its officers.
func (a Institutions) ApprovalPage(ctx context.Context, who exchange.Actor, id int64) (p ApprovalPage, err error) {
	list, err := a.Approvals.List(ctx, who, id, core.Everything)
	if err != nil {
		return p, err
	}
	c := a.DB.Read()
	var people []uuid.UUID
	var institutions []int64
	for _, one := range list.Items {
		people, institutions = append(people, one.Officer), append(institutions, one.Counterparties...)
		for _, member := range one.Members {
			people = append(people, uuid.MustParse(member))
		}
	}
	users, err := peopleByID(ctx, c, people)
	if err != nil {
		return p, err
	}
	names, err := c.Institutions.Names(ctx, institutions)
	if err != nil {
		return p, err
	}
	if p.Families, err = a.families(ctx); err != nil {
		return p, err
	}
	for _, one := range list.Items {
		v := ApprovalView{Approval: one, By: users[one.Officer].Name()}
		for _, f := range p.Families {
			if len(one.Counterparties) == 0 && !f.Master && slices.Contains(one.Families, f.Code) {
				v.Idle = append(v.Idle, f)
			}
		}
		for _, member := range one.Members {
			v.For = append(v.For, users[uuid.MustParse(member)].Name())
		}
		for _, other := range one.Counterparties {
			v.With = append(v.With, names[other])
		}
		p.Approvals = append(p.Approvals, v)
	}
	return p, nil
}

// families lists the families of instruments by whose text letters can be made today.
func (a Institutions) families(ctx context.Context) (list []Family, err error) {
	c := a.DB.Read()
	library, err := a.Library(ctx, c)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, i := range library.Instruments() {
		if i.Template != "" && i.InForce(exchange.DayOf(c.Now)) && !known[i.Family] {
			known[i.Family] = true
			list = append(list, Family{i.Family, i.Title, i.Master != ""})
		}
	}
	return list, nil
}
