package main

import (
	"crypto/tls"
	"sync/atomic"

	"github.com/cordon-sandbox/cordon/run"
)

// certificate can be read again when it is renewed, without a restart.
type certificate struct {
	cert, key string
	now       atomic.Pointer[tls.Certificate]
}

// openCertificate returns nil if no certificate is configured.
func openCertificate(cert, key string) (*certificate, error) {
	if cert == "" {
		return nil, nil
	}
	c := &certificate{cert: cert, key: key}
	return c, c.reload()
}

func (c *certificate) reload() error {
	if c == nil {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return run.Errorf(run.Invalid, "--tls-cert %s, --tls-key %s: %w", c.cert, c.key, err)
	}
	c.now.Store(&pair)
	return nil
}

// config returns the configuration for a server; nil without a certificate.
func (c *certificate) config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil },
	}
}
