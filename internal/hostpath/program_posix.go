//go:build !windows

package hostpath

import "os"

func follow(name string) (Program, error) {
	real, met, err := Resolve(os.DirFS("/"), name)
	return Program{Path: real, met: met}, err
}

func isProgram(name string) bool {
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// fold returns the same text for names of the same file.
func fold(name string) string { return name }
