package files

// NoRoom is asStorageFull, for tests.
var NoRoom = asStorageFull

// Clean is clean, for tests.
var Clean = clean
