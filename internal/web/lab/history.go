package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"aliquot/internal/app/core"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/lab"
	"aliquot/internal/exchange/person"
	"aliquot/internal/exchange/request"
	"aliquot/internal/web/ui"

	"github.com/google/uuid"
)

type labActivityPage struct {
	labPage
	Events []labEvent
	Total  exchange.Count
	Links  links
}

type labEvent struct {
	request.OrganizationEvent
	By, Did string
}

// labActivity shows the events in the requests for the lab's materials.
func (v *pageRequest) labActivity() (ui.Response, error) {
	base, err := v.readLab("activity", "Activity")
	if err != nil {
		return ui.Response{}, err
	}
	list, people, err := v.App.Labs.LabActivity(v.Context(), v.Who.Actor, base.Lab.ID, v.pageOf())
	if err != nil {
		return ui.Response{}, err
	}
	p := &labActivityPage{labPage: base, Total: list.Total, Links: v.linksOf(list.Next)}
	for _, e := range list.Items {
		by := "Aliquot"
		if u, known := people[e.Actor]; known {
			by = u.Name()
		}
		p.Events = append(p.Events, labEvent{e, by, request.DescribeAction(e.Event, request.LabSide, "")})
	}
	return ui.Show("lab-activity", p)
}

type labHistoryPage struct {
	labPage
	Versions []labVersion
	Total    exchange.Count
	Links    links
}

type labVersion struct {
	core.Version[core.OrganizationView]
	Changes []labChange
}

// labChange is one change of a version.
type labChange struct{ What, From, To string }

// labHistory shows the changes of the lab itself.
func (v *pageRequest) labHistory() (ui.Response, error) {
	base, err := v.readLab("history", "History")
	if err != nil {
		return ui.Response{}, err
	}
	list, err := v.App.OrganizationHistory(v.Context(), v.Who.Actor, base.Lab.ID, v.pageOf())
	if err != nil {
		return ui.Response{}, err
	}
	p := &labHistoryPage{labPage: base, Total: list.Total, Links: v.linksOf(list.Next)}
	for _, version := range list.Items {
		p.Versions = append(p.Versions, labVersion{version, changesOfLab(version)})
	}
	return ui.Show("lab-history", p)
}

func changesOfLab(v core.Version[core.OrganizationView]) (list []labChange) {
	if v.Before == nil {
		return []labChange{{What: "created the lab", To: v.State.Name}}
	}
	was, is := *v.Before, v.State
	line := func(what, from, to string) {
		if from != to {
			list = append(list, labChange{what, from, to})
		}
	}
	for _, d := range lab.Fields {
		switch what := cmp.Or(d.HistoryLabel, strings.ToLower(d.Label)); {
		case d.Name == "owner":
			line(what, was.OwnerUser.Name(), is.OwnerUser.Name())
		case what != "":
			line(what, d.Amount(&was.Organization), d.Amount(&is.Organization))
		}
	}
	without := func(people []person.User, others []person.User, what string) {
		for _, u := range people {
			if !slices.ContainsFunc(others, func(o person.User) bool { return o.ID == u.ID }) && u.ID != uuid.Nil {
				list = append(list, labChange{What: fmt.Sprintf("%s %s", u.Name(), what)})
			}
		}
	}
	without(is.Members, was.Members, "joined")
	without(was.Members, is.Members, "left")
	return list
}
