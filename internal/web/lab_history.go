package web

import (
	"fmt"
	"slices"

	"aliquot/internal/app"
	"aliquot/internal/exchange"

	"github.com/google/uuid"
)

type labActivityPage struct {
	labPage
	Events []labEvent
	Total  int64
	Links  links
}

type labEvent struct {
	exchange.OrganizationEvent
	By, Did string
}

// labActivity shows the events in the requests for the lab's materials.
func (v *pageRequest) labActivity() (response, error) {
	base, err := v.readLab("activity", "Activity")
	if err != nil {
		return response{}, err
	}
	list, people, err := v.app.LabActivity(v.Context(), v.who.Actor, base.Lab.ID, v.pageOf())
	if err != nil {
		return response{}, err
	}
	p := &labActivityPage{labPage: base, Total: list.Total, Links: v.linksOf(list.Next)}
	for _, e := range list.Items {
		by := "Aliquot"
		if u, known := people[e.Actor]; known {
			by = u.Name()
		}
		p.Events = append(p.Events, labEvent{e, by, exchange.DescribeAction(e.Event, exchange.LabSide, "")})
	}
	return show("lab-activity", p)
}

type labHistoryPage struct {
	labPage
	Versions []labVersion
	Total    int64
	Links    links
}

type labVersion struct {
	app.Version[app.OrganizationView]
	Changes []labChange
}

// labChange is one change of a version.
type labChange struct{ What, From, To string }

// labHistory shows the changes of the lab itself.
func (v *pageRequest) labHistory() (response, error) {
	base, err := v.readLab("history", "History")
	if err != nil {
		return response{}, err
	}
	list, err := v.app.OrganizationHistory(v.Context(), v.who.Actor, base.Lab.ID, v.pageOf())
	if err != nil {
		return response{}, err
	}
	p := &labHistoryPage{labPage: base, Total: list.Total, Links: v.linksOf(list.Next)}
	for _, version := range list.Items {
		p.Versions = append(p.Versions, labVersion{version, changesOfLab(version)})
	}
	return show("lab-history", p)
}

func changesOfLab(v app.Version[app.OrganizationView]) (list []labChange) {
	if v.Before == nil {
		return []labChange{{What: "made the lab", To: v.State.Name}}
	}
	was, is := *v.Before, v.State
	told := func(what, from, to string) {
		if from != to {
			list = append(list, labChange{what, from, to})
		}
	}
	told("name", was.Name, is.Name)
	told("description", was.Description, is.Description)
	told("owner", was.OwnerUser.Name(), is.OwnerUser.Name())
	told("target for decisions", days(was.Targets.Decide), days(is.Targets.Decide))
	told("target for countersigning", days(was.Targets.Countersign), days(is.Targets.Countersign))
	told("target for shipping", days(was.Targets.Ship), days(is.Targets.Ship))
	without := func(people []exchange.User, others []exchange.User, what string) {
		for _, u := range people {
			if !slices.ContainsFunc(others, func(o exchange.User) bool { return o.ID == u.ID }) && u.ID != uuid.Nil {
				list = append(list, labChange{What: fmt.Sprintf("%s %s", u.Name(), what)})
			}
		}
	}
	without(is.Members, was.Members, "joined")
	without(was.Members, is.Members, "left")
	return list
}
