package launch

// maxRSSUnit is what ru_maxrss is counted in.
const maxRSSUnit = 1
