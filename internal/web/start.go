package web

var startPages = []page{
	get("/{$}", (*visit).home),
}

type homePage struct {
	Page
}

func (v *visit) home() (reply, error) {
	return show("home", &homePage{Page: Page{Title: "Find and request research materials", Full: true, NoSearch: true}})
}
