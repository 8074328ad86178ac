package run

// Size returns about how much memory r takes: its value, variables, output and exception.
func (r Result) Size() int64 {
	const fixed = 1 << 10
	size := fixed + int64(r.ValueSize()) + int64(len(r.Stdout)+len(r.Stderr)+len(r.Error))
	if r.Exception != nil {
		size += int64(len(r.Exception.Message) + len(r.Exception.Traceback))
	}
	for _, v := range r.Violations {
		size += int64(len(v.Detail) + len(v.Hint))
	}
	return size
}
