package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cordon-sandbox/cordon"
	"github.com/cordon-sandbox/cordon/internal/attack"
)

func main() {
	r, err := cordon.NewRunner(cordon.Options{})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	count := map[string]int{}
	a := time.Now()
	_, err = attack.Prove(ctx, r, func(v attack.Verdict) {
		count[fmt.Sprint(v.State)]++
		if fmt.Sprint(v.State) != "held" {
			fmt.Println(v.State, v.Attempt.Name, "|", v.Detail, "|", v.Result.Outcome, v.Result.Error, v.Result.Stderr)
		}
	})
	fmt.Println(err, count, time.Since(a))
}
