//go:build amd64 || arm64

package seccomp_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/seccomp"
)

// BenchmarkInstall measures the installation of a filter: for scripts once per fork
// server, for commands once per command. The kernel compiles the program (its size) and
// runs it for every number (its depth). The result is median-ns.
func BenchmarkInstall(b *testing.B) {
	for _, profile := range seccomp.Profiles() {
		for _, mode := range modes {
			b.Run(fmt.Sprintf("%s-%s", profile, mode), func(b *testing.B) {
				var took []int
				for b.Loop() {
					out, err := child(b.Context(), childInstalls, profile, string(mode)).Output()
					if err != nil {
						b.Fatal(err)
					}
					for _, line := range strings.Fields(string(out)) {
						ns, err := strconv.Atoi(line)
						if err != nil {
							b.Fatal(err)
						}
						took = append(took, ns)
					}
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2]), "median-ns")
				b.ReportMetric(float64(took[len(took)*9/10]), "p90-ns")
			})
		}
	}
}
