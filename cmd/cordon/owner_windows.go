package main

// keepOwner does nothing: on Windows a file inherits the access list of its directory.
func keepOwner(string, string) error { return nil }
