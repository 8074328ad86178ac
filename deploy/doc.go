// Package deploy has no code. Its tests check the files in this directory.
package deploy
