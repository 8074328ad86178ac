package main

// keepOwner has nothing to do: a file has the access list of its directory here.
func keepOwner(string, string) error { return nil }
