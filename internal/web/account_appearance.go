package web

import "time"

// choiceLives is how long a browser keeps the choice of appearance: the longest time that browsers allow.
const choiceLives = 400 * 24 * time.Hour

// appearancePage is the choice of how pages look in this browser.
type appearancePage struct {
	accountPage
	Chosen string // theme
}

func (v *pageRequest) appearance() (response, error) {
	return show("account-appearance", &appearancePage{v.accountPage("appearance", "Display and keys"), v.theme()})
}

func (v *pageRequest) saveAppearance() (response, error) {
	if theme := v.PostFormValue("theme"); theme == "light" || theme == "dark" {
		v.setCookie(themeCookie, theme, choiceLives)
	} else {
		v.forget(themeCookie)
	}
	if v.PostForm.Has("keys") {
		v.forget(keysOff)
	} else {
		v.setCookie(keysOff, "1", choiceLives)
	}
	return seeOther("/account/appearance").saying("Saved in this browser."), nil
}
