package web

var noticePages = []page{}
