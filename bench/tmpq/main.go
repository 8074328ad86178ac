package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"sort"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/run"
)

func main() {
	r, err := cordon.NewRunner(cordon.Options{})
	if err != nil { panic(err) }
	defer r.Close()
	one := func() { if _, err := r.Run(context.Background(), run.Request{Script: "result = context['a'] + 1", Context: map[string]any{"a": 41}}); err != nil { panic(err) } }
	py := os.Args[1]
	var ts, ps []time.Duration
	for i := range 600 {
		a := time.Now(); one(); ts = append(ts, time.Since(a))
		time.Sleep(5 * time.Millisecond)
		if i%10 == 0 { a = time.Now(); exec.Command(py, "-I", "-S", "-c", "pass").Run(); ps = append(ps, time.Since(a)); time.Sleep(5 * time.Millisecond) }
	}
	q := func(x []time.Duration, p float64) time.Duration { sort.Slice(x, func(i, j int) bool { return x[i] < x[j] }); return x[int(float64(len(x)-1)*p)] }
	fmt.Println("paced p50", q(ts, .5), "p99", q(ts, .99), "plain p50", q(ps, .5), "ratio", float64(q(ps, .5))/float64(q(ts, .5)), float64(q(ps, .5))/float64(q(ts, .99)))
	ts = nil
	for range 2000 { a := time.Now(); one(); ts = append(ts, time.Since(a)) }
	fmt.Println("back-to-back p50", q(ts, .5), "p99", q(ts, .99))
	f, _ := os.Create("/tmp/cpu.prof"); pprof.StartCPUProfile(f)
	n := 0; var mu sync.Mutex; var wg sync.WaitGroup; a := time.Now()
	for range 4 { wg.Go(func() { for time.Since(a) < 4*time.Second { one(); mu.Lock(); n++; mu.Unlock() } }) }
	wg.Wait(); pprof.StopCPUProfile()
	thr := float64(n) / time.Since(a).Seconds()
	n = 0; a = time.Now()
	for range 2 { wg.Go(func() { for time.Since(a) < 3*time.Second { exec.Command(py, "-I", "-S", "-c", "pass").Run(); mu.Lock(); n++; mu.Unlock() } }) }
	wg.Wait()
	plain := float64(n) / time.Since(a).Seconds()
	fmt.Printf("throughput %.0f/s plain %.0f/s ratio %.2f\n", thr, plain, thr/plain)
}
