package web

var catalogPages = []page{}
