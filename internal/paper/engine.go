package paper

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdfium_errors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"aliquot/internal/agreement/lint"
)

// engine is PDFium in WebAssembly: it has no files, no network, and memory of its own.
type engine struct{ pool pdfium.Pool }

func newEngine(cacheFolder string) (*engine, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(engineRoom).WithCloseOnContextDone(true)
	if cacheFolder != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cacheFolder)
		if err != nil {
			return nil, err
		}
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{MaxIdle: 1, MaxTotal: 1, FSConfig: wazero.NewFSConfig(),
		RuntimeConfig: config, Stdout: io.Discard, Stderr: io.Discard})
	return &engine{pool}, err
}

// read returns the pages of a file.
func (e *engine) read(file []byte) (pages []lint.Page, err error) {
	in, err := e.pool.GetInstance(10 * time.Second)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoReader, err)
	}
	defer func() {
		if r := recover(); r != nil { // the engine gave up
			pages, err = nil, ErrUnreadable
		}
		_ = in.Close()
	}()
	opened, err := in.OpenDocument(&requests.OpenDocument{File: &file})
	if errors.Is(err, pdfium_errors.ErrPassword) {
		return nil, ErrPassword
	}
	if err != nil {
		return nil, ErrUnreadable
	}
	count, err := in.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	switch {
	case err != nil || count.PageCount == 0:
		return nil, ErrUnreadable
	case count.PageCount > maxPages:
		return nil, ErrTooLong
	}
	size := 0
	for i := range count.PageCount {
		page, err := readPage(in, opened.Document, i)
		if err != nil {
			return nil, fmt.Errorf("page %d: %w", i+1, err)
		}
		if size += len(page.Text); size > maxText {
			return nil, ErrTooLong
		}
		pages = append(pages, page)
	}
	return pages, nil
}

func readPage(in pdfium.Pdfium, document references.FPDF_DOCUMENT, index int) (lint.Page, error) {
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: document, Index: index}}
	text, err := in.GetPageText(&requests.GetPageText{Page: page})
	if err != nil {
		return lint.Page{}, err
	}
	out := lint.Page{Text: text.Text}
	objects, err := in.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return lint.Page{}, err
	}
	const maxObjects = 10_000 // a page of more is no scan
	for i := range min(objects.Count, maxObjects) {
		object, err := in.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			return lint.Page{}, err
		}
		kind, err := in.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err != nil {
			return lint.Page{}, err
		}
		if kind.Type == enums.FPDF_PAGEOBJ_IMAGE {
			out.Images++
		}
	}
	return out, nil
}
