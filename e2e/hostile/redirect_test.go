package hostile

// targets are addresses that lead to another host in at least one browser or library, escaped for a form.
var targets = []string{
	"https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2F%2F%2Fevil.example", "%2F%5Cevil.example",
	"%5C%5Cevil.example", "%2F%09%2Fevil.example", "%2F%0D%0A%2Fevil.example", "%09%2F%2Fevil.example",
	"%20%2F%2Fevil.example", "https%3Aevil.example", "javascript%3Aalert%281%29", "%2F%2F%40evil.example",
	"http%3A%2F%2Flocalhost%40evil.example", "%2F%0D%0AX-Injected%3A%20a", "%2F%00%2Fevil.example",
	"data%3Atext%2Fhtml%2Ca", "%2F%2Fevil%E3%80%82example", "%EF%BC%8F%EF%BC%8Fevil.example",
}

// redirects are all parameters that say where to go next, with targets elsewhere, and addresses that are too long for
// the head of an answer.
var redirects = func() (list []attack) {
	const begins = "303 http://{host}/demo/identity/authorize, ok"
	add := func(name, send, answers string) {
		list = append(list, attack{name: name, send: send, want: answers})
	}
	for _, target := range targets {
		add("next of signing in: "+target, page("/signin?next="+target), "303 /, ok")
		add("back of notifications: "+target, form("/notifications/read", "back="+target), "303 /notifications, ok")
	}
	for _, target := range []string{"https%3A%2F%2Fevil.example", "%2F%2Fevil.example", "%2F%5Cevil.example"} {
		add("next of the beginning of signing in: "+target, get("/signin/start?next="+target), begins)
		add("next of the form of signing in: "+target, get("/signin?next="+target), "200, ok")
		add("next of the welcome: "+target, page("/welcome?next="+target), "200, ok")
		add("back of the basket: "+target, form("/basket", "material=0&back="+target), "400, ok")
		add("back of many requests: "+target, form("/requests/bulk", "do=decline&back="+target), "422, ok")
		add("back of many materials: "+target, form("/labs/{lab}/materials", "do=archive&back="+target), "422, ok")
		add("back of an admin: "+target, form("/admin/users/{user}/admin", "admin=0&back="+target), "403, ok")
		add("a search: "+target, get("/search?search=a&next="+target),
			"303 /catalog?next="+target+"&q=a, ok")
	}
	long := many(7_000, "a")
	add("signing in for a long address", get("/account?q="+long), "303 /signin?next=%2F, ok")
	add("a long next of signing in", page("/signin?next=/"+long), "303 /, ok")
	add("a long next of the beginning of signing in", get("/signin/start?next=/"+long), begins)
	add("a long address that ends in a slash", get("/catalog/?q="+long), "404, ok")
	add("a long invitation", get("/join?token="+long), "303 /join, ok")
	add("a long link to sign", get("/sign?token="+long), "303 /sign, ok")
	add("a long search", get("/search?search="+long), "404 NOT_FOUND, ok")
	add("a long address with two slashes", get("//catalog?q="+long), "404 NOT_FOUND, ok")
	return list
}()
