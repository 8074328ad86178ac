// Command mixed does a little of everything, and prints what came out.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func main() {
	fmt.Println(fib(25))
	data := map[string]any{}
	for i := range 2000 {
		data[fmt.Sprint("key", i)] = []int{i, i * i}
	}
	text, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%x\n", sha256.Sum256(text))
	words := strings.Fields(strings.Repeat("the quick brown fox jumps over the lazy dog ", 500))
	sort.Strings(words)
	fmt.Println(len(words), words[0], words[len(words)-1])
	fmt.Println(len(regexp.MustCompile(`[a-e]+\d?`).FindAllString(string(text), -1)))
	defer func() { fmt.Println("recovered:", recover()) }()
	var none []int
	fmt.Println(none[len(words)])
}
