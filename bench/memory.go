package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/cordon-sandbox/cordon/bench/proc"
	"github.com/cordon-sandbox/cordon/policy"
)

// memory measures waiting workers.
func (b *bench) memory(_ context.Context, t *table) error { return addIdle(t, "idle worker", 3) }

// addIdle measures the workers that wait now, and their fork servers. PSS divides the pages
// that they share with each other and with the fork server, so it is the cost of one more
// worker, and must be at most that many MiB.
func addIdle(t *table, name string, atMost float64) error {
	workers, all, err := waitingWorkers()
	if err != nil {
		return err
	}
	r := row{
		position: rowMemory, Measure: fmt.Sprintf("%s (%d of them), PSS", name, len(workers)),
		Must: promise{AtMost: atMost * float64(policy.MiB), Text: fmt.Sprintf("≤ %g MiB", atMost), OnValue: true},
	}
	sizes, err := pss(workers)
	if err != nil {
		// Workers are not dumpable: an ordinary user may not read their memory.
		r.Value, r.Must, r.Note = "unknown", promise{}, "only root may read it"
		t.add(r)
		return nil
	}
	// The largest counts, not the average.
	largest := slices.Max(sizes)
	r.Value, r.Number = mebibytes(largest), float64(largest)
	t.add(r)

	servers := slices.DeleteFunc(all, func(pid int) bool { return slices.Contains(workers, pid) })
	if sizes, err = pss(servers); err != nil {
		return err
	}
	t.add(row{position: rowZygote, Measure: "fork server of an " + name + ", PSS", Value: mebibytes(slices.Max(sizes)), Number: float64(slices.Max(sizes))})
	return nil
}

// waitingWorkers returns the workers, and all processes of the bench. The first ones take long
// on a busy machine.
func waitingWorkers() (workers, all []int, err error) {
	for range 100 {
		waitForRefill()
		if workers, err = proc.Leaves(os.Getpid()); err != nil {
			return nil, nil, err
		}
		if all, err = proc.Descendants(os.Getpid()); err != nil {
			return nil, nil, err
		}
		if len(workers) > 0 && len(workers) < len(all) {
			return workers, all, nil
		}
	}
	return nil, nil, fmt.Errorf("no waiting workers: processes %v, without children %v", all, workers)
}

func pss(pids []int) ([]int64, error) {
	var sizes []int64
	for _, pid := range pids {
		n, err := proc.PSS(pid)
		if errors.Is(err, os.ErrNotExist) {
			continue // it ended, and another one replaces it
		}
		if err != nil {
			return nil, err
		}
		sizes = append(sizes, n)
	}
	if len(sizes) == 0 {
		return nil, errors.New("all workers ended during the measurement")
	}
	return sizes, nil
}
