package app_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// withoutReload are the functions that open a transaction without reloading the actor, and why.
var withoutReload = map[string]string{
	"Write":             "reloads the actor itself",
	"MayRead":           "notes that an admin read something; nothing else changes",
	"signIn":            "nobody acts yet: the identity provider vouched for them a moment ago",
	"SetAdmin":          "is the operator's, at the machine",
	"Subscribe":         "acts by the token of a mail, which is checked in the transaction",
	"UseToken":          "notes that a session is used, and touches no row where it ended",
	"NoMailSoFar":       "is the program's own, at start",
	"Bounce":            "is what a mail server said",
	"mailWaitsAgain":    "is background work about mail",
	"MailInvitation":    "is background work about mail",
	"invitationContent": "is background work about mail",
	"Schedule":          "tries an action in a transaction that is rolled back",
	"DiscardBulk":       "forgets a spreadsheet that was not taken",
	"saveRefusals":      "counts what was refused; nothing else changes",
	"keepMonth":         "keeps sums that were counted",
	"ResetSecrets":      "is the operator's, at the machine",
	"RemindDue":         "is the demo's, which makes up a past",
	"Change":            "is when a source is called, whoever it is for",
	"LoadCellLines":     "is the operator's, at the machine",
	"Install":           "is the operator's, at the machine",
	"CheckHolds":        "is the operator's, at the machine",
	"Rescan":            "is the operator's, at the machine",
	"OpenKeys":          "is the program's own, at start",
	"replaceKeys":       "is the operator's, at the machine",
	"ReturnInfected":    "is background work about what a virus scanner found",
	"SignNow":           "signs the log, which is right whoever asks; nothing else changes",
	"AskOthers":         "is background work about the log",
	"sendOwn":           "is background work about mail",
	"eraseListed":       "is background work, of a list that a restore brought",
	"postpone":          "is background work about erasures that were asked for",
}

func TestUseCases_ReloadTheActorInTheTransaction(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*/*.go")
	own, ownErr := filepath.Glob("*.go")
	if err := errors.Join(err, ownErr); err != nil {
		t.Fatal(err)
	}
	files, found := token.NewFileSet(), map[string]bool{}
	for _, name := range append(own, paths...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				called, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				of, inner := called.X.(*ast.SelectorExpr)
				switch {
				case called.Sel.Name == "Tx" && inner && of.Sel.Name == "DB", called.Sel.Name == "tx":
					found[f.Name.Name] = true
					if withoutReload[f.Name.Name] == "" {
						t.Errorf("%s: %s opens a transaction of its own: use Core.Write, which reloads the actor in the transaction",
							files.Position(call.Pos()), f.Name.Name)
					}
				case called.Sel.Name == "Write" && len(call.Args) == 3:
					if do, ok := call.Args[2].(*ast.FuncLit); ok && !hides(call.Args[1], do) {
						t.Errorf("%s: the function that Core.Write runs must name its actor like the one outside, so "+
							"that nobody uses that one", files.Position(call.Pos()))
					}
				}
				return true
			})
		}
	}
	for name := range withoutReload {
		if !found[name] {
			t.Errorf("%s opens no transaction any more; take it out of the list", name)
		}
	}
}

// hides reports whether the last parameter of do has the same name as the actor outside, and so shadows it.
func hides(before ast.Expr, do *ast.FuncLit) bool {
	list := do.Type.Params.List
	names := list[len(list)-1].Names
	actor, ok := before.(*ast.Ident)
	return ok && len(names) == 1 && names[0].Name == actor.Name
}
