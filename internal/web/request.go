package web

var requestPages = []page{}
