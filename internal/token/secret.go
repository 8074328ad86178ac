package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cordon-sandbox/cordon/internal/text"
)

// prefix is the same for all secrets, so that who scans for leaked ones can find them.
const prefix = "cordon_"

// digest is what is known of a secret. It is not salted or slow: a secret has 256 bits of
// chance, so that there is nothing to guess.
type digest [sha256.Size]byte

// New makes a secret, which is shown once, and its hash, which is kept.
func New() (secret, hash string) {
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails: the program would end instead
	secret = prefix + hex.EncodeToString(random[:])
	return secret, Hash(secret)
}

// Hash is what a token file has of a secret.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func parseDigest(text string) (d digest, err error) {
	if strings.HasPrefix(text, prefix) {
		return d, fmt.Errorf("is a secret, not its hash: take it out, make a new one, and write the SHA-256 of that")
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(d) {
		return d, fmt.Errorf("%q is not a SHA-256 hash: it has 64 digits, from 0 to 9 and a to f", shorten(text))
	}
	if d = digest(b); d == sha256.Sum256(nil) || d == sha256.Sum256([]byte("\n")) {
		return d, fmt.Errorf("is the hash of nothing: was the secret there when it was made?")
	}
	return d, nil
}

// shorten keeps messages readable when a value is a whole file.
func shorten(s string) string { return text.Shorten(s, 80) }
