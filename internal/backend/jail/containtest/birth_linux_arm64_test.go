package containtest

// oldBirths are none: this architecture came after the calls that take a directory.
var oldBirths []birth
