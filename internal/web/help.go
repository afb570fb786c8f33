package web

var helpPages = []page{}
