package store_test

import (
	stdcontext "context"
)

type context = stdcontext.Context
