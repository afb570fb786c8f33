package web

var labPages = []page{}
