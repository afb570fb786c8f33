package web

var accountPages = []page{}
