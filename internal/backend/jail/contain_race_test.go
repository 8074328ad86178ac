//go:build race

package jail

// underRace: the attempts are made by this test's own program, which takes half a
// second to start with the detector in it. What they are about, walls, it does not
// see; what runs at once in the Runner, other tests show.
const underRace = true
