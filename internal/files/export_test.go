package files

// NoRoom is noRoom, for tests.
var NoRoom = noRoom

// Clean is clean, for tests.
var Clean = clean
