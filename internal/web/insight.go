package web

var insightPages = []page{}
