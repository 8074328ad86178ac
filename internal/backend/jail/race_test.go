//go:build race

package jail

// UnderRace: real programs take their time with the detector in them, and the
// program that makes the attempts half a second to start. What both are about,
// walls, it does not see; what runs at once in the Runner, other tests show.
const UnderRace = true
