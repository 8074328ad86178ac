package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/run"
)

func tick(f string) float64 { n, _ := strconv.Atoi(f); return float64(n) / 100 }

func cpu() (self, zyg, kids float64) {
	var u syscall.Rusage
	syscall.Getrusage(0, &u)
	self = float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	st, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, p := range st {
		d, err := os.ReadFile(p)
		if err != nil { continue }
		f := strings.Fields(string(d[strings.LastIndexByte(string(d), ')')+1:]))
		if f[1] == strconv.Itoa(os.Getpid()) {
			zyg += tick(f[11]) + tick(f[12]); kids += tick(f[13]) + tick(f[14])
		}
	}
	return
}

func main() {
	o := cordon.Options{}; if os.Getenv("BARE") != "" { o.Policy.Preload = []string{} }; if p := os.Getenv("PY"); p != "" { o.Policy.Python = p }; r, err := cordon.NewRunner(o)
	if err != nil { panic(err) }
	defer r.Close()
	one := func() { if _, err := r.Run(context.Background(), run.Request{Script: "result = context['a'] + 1", Context: map[string]any{"a": 41}}); err != nil { panic(err) } }
	py := os.Args[1]
	if len(os.Args) > 2 { a := time.Now(); n := 0; for time.Since(a) < 5*time.Second { one(); n++ }; fmt.Println("runs", n); s, z, k := cpu(); fmt.Printf("cpu per run: self %.3f zygote %.3f workers %.3f ms\n", s/float64(n)*1e3, z/float64(n)*1e3, k/float64(n)*1e3); return }
	var ts, ps []time.Duration
	for i := range 600 {
		a := time.Now(); one(); ts = append(ts, time.Since(a))
		time.Sleep(5 * time.Millisecond)
		if i%10 == 0 { a = time.Now(); exec.Command(py, "-I", "-S", "-c", "pass").Run(); ps = append(ps, time.Since(a)); time.Sleep(5 * time.Millisecond) }
	}
	q := func(x []time.Duration, p float64) time.Duration { sort.Slice(x, func(i, j int) bool { return x[i] < x[j] }); return x[int(float64(len(x)-1)*p)] }
	fmt.Println("paced p50", q(ts, .5), "p90", q(ts, .9), "p99", q(ts, .99), "plain p50", q(ps, .5), "ratio", float64(q(ps, .5))/float64(q(ts, .5)), float64(q(ps, .5))/float64(q(ts, .99)))
	s0, z0, k0 := cpu()
	f, _ := os.Create("/tmp/cpu.prof"); pprof.StartCPUProfile(f)
	n := 0; var mu sync.Mutex; var wg sync.WaitGroup; a := time.Now()
	for range 4 { wg.Go(func() { for time.Since(a) < 4*time.Second { one(); mu.Lock(); n++; mu.Unlock() } }) }
	wg.Wait(); pprof.StopCPUProfile()
	s1, z1, k1 := cpu()
	fmt.Printf("cpu per run: self %.3f zygote %.3f workers %.3f ms\n", (s1-s0)/float64(n)*1e3, (z1-z0)/float64(n)*1e3, (k1-k0)/float64(n)*1e3)
	thr := float64(n) / time.Since(a).Seconds()
	n = 0; a = time.Now()
	var c0, c1 syscall.Rusage
	syscall.Getrusage(-1, &c0)
	for range 2 { wg.Go(func() { for time.Since(a) < 3*time.Second { exec.Command(py, "-I", "-S", "-c", "pass").Run(); mu.Lock(); n++; mu.Unlock() } }) }
	wg.Wait()
	syscall.Getrusage(-1, &c1)
	plain := float64(n) / time.Since(a).Seconds()
	fmt.Printf("throughput %.0f/s plain %.0f/s ratio %.2f; plain cpu %.3f ms\n", thr, plain, thr/plain, float64(c1.Utime.Nano()+c1.Stime.Nano()-c0.Utime.Nano()-c0.Stime.Nano())/float64(n)/1e6)
}
