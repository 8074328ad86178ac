// Package cli has what the commands of cordon and of cordond share: the form of flags,
// their environment variables, loading of policies, signals and exit codes.
package cli
