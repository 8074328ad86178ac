package httpapi

import (
	"container/list"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cordon-sandbox/cordon/internal/jsonform"
	"github.com/cordon-sandbox/cordon/internal/service"
	"github.com/cordon-sandbox/cordon/run"
)

const (
	keyHeader = "Idempotency-Key"
	maxKey    = 255
	// keptFor is how long an answer is kept.
	keptFor = 10 * time.Minute
	// mostKept and mostKeptBytes bound all answers together.
	mostKept      = 10_000
	mostKeptBytes = 64 << 20
	// keptCost is the memory of an answer in addition to its text.
	keptCost = 256
)

// kept is an answer that can be sent again.
type kept struct {
	service.Answer
	runID   string
	discard bool // not to be kept
}

// keyed is the state of the request with one key.
type keyed struct {
	key  string
	hash [sha256.Size]byte // of the request
	done chan struct{}     // closed at its end

	// Set when done is closed:
	ok      bool
	answer  kept
	expires time.Time
}

func (k *keyed) size() int64 { return int64(len(k.key)) + jsonform.Size(k.answer.Result) + keptCost }

// keyStore keeps answers by caller and key. When it is full, the caller with the most bytes
// loses its oldest answer, so that a flood of one caller does not evict the others'.
type keyStore struct {
	mu      sync.Mutex
	callers map[string]*callerKeys
	count   int
	bytes   int64

	most      int
	mostBytes int64
}

// callerKeys has the keys of one caller.
type callerKeys struct {
	byKey map[string]*keyed
	old   list.List // of *keyed that have an answer, the oldest first
	bytes int64
}

func newKeyStore() *keyStore {
	return &keyStore{callers: map[string]*callerKeys{}, most: mostKept, mostBytes: mostKeptBytes}
}

func hasKey(r *http.Request) bool { return len(r.Header.Values(keyHeader)) > 0 }

// byKey calls do, unless it was called for a request with the same key before. Of concurrent
// requests with one key, the first calls do and the others wait.
func (a *api) byKey(w http.ResponseWriter, r *http.Request, body []byte, do func() (kept, error)) (answer kept, err error) {
	if !hasKey(r) {
		return do()
	}
	key := strings.Join(r.Header.Values(keyHeader), ",")
	if !validKey(key) {
		return kept{}, run.Errorf(run.Invalid, "the Idempotency-Key must have 1 to %d printable ASCII characters", maxKey)
	}
	hash := sha256.Sum256(append([]byte(r.URL.Path+"\x00"), body...))
	for {
		k, first := a.keys.begin(who(r.Context()).Name, key, hash)
		if first {
			return a.first(r, k, do)
		}
		if k.hash != hash {
			return kept{}, withStatus(http.StatusUnprocessableEntity, run.Invalid, "the Idempotency-Key was used for another request: take a new one for each, and the same one to repeat it")
		}
		select {
		case <-k.done:
		case <-r.Context().Done():
			return kept{}, r.Context().Err()
		}
		if k.ok {
			again := k.answer
			if again.Answer, err = a.Service.Again(who(r.Context()), again.Result); err != nil {
				return kept{}, err
			}
			w.Header().Set(replayedHeader, "true")
			return again, nil
		}
		// The first request has no answer to keep, so one of the others runs.
	}
}

func (a *api) first(r *http.Request, k *keyed, do func() (kept, error)) (answer kept, err error) {
	ended := false
	defer func() { // also if do panics, because other requests wait
		a.keys.end(who(r.Context()).Name, k, answer, ended && err == nil && !answer.discard)
	}()
	answer, err = do()
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

// begin returns the state of a key. If first is true, the key is new and the caller must
// call end.
func (s *keyStore) begin(caller, key string, hash [sha256.Size]byte) (k *keyed, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.callers[caller]
	if c == nil {
		c = &callerKeys{byKey: map[string]*keyed{}}
		s.callers[caller] = c
	}
	for front := c.old.Front(); front != nil && !time.Now().Before(front.Value.(*keyed).expires); front = c.old.Front() {
		s.forget(c, front)
	}
	if k = c.byKey[key]; k != nil {
		return k, false
	}
	k = &keyed{key: key, hash: hash, done: make(chan struct{})}
	c.byKey[key] = k
	return k, true
}

// end wakes the waiting requests, and keeps the answer if there is one.
func (s *keyStore) end(caller string, k *keyed, answer kept, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer.Answer = service.Answer{Result: answer.Result} // only the first request releases the answer's memory
	k.ok, k.answer, k.expires = ok, answer, time.Now().Add(keptFor)
	close(k.done)
	c := s.callers[caller]
	if !ok || k.size() > s.mostBytes {
		delete(c.byKey, k.key)
		s.tidy(caller)
		return
	}
	c.old.PushBack(k)
	c.bytes += k.size()
	s.bytes += k.size()
	s.count++
	for s.count > s.most || s.bytes > s.mostBytes {
		name := s.heaviest()
		s.forget(s.callers[name], s.callers[name].old.Front())
		s.tidy(name)
	}
}

func (s *keyStore) forget(c *callerKeys, e *list.Element) {
	k := c.old.Remove(e).(*keyed)
	delete(c.byKey, k.key)
	c.bytes -= k.size()
	s.bytes -= k.size()
	s.count--
}

func (s *keyStore) tidy(caller string) {
	if len(s.callers[caller].byKey) == 0 {
		delete(s.callers, caller)
	}
}

// heaviest is the caller with the most bytes kept.
func (s *keyStore) heaviest() (name string) {
	var most int64
	for caller, c := range s.callers {
		if c.bytes > most {
			name, most = caller, c.bytes
		}
	}
	return name
}
