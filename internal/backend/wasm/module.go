package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/cordon-sandbox/cordon/internal/backend/wasm/engine"
	"github.com/cordon-sandbox/cordon/internal/backend/wasm/memory"
	"github.com/cordon-sandbox/cordon/internal/wasmbin"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// Module is a module that a Runner has opened.
type Module struct {
	backend *Backend
	digest  string
	code    *engine.Module

	mu     sync.Mutex
	runs   int // under way
	closed bool
}

// OpenModule checks and compiles a module. It waits for a turn, because it is as much work as
// a run, and the engine must not be closed in the meantime.
func (b *Backend) OpenModule(ctx context.Context, binary []byte) (*Module, error) {
	pass, err := b.gate.Enter(ctx)
	if err != nil {
		return nil, err
	}
	defer pass.Leave()
	code, err := b.engine.Compile(ctx, binary, wasmbin.Metering{Grain: wasmbin.Exact, Stack: true})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(binary)
	return &Module{backend: b, code: code, digest: hex.EncodeToString(sum[:])}, nil
}

// stackWords bounds the nesting of calls, in words of eight bytes. Each call is charged with
// the maximum that it could need, several times what it does need.
const stackWords = 4 << 20

// Digest returns the SHA-256 of the module's file.
func (m *Module) Digest() string { return m.digest }

// Close frees the compiled code after all runs have ended.
func (m *Module) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.closed = true
	return m.free()
}

// begin registers a run, and end its end.
func (m *Module) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return run.Errorf(run.Closed, "the module is closed")
	}
	m.runs++
	return nil
}

func (m *Module) end() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.runs--
	return m.free()
}

func (m *Module) free() error {
	if !m.closed || m.runs > 0 {
		return nil
	}
	return m.code.Close()
}

// fits checks that the initial memory of a module is within the limit.
func (m *Module) fits(limit policy.Bytes) error {
	if own := m.code.Memory; own != nil && own.Min*memory.Page > int64(limit) {
		return fmt.Errorf("the module starts with %v of memory, above the limit of %v", policy.Bytes(own.Min*memory.Page), limit)
	}
	return nil
}
