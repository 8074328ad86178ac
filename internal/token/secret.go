package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/text"
)

// prefix is common to all secrets, so that scanners for leaked secrets can find them.
const prefix = "cordon_"

// digest is the stored hash of a secret. It is neither salted nor slow: a secret has 256
// random bits, which nobody can guess.
type digest [sha256.Size]byte

// New makes a secret, which is shown once, and its hash, which is stored.
func New() (secret, hash string) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails: the runtime would crash instead
	secret = prefix + hex.EncodeToString(random[:])
	return secret, Hash(secret)
}

// Hash returns the form of a secret in a token file.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func parseDigest(text string) (d digest, err error) {
	if strings.HasPrefix(text, prefix) {
		return d, fmt.Errorf("is a secret, not its hash: remove it, create a new one with cordon token new, and write its SHA-256")
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(d) {
		return d, fmt.Errorf("%q is not a SHA-256 hash: write 64 digits, 0 to 9 and a to f", shorten(text))
	}
	if d = digest(b); d == sha256.Sum256(nil) || d == sha256.Sum256([]byte("\n")) {
		return d, fmt.Errorf("is the hash of empty text: the secret was missing when it was made")
	}
	return d, nil
}

// shorten keeps messages readable when a value is a whole file.
func shorten(s string) string { return text.Shorten(s, 80) }
