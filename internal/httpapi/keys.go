package httpapi

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/kept"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	keyHeader = "Idempotency-Key"
	maxKey    = 255
	// keptCost is the memory of an answer in addition to its text.
	keptCost = 256
)

// keptAnswers bounds the answers that are kept by key. One caller may have all of them, as long
// as others need none.
var keptAnswers = kept.Options[*keyed]{For: 10 * time.Minute, PerOwner: mostKept, Total: mostKept}

var mostKept = kept.Bound{Count: 10_000, Bytes: 64 << 20}

// given is an answer that can be given again.
type given struct {
	service.Answer
	runID   string
	pending *service.RunInfo // of an asynchronous run, which has the Result
	discard bool             // not to be kept
}

// keyed is the state of the request with one key.
type keyed struct {
	hash [sha256.Size]byte // of the request
	done chan struct{}     // closed when it has an answer, or none to keep

	// Set when done is closed:
	ok     bool
	answer given
}

func sizeOf(key string, answer given) int64 {
	return int64(len(key)) + jsonform.Size(answer.Result) + keptCost
}

func hasKey(r *http.Request) bool { return len(r.Header.Values(keyHeader)) > 0 }

// byKey calls do, unless it was called for a request with the same key before. Of concurrent
// requests with one key, the first calls do and the others wait. kind tells requests with the
// same path and body apart. For an asynchronous run, do calls ended when the run has ended.
func (a *api) byKey(w http.ResponseWriter, r *http.Request, kind string, body []byte, do func(ended func(error)) (given, error)) (answer given, err error) {
	if !hasKey(r) {
		return do(func(error) {})
	}
	key := strings.Join(r.Header.Values(keyHeader), ",")
	if !validKey(key) {
		return given{}, run.Errorf(run.Invalid, "the Idempotency-Key must have 1 to %d printable ASCII characters", maxKey)
	}
	hash := sha256.Sum256(append([]byte(r.URL.Path+"\x00"+kind+"\x00"), body...))
	for {
		one, first := a.keys.Begin(who(r.Context()).Name, key, &keyed{hash: hash, done: make(chan struct{})})
		if first {
			return a.first(one, do)
		}
		k := one.Value
		if k.hash != hash {
			return given{}, withStatus(http.StatusUnprocessableEntity, run.Invalid, "the Idempotency-Key was used for another request: take a new one for each, and the same one to repeat it")
		}
		select {
		case <-k.done:
		case <-r.Context().Done():
			return given{}, r.Context().Err()
		}
		if !k.ok {
			continue // the first request has no answer to keep, so one of the others runs
		}
		again := k.answer
		if again.pending != nil {
			info, err := a.Service.PendingRun(who(r.Context()), again.runID)
			if err != nil {
				a.keys.Drop(one) // the run is forgotten
				continue
			}
			again.pending = &info
		} else if again.Answer, err = a.Service.Again(who(r.Context()), again.Result); err != nil {
			return given{}, err
		}
		w.Header().Set(replayedHeader, "true")
		return again, nil
	}
}

// first calls do for the first request with a key. The key of an asynchronous run lasts until
// the run has ended, and from then on as long as its Result.
func (a *api) first(one *kept.Item[*keyed], do func(ended func(error)) (given, error)) (answer given, err error) {
	ended := false
	defer func() { // also if do panics, because other requests wait
		k := one.Value
		k.ok, k.answer = ended && err == nil && !answer.discard, answer
		k.answer.Answer = service.Answer{Result: answer.Result} // only the first request releases the answer's memory
		switch {
		case !k.ok:
			a.keys.Drop(one)
		case answer.pending == nil:
			a.keys.Keep(one, sizeOf(one.Key, answer))
		}
		close(k.done)
	}()
	answer, err = do(func(err error) {
		if err != nil {
			a.keys.Drop(one)
			return
		}
		a.keys.Keep(one, sizeOf(one.Key, given{}))
	})
	ended = true
	return answer, err
}

func validKey(key string) bool {
	if key == "" || len(key) > maxKey {
		return false
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return false
		}
	}
	return true
}
