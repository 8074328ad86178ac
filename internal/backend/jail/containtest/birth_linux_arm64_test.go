package containtest

// oldBirths is empty: this architecture has only the newer calls, which take a directory.
var oldBirths []birth
