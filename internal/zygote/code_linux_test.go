package zygote

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCodeRanges(t *testing.T) {
	const mib = int64(1) << 20
	tests := []struct {
		name string
		maps string
		want []any
	}{
		{"nothing", "", []any{}},
		{"one file in three parts, from the first to the last whole large page", `
00400000-0041f000 r--p 00000000 fd:00 12 /usr/bin/python3.11
0041f000-006cf000 r-xp 0001f000 fd:00 12 /usr/bin/python3.11
006cf000-00940000 r--p 002cf000 fd:00 12 /usr/bin/python3.11
00940000-00941000 r--p 0053f000 fd:00 12 /usr/bin/python3.11
00941000-00a80000 rw-p 00540000 fd:00 12 /usr/bin/python3.11
`, []any{[]any{4 * mib, 8 * mib}}},
		{"a library that begins within a large page", `
7f0000123000-7f0000800000 r-xp 00000000 fd:00 13 /usr/lib/libpython3.11.so.1.0
`, []any{[]any{int64(0x7f0000200000), int64(0x7f0000800000)}}},
		{"too small", `
7f0000000000-7f0000100000 r-xp 00000000 fd:00 14 /usr/bin/python3
`, []any{}},
		{"a library that is not the interpreter", `
7f0000000000-7f0000800000 r-xp 00000000 fd:00 14 /venv/numpy.libs/libopenblas.so
`, []any{}},
		{"data only", `
7f0000000000-7f0000800000 r--p 00000000 fd:00 15 /usr/lib/libpython3.11.so.1.0
`, []any{}},
		{"two files side by side are not one", `
7f0000000000-7f0000180000 r-xp 00000000 fd:00 16 /usr/bin/python3
7f0000180000-7f0000300000 r-xp 00000000 fd:00 17 /usr/lib/libpython3.11.so.1.0
`, []any{}},
		{"a gap parts", `
7f0000000000-7f0000100000 r-xp 00000000 fd:00 16 /usr/bin/python3
7f0000200000-7f0000500000 r--p 00200000 fd:00 16 /usr/bin/python3
`, []any{}},
		{"what cannot be read cannot be copied", `
7f0000000000-7f0000200000 r-xp 00000000 fd:00 16 /usr/bin/python3
7f0000200000-7f0000400000 ---p 00200000 fd:00 16 /usr/bin/python3
7f0000400000-7f0000600000 r--p 00400000 fd:00 16 /usr/bin/python3
`, []any{[]any{int64(0x7f0000000000), int64(0x7f0000200000)}}},
		{"memory without a file", `
7f0000000000-7f0000800000 r-xp 00000000 00:00 0
7ffd00000000-7ffd00800000 r-xp 00000000 00:00 0
`, []any{}},
		{"what may be written is never code", `
7f0000000000-7f0000800000 rwxp 00000000 fd:00 18 /usr/bin/python3
`, []any{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, codeRanges(strings.NewReader(strings.TrimPrefix(tt.maps, "\n")))); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}
