// Package cli is what the commands of cordon and of its service have in common, whichever
// of the two programs they are in: how flags are written, how each has its variable in the
// environment, which policy is meant, how signals end things, and what exit codes say.
package cli
