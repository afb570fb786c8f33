package account

import (
	"aliquot/internal/web/ui"
)

var helpPages = []ui.Route{
	ui.Get("/help", (*pageRequest).help),
	ui.Get("/accessibility", (*pageRequest).accessibility),
	ui.Get("/privacy", (*pageRequest).privacy),
}

// shortcut is a key, or two in sequence, and what it does.
type shortcut struct {
	Keys []string
	Does string
}

var shortcuts = []shortcut{
	{[]string{"/"}, "Search"},
	{[]string{"Ctrl K"}, "Find a material, request, person or action, also while typing"},
	{[]string{"g", "s"}, "Go to search"},
	{[]string{"g", "r"}, "Go to requests"},
	{[]string{"g", "l"}, "Go to your labs"},
	{[]string{"g", "n"}, "Go to notifications"},
	{[]string{"j"}, "Next row of a list"},
	{[]string{"k"}, "Previous row"},
	{[]string{"Enter"}, "Open the row"},
	{[]string{"x"}, "Select the row"},
	{[]string{"a"}, "On a request: accept, after confirmation"},
	{[]string{"r"}, "On a request: decline, after confirmation"},
	{[]string{"m"}, "On a request: write a message"},
	{[]string{"?"}, "Show this list"},
	{[]string{"Esc"}, "Close, or leave a field"},
}

type helpPage struct {
	ui.Page
	Shortcuts []shortcut
}

func (v *pageRequest) help() (ui.Response, error) {
	return ui.Show("help", &helpPage{Page: ui.Page{Title: "Help", Description: "How to find and request research " +
		"materials, and how to share those of your lab."}, Shortcuts: shortcuts})
}

func (v *pageRequest) accessibility() (ui.Response, error) {
	return ui.Show("accessibility",
		&helpPage{Page: ui.Page{Title: "Accessibility", Description: "How accessible Aliquot is, and what to do if " +
			"something does not work for you.", Narrow: true}})
}

func (v *pageRequest) privacy() (ui.Response, error) {
	return ui.Show("privacy", &helpPage{Page: ui.Page{Title: "Privacy",
		Description: "What Aliquot stores about you, who sees it, and for how long.", Narrow: true}})
}
