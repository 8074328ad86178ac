package interpreter

import (
	"slices"
	"testing"
	"testing/fstest"
)

// Python for Windows has two layouts: installed and embeddable.
func TestWindowsLayouts(t *testing.T) {
	file, dir := &fstest.MapFile{}, &fstest.MapFile{Mode: 0o755 | 1<<31}
	installed := fstest.MapFS{
		"python.exe": file, "python3.dll": file, "python312.dll": file, "vcruntime140.dll": file,
		"Lib/os.py": file, "Lib/site-packages": dir, "DLLs/_socket.pyd": file,
	}
	embeddable := fstest.MapFS{"python.exe": file, "Python3.DLL": file, "Python39.DLL": file, "python39.zip": file, "_socket.pyd": file}
	for _, c := range []struct {
		fsys              fstest.MapFS
		version           [2]int
		sysPath, packages []string
	}{
		{installed, [2]int{3, 12}, []string{"DLLs", "Lib", ".", "Lib/site-packages"}, []string{"Lib/site-packages"}},
		{embeddable, [2]int{3, 9}, []string{"python39.zip", "."}, nil},
	} {
		version, sysPath, packages, err := windowsLayout(c.fsys)
		if err != nil || version != c.version || !slices.Equal(sysPath, c.sysPath) || !slices.Equal(packages, c.packages) {
			t.Errorf("got %v, %v, %v, %v", version, sysPath, packages, err)
		}
	}
	for _, fsys := range []fstest.MapFS{{}, {"py.exe": file}, {"python3.dll": file, "python3x.dll": file}} {
		if version, _, _, err := windowsLayout(fsys); err == nil {
			t.Errorf("%v was read as %v", fsys, version)
		}
	}
}
