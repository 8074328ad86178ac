// Package policy describes what an operator allows: limits, walls, grants and
// tiers, as plain values. How a wall is built is decided elsewhere.
//
// A Policy is immutable and is validated once. Its zero value is the strict
// default: every wall that cordon requires, the default limits, no grants.
package policy
