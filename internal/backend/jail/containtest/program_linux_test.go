package containtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// This test binary makes an attempt if an environment variable names one. It checks that
// before it runs tests.
const (
	actVariable  = "CORDON_ACT"
	toldVariable = "CORDON_TOLD"
	// brokenCode is its exit code when the attempt could not be made.
	brokenCode = 3
)

// told is the information that an attempt is given.
type told map[string]any

func (t told) text(key string) string { s, _ := t[key].(string); return s }

func (t told) number(key string) int { n, _ := t[key].(float64); return int(n) }

// act returns nil if it escaped, and otherwise what stopped it.
type act func(told) error

// acts are the attempts by name.
var acts = mergeActs(fileActs, procActs, keyActs, readOnlyActs, ownerActs, processActs, kernelActs, networkActs, limitActs, spaceActs, rlimitActs, lifeActs)

func mergeActs(maps ...map[string]act) map[string]act {
	all := map[string]act{}
	for _, m := range maps {
		for name, a := range m {
			all[name] = a
		}
	}
	return all
}

// errBroken is an attempt that could not be made.
var errBroken = errors.New("broken")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errBroken, fmt.Sprintf(format, args...))
}

// errQuiet ends an act that has already printed its result.
var errQuiet = errors.New("quiet")

func init() {
	name := os.Getenv(actVariable)
	if name == "" {
		return
	}
	a, known := acts[name]
	if !known {
		fmt.Println("there is no act", name)
		os.Exit(brokenCode)
	}
	var t told
	if err := json.Unmarshal([]byte(os.Getenv(toldVariable)), &t); err != nil {
		fmt.Println("told nonsense:", err)
		os.Exit(brokenCode)
	}
	switch err := a(t); {
	case err == nil:
		fmt.Println("ESCAPED", name)
	case errors.Is(err, errQuiet):
	case errors.Is(err, errBroken):
		fmt.Println(err)
		os.Exit(brokenCode)
	default:
		fmt.Println("HELD", strings.ReplaceAll(err.Error(), "\n", " "))
	}
	os.Exit(0)
}

// anyOf returns nil if one of several ways worked, and prints which.
func anyOf(ways map[string]error) error {
	var held []error
	for name, err := range ways {
		if err == nil {
			fmt.Println("through", name)
			return nil
		}
		held = append(held, fmt.Errorf("%s: %w", name, err))
	}
	return errors.Join(held...)
}

// readSecret reads a file and prints its content: the host recognizes its secrets.
func readSecret(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fmt.Printf("%q\n", data[:min(len(data), 4096)])
	return nil
}
