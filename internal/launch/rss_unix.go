//go:build unix && !darwin

package launch

// maxRSSUnit is what ru_maxrss is counted in.
const maxRSSUnit = 1 << 10
