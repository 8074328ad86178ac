package containtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// If an environment variable names an act, the test binary performs it instead of running
// tests.
const (
	actVariable    = "CORDON_ACT"
	paramsVariable = "CORDON_PARAMS"
	// brokenCode is the exit code of an attempt that could not be made.
	brokenCode = 3
)

// params are the parameters of an attempt, decoded from JSON.
type params map[string]any

func (p params) text(key string) string { s, _ := p[key].(string); return s }

func (p params) number(key string) int { n, _ := p[key].(float64); return int(n) }

// pid is the process to attack.
func (p params) pid() int {
	if p.text("pid") == parentProcess {
		return os.Getppid()
	}
	pid, err := strconv.Atoi(p.text("pid"))
	if err != nil {
		panic("the attempt has no process: " + err.Error())
	}
	return pid
}

// act performs an attempt. It returns nil if it escaped, and otherwise the error that stopped it.
type act func(params) error

// acts are all acts by name.
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

// errBroken says that the attempt could not be made.
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
		fmt.Println("unknown act", name)
		os.Exit(brokenCode)
	}
	var p params
	if err := json.Unmarshal([]byte(os.Getenv(paramsVariable)), &p); err != nil {
		fmt.Println("invalid parameters:", err)
		os.Exit(brokenCode)
	}
	switch err := a(p); {
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

// anyOf returns nil if one of several tries succeeded, and prints its name.
func anyOf(results map[string]error) error {
	var held []error
	for name, err := range results {
		if err == nil {
			fmt.Println("through", name)
			return nil
		}
		held = append(held, fmt.Errorf("%s: %w", name, err))
	}
	return errors.Join(held...)
}

// readSecret prints the content of a file, in which the host looks for its secrets.
func readSecret(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	fmt.Printf("%q\n", data[:min(len(data), 4096)])
	return nil
}
