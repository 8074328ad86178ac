package admission

import (
	"fmt"
	"sync"

	"github.com/cordon-sandbox/cordon/policy"
)

// AnswerOptions bound the answers that clients have not taken yet.
type AnswerOptions struct {
	// PerCaller and Total are in bytes; zero means the defaults.
	PerCaller, Total policy.Bytes
}

// What the zero values of AnswerOptions mean.
const (
	DefaultAnswersPerCaller = 64 * policy.MiB
	DefaultAnswers          = 256 * policy.MiB
)

// Answers bounds the memory of answers that were made and that nobody has read yet, for
// each caller and for all: a request of a few bytes can have an answer of many megabytes,
// and a client need not read it. It is safe for concurrent use.
//
// A single answer above the bound is held if nothing else is: what a policy allows can be
// given back.
type Answers struct {
	options AnswerOptions

	mu     sync.Mutex
	total  int64
	caller map[string]int64
}

// NewAnswers gives a budget of which nothing is used.
func NewAnswers(o AnswerOptions) *Answers {
	if o.PerCaller <= 0 {
		o.PerCaller = DefaultAnswersPerCaller
	}
	if o.Total <= 0 {
		o.Total = DefaultAnswers
	}
	return &Answers{options: o, caller: map[string]int64{}}
}

// Room says whether an answer of so many bytes could be held now. It is asked before
// anything is run: a run whose answer has no room is for nothing.
func (a *Answers) Room(name string, size int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.room(name, size)
}

// Hold counts an answer until it is sent or dropped, which release says, once or more
// often. An error is of class run.Busy.
func (a *Answers) Hold(name string, size int64) (release func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.room(name, size); err != nil {
		return func() {}, err
	}
	a.total += size
	a.caller[name] += size
	return sync.OnceFunc(func() { a.release(name, size) }), nil
}

func (a *Answers) release(name string, size int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.total -= size
	if a.caller[name] -= size; a.caller[name] == 0 {
		delete(a.caller, name)
	}
}

func (a *Answers) room(name string, size int64) error {
	own := a.caller[name]
	switch {
	case own > 0 && own+size > int64(a.options.PerCaller):
		return unsent("answers that %s has not read take %v, and may take %v: read them", name, policy.Bytes(own).Rounded(), a.options.PerCaller)
	case a.total > 0 && a.total+size > int64(a.options.Total):
		return unsent("answers that nobody has read take %v, and may take %v", policy.Bytes(a.total).Rounded(), a.options.Total)
	}
	return nil
}

func unsent(format string, args ...any) error { return NewBusy(fmt.Sprintf(format, args...)) }

// Unsent is how many bytes of answers are held.
func (a *Answers) Unsent() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}
