// Package deploy has no code: it is where the tests of the files beside it live.
package deploy
