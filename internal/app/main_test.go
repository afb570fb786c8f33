package app_test

import (
	"os"
	"testing"

	"aliquot/internal/store/storetest"
)

// TestMain has every transaction of a use case run twice: a database that refuses to commit one, because of what others
// did meanwhile, makes it run again.
func TestMain(m *testing.M) {
	storetest.Rehearse = true
	os.Exit(m.Run())
}
