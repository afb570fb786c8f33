package web

var inboxPages = []page{}
