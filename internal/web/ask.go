package web

var askPages = []page{}
