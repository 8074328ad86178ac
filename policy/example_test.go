package policy_test

import (
	"fmt"

	"github.com/cordon-sandbox/cordon/policy"
)

// A request can ask for less than the policy's defaults, or for more up to the policy's
// maxima.
func ExamplePolicy_Narrow() {
	p := policy.Policy{Maxima: policy.Limits{Memory: 512 * policy.MiB}}

	limits, err := p.Narrow(policy.Limits{Memory: 128 * policy.MiB})
	fmt.Println(limits.Memory, limits.WallTime, err)

	_, err = p.Narrow(policy.Limits{Memory: 2 * policy.GiB})
	fmt.Println(err)
	// Output:
	// 128MiB 30s <nil>
	// limits.memory: 2GiB is above the policy's maximum of 512MiB
}

// All problems are reported at once, each with the name of its field.
func ExampleDocument_Policy() {
	_, err := policy.Document{
		Trust:  "root",
		Limits: policy.DocumentLimits{"memory": "256"},
	}.Policy()
	fmt.Println(err)
	// Output:
	// limits.memory: "256" has no unit: write 256B, 256KiB, 256MiB or 256GiB
	// trust: trust "root" does not exist: the origins are platform, user, third-party
}
