package lab

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"aliquot/internal/app/catalog"
	"aliquot/internal/exchange"
	"aliquot/internal/exchange/category"
	"aliquot/internal/exchange/material"
	"aliquot/internal/web/ui"
)

type labMaterialsPage struct {
	labPage
	Materials  []labMaterial
	Total      exchange.Count
	Links      links
	Category   string
	State      string
	Sort       string
	Size       int
	Categories []category.Category
	Works      bool // the visitor may change the materials, and has the choices of Options
	Options    catalog.MaterialFormOptions
	Bulk       bulkForm
}

type labMaterial struct {
	material.Shown
	Kind      category.Category
	Embargoed bool
	Open      int64 // requests
	Checked   bool
	Problem   string // why it was not changed
}

// Needs returns what a requester has to submit for the material.
func (m labMaterial) Needs() (list []string) {
	if m.NeedsMTA {
		list = append(list, "MTA")
	}
	if m.NeedsIRB {
		list = append(list, "IRB")
	}
	if m.NeedsAbstract {
		list = append(list, "abstract")
	}
	return list
}

// Stock returns how much of the material there is, as its lab wrote it.
func (m labMaterial) Stock() string {
	var values map[string]json.RawMessage
	_ = json.Unmarshal(m.Metadata, &values) // it is always an object
	for _, f := range m.Kind.Fields {
		if strings.HasPrefix(f.Key, "number_avail") {
			return strings.Join(category.Items(values[f.Key]), ", ")
		}
	}
	return ""
}

// materialSort is an order of a lab's materials.
type materialSort struct {
	Value, Words string
	order        exchange.Order
}

var materialSorts = func() []materialSort {
	title := exchange.MaterialFields[slices.IndexFunc(exchange.MaterialFields,
		func(f exchange.Field) bool { return f.Name == "title" })]
	return []materialSort{
		{"", "Newest", exchange.Order{}},
		{"old", "Oldest", exchange.Order{Field: exchange.Field{Name: "id"}, Ascending: true}},
		{"title", "A to Z", exchange.Order{Field: title, Ascending: true}},
		{"title-down", "Z to A", exchange.Order{Field: title}},
	}
}()

// Sorts returns the orders to choose from.
func (p *labMaterialsPage) Sorts() []materialSort { return materialSorts }

// materialSizes are the numbers of materials that a page may have.
var materialSizes = []int{rowsOfPage, 100, 200}

// Sizes returns the numbers to choose from.
func (p *labMaterialsPage) Sizes() []int { return materialSizes }

// Query returns the query of the page, from its first materials.
func (p *labMaterialsPage) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{"category": p.Category, "state": p.State, "sort": p.Sort} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if p.Size != rowsOfPage {
		query.Set("size", strconv.Itoa(p.Size))
	}
	return query
}

// Back returns the address of the list as it is shown.
func (p *labMaterialsPage) Back() string { return "/labs/" + p.ID + "?" + p.query().Encode() }

// labMaterials lists the lab's materials that the visitor may see, for members also archived ones if asked for.
func (v *pageRequest) labMaterials() (ui.Response, error) {
	p, err := materialsPage(v, v.URL.Query())
	if err != nil {
		return ui.Response{}, err
	}
	return ui.Show("lab", p)
}

// materialsPage reads the page that a query describes. Unknown values choose nothing.
func materialsPage(v *pageRequest, query url.Values) (*labMaterialsPage, error) {
	base, err := v.readLab("materials", "")
	if err != nil {
		return nil, err
	}
	p := &labMaterialsPage{labPage: base, Category: query.Get("category"), Categories: category.All(),
		Size: rowsOfPage}
	p.Description = "Materials that " + base.Lab.Name + " shares."
	f := material.Filter{Organization: &base.Lab.ID, Archived: new(false)}
	if base.Lab.May(exchange.MaterialHistory) { // the visitor is a member
		p.State = query.Get("state")
	}
	switch p.State {
	case "archived":
		f.Archived = new(true)
	case "all":
		f.Archived = nil
	default:
		p.State = ""
	}
	if _, known := category.Get(p.Category); known {
		f.Category = &p.Category
	} else {
		p.Category = ""
	}
	if size, err := strconv.Atoi(query.Get("size")); err == nil && slices.Contains(materialSizes, size) {
		p.Size = size
	}
	page := exchange.Page{Limit: p.Size}
	for _, s := range materialSorts {
		if s.Value == query.Get("sort") {
			p.Sort, page.Order = s.Value, s.order
		}
	}
	if id := ui.ParseID(query.Get("after")); id != nil {
		page.After = &exchange.Position{ID: *id}
		if page.Order.Kind == exchange.Text {
			page.After.Value = query.Get("at")
		}
	}
	var w catalog.Workbench
	if p.Works = v.SignedIn() && base.Lab.May(exchange.MaterialBulk); p.Works {
		w, err = v.App.Materials.Workbench(v.Context(), v.Who.Actor, base.Lab.ID, page, f)
	} else {
		w.ListPage, err = v.App.Materials.Materials(v.Context(), v.Who.Actor, page, f)
	}
	if err != nil {
		return nil, err
	}
	now := v.App.DB.Read().Now
	for _, m := range w.Items {
		kind, _ := category.Get(m.Category)
		p.Materials = append(p.Materials, labMaterial{Shown: m, Kind: kind, Embargoed: m.Embargoed(now),
			Open: w.Open[m.ID]})
	}
	p.Total, p.Options = w.Total, w.Options
	if page.After != nil {
		p.Links.Back = p.Back()
	}
	if w.Next != nil {
		next := p.query()
		next.Set("after", strconv.FormatInt(w.Next.ID, 10))
		if text, sorted := w.Next.Value.(string); sorted {
			next.Set("at", text)
		}
		p.Links.Next = "/labs/" + p.ID + "?" + next.Encode()
	}
	return p, nil
}
