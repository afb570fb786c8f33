package web

var sharePages = []page{}
