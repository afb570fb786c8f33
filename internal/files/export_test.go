package files

// NoRoom is noRoom, for tests.
var NoRoom = noRoom
