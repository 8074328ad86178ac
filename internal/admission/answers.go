package admission

import (
	"fmt"
	"sync"

	"github.com/cordon-sandbox/cordon/policy"
)

// AnswerOptions bound the answers that clients have not read yet.
type AnswerOptions struct {
	// PerCaller and Total are in bytes; zero means the defaults.
	PerCaller, Total policy.Bytes
}

// The defaults of AnswerOptions.
const (
	DefaultAnswersPerCaller = 64 * policy.MiB
	DefaultAnswers          = 256 * policy.MiB
)

// Answers bounds the memory of answers that clients have not read yet, for each caller and
// in total: a request of a few bytes can have an answer of many megabytes, and the client
// may never read it. It is safe for concurrent use.
//
// A single answer above the bound is held if no other is held, so that every answer that a
// policy allows can be returned.
type Answers struct {
	options AnswerOptions

	mu     sync.Mutex
	total  int64
	caller map[string]int64
}

// NewAnswers returns a budget that is not used yet.
func NewAnswers(o AnswerOptions) *Answers {
	if o.PerCaller <= 0 {
		o.PerCaller = DefaultAnswersPerCaller
	}
	if o.Total <= 0 {
		o.Total = DefaultAnswers
	}
	return &Answers{options: o, caller: map[string]int64{}}
}

// Room returns an error if an answer of size bytes could not be held now. It is called
// before a run, because a run whose answer does not fit is wasted.
func (a *Answers) Room(name string, size int64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.room(name, size)
}

// Hold counts an answer until release is called, when the answer is sent or dropped.
// release may be called more than once. An error is of class run.Busy.
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
		return unsent("unread answers of %s take %v of at most %v: read them", name, policy.Bytes(own).Rounded(), a.options.PerCaller)
	case a.total > 0 && a.total+size > int64(a.options.Total):
		return unsent("unread answers of all callers take %v of at most %v", policy.Bytes(a.total).Rounded(), a.options.Total)
	}
	return nil
}

func unsent(format string, args ...any) error { return NewBusy(fmt.Sprintf(format, args...)) }

// Unsent returns how many bytes of answers are held.
func (a *Answers) Unsent() int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.total
}
