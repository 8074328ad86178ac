//go:build !race

package jail_test

const underRace = false
