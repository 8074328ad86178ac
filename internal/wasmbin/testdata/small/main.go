// Command small does what needs little of the library, and prints what came out.
package main

import (
	"os"
	"sort"
	"strconv"
	"strings"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

type shape interface{ area() float64 }
type square float64
type circle struct{ radius float64 }

func (s square) area() float64 { return float64(s * s) }
func (c circle) area() float64 { return 3 * c.radius * c.radius }

func main() {
	out := &strings.Builder{}
	defer func() {
		if _, err := os.Stdout.WriteString(out.String()); err != nil {
			os.Exit(3)
		}
		os.Exit(2)
	}()
	out.WriteString(strconv.Itoa(fib(20)) + "\n")
	words := map[string]int{}
	for _, w := range strings.Fields(strings.Repeat("the quick brown fox jumps over the lazy dog ", 100)) {
		words[w] += len(words)
	}
	keys := []string(nil)
	for k := range words {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		out.WriteString(k + " ")
	}
	sum := 0.0
	for i := range 1000 {
		shapes := []shape{square(i), circle{float64(i)}}
		sum += shapes[i%2].area()
	}
	out.WriteString(strconv.FormatFloat(sum, 'g', -1, 64) + "\n")
	numbers := make(chan int)
	go func() {
		defer close(numbers)
		for i := range 100 {
			numbers <- i * i
		}
	}()
	total := 0
	for n := range numbers {
		total += n
	}
	out.WriteString(strconv.Itoa(total) + "\n")
	defer func() {
		if recover() != nil {
			out.WriteString("recovered\n")
		}
	}()
	var nothing []int
	nothing[len(words)] = 1
}
