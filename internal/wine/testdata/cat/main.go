// Command cat is a module that says what is in a file.
package main

import "os"

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		_, _ = os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	_, _ = os.Stdout.Write(text)
}
