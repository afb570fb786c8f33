package web_test

// access is the table: each route of the pages at least once, and again where what is asked of makes a difference.
// The roles: anonymous, stranger, requester, member, owner, admin.
var access = []asked{
	{"GET /{$}", "/", "", "200 200 200 200 200 200"},

	{"GET /signin", "/signin?next=/drafts", "", "200 303 303 303 303 303"},
	{"GET /signin/start", "/signin/start", "", "422 422 422 422 422 422"}, // there is no identity provider
	{"GET /signin/callback", "/signin/callback?code=x&state=y", "", "422 422 422 422 422 422"},
	{"POST /signout", "/signout", "", "303 303 303 303 303 303"},

	{"GET /drafts", "/drafts", "", "in 200 200 200 200 200"},
	{"POST /drafts/save", "/drafts/save", "draft=message+{request}&draft_title=A&text=b", "in 204 204 204 204 204"},
	{"POST /drafts/delete", "/drafts/delete", "draft=none", "in 303 303 303 303 303"},
	{"POST /undo/{id}", "/undo/999", "", "in 404 404 404 404 404"},
}
