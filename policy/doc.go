// Package policy holds what an operator allows: limits, walls, grants and
// tiers, as plain values. It decides nothing about how a wall is built and
// depends on the standard library alone.
//
// A Policy is immutable and is validated once. Its zero value is the strict
// default: every wall that cordon requires, the default limits, no grants.
package policy
