//go:build race

package jail_test

// underRace: real programs take their time there, and show nothing about our own
// code that the attempts do not.
const underRace = true
