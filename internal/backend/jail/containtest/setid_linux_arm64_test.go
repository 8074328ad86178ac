package containtest

// legacySetidMethods is empty: this architecture has only the newer calls, which take a directory.
var legacySetidMethods []setidMethod
