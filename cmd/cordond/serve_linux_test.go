package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/token"
)

func TestServeRuns(t *testing.T) {
	r := start(t)
	info, err := os.Stat(r.socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	if status, answer := r.ask("POST", "/v1/runs", `{"script": "result = 6 * 7"}`); status != 200 || !strings.Contains(answer, `"result":42`) {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := r.ask("POST", "/v1/runs", `{"command": ["ls"]}`); status != 403 {
		t.Errorf("a command: %d %s", status, answer)
	}
	for _, path := range []string{"/healthz", "/readyz", "/v1/info", "/openapi.json"} {
		if status, answer := r.ask("GET", path, ""); status != 200 {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if status, answer := r.ask("POST", "/mcp", hello, "Accept: application/json, text/event-stream"); status != 200 || !strings.Contains(answer, "cordon") {
		t.Errorf("/mcp: %d %s", status, answer)
	}
	r.signal(syscall.SIGTERM)
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if log := r.log.String(); !strings.Contains(log, "tls=false") {
		t.Errorf("the log does not say that there is no TLS:\n%s", log)
	}
	if _, err := os.Lstat(r.socket); !os.IsNotExist(err) {
		t.Errorf("the socket stays: %v", err)
	}
}

// After SIGTERM, runs under way complete, new requests are refused, and the health
// endpoint says so.
func TestServeDrains(t *testing.T) {
	r := start(t)
	events, hangUp := r.begin("import sys\nprint('begun', flush=True)\nimport time\ntime.sleep(1.5)\nresult = 42")
	defer hangUp()
	r.signal(syscall.SIGTERM)
	r.hear("STOPPING=1")
	// The service has received the signal; it refuses new requests right after.
	for {
		status, answer := r.ask("POST", "/v1/runs", `{"script": "pass"}`)
		if status == http.StatusServiceUnavailable {
			break
		}
		if status != 200 {
			t.Fatalf("%d %s", status, answer)
		}
	}
	if status, _ := r.ask("GET", "/readyz", ""); status != http.StatusServiceUnavailable {
		t.Errorf("/readyz: %d", status)
	}
	if status, _ := r.ask("GET", "/healthz", ""); status != http.StatusOK {
		t.Errorf("/healthz: %d", status)
	}
	rest, err := io.ReadAll(events)
	if err != nil || !strings.Contains(string(rest), `"result":42`) {
		t.Errorf("the run: %v\n%s", err, rest)
	}
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// When the grace period is over, guests are killed.
func TestServeGraceEnds(t *testing.T) {
	r := start(t, "--grace", "200ms")
	events, hangUp := r.begin("print('begun', flush=True)\nwhile True: pass")
	defer hangUp()
	began := time.Now()
	r.signal(syscall.SIGTERM)
	rest, err := io.ReadAll(events)
	if took := time.Since(began); err != nil || !strings.Contains(string(rest), "event: error") || !strings.Contains(string(rest), `"class":"closed"`) || !strings.Contains(string(rest), "the service has ended") || took > 15*time.Second {
		t.Errorf("the run, after %v: %v\n%s", took, err, rest)
	}
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(r.log.String(), "the grace period is over") {
		t.Error("the log does not say so")
	}
}

func TestServeSecondSignal(t *testing.T) {
	r := start(t)
	_, hangUp := r.begin("print('begun', flush=True)\nwhile True: pass")
	defer hangUp()
	r.signal(syscall.SIGTERM)
	r.hear("STOPPING=1")
	r.signal(syscall.SIGINT)
	if code := r.wait(); code != 130 {
		t.Errorf("exit code %d", code)
	}
}

// A renewed certificate is loaded without a restart.
func TestServeTLS(t *testing.T) {
	directory := t.TempDir()
	cert, key := filepath.Join(directory, "cert.pem"), filepath.Join(directory, "key.pem")
	trust := writeCertificate(t, cert, key)
	r := start(t, "--tls-cert", cert, "--tls-key", key)
	config := &tls.Config{ServerName: "localhost"}
	ask := func(roots *x509.CertPool) error {
		client := clientOf(t, "unix", r.socket)
		transport := client.Transport.(*http.Transport)
		transport.TLSClientConfig = config.Clone()
		transport.TLSClientConfig.RootCAs = roots
		defer transport.CloseIdleConnections()
		res, err := client.Get("https://localhost/healthz")
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	if err := ask(trust); err != nil {
		t.Error(err)
	}
	config.MinVersion, config.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	if err := ask(trust); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("an old TLS: %v", err)
	}
	config.MinVersion, config.MaxVersion = 0, 0
	renewed := writeCertificate(t, cert, key)
	r.signal(syscall.SIGHUP)
	r.hear("RELOADING=1")
	r.hear("READY=1")
	if err := ask(renewed); err != nil {
		t.Errorf("the new one: %v", err)
	}
	if err := ask(trust); err == nil {
		t.Error("the old one is still in use")
	}
	if log := r.wholeLog(); !strings.Contains(log, "tls=true") {
		t.Errorf("the log does not say that there is TLS:\n%s", log)
	}
}

// writeCertificate makes a certificate for localhost, and returns a pool that trusts it.
func writeCertificate(t *testing.T, cert, key string) *x509.CertPool {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	says := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	signed, err := x509.CreateCertificate(rand.Reader, says, says, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(signed)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}

// The service feeds systemd's watchdog until it ends.
func TestServeWatchdog(t *testing.T) {
	t.Setenv("WATCHDOG_USEC", "20000")
	r := start(t)
	r.hear("WATCHDOG=1")
	_, hangUp := r.begin("print('begun', flush=True)\nwhile True: pass")
	defer hangUp()
	r.signal(syscall.SIGTERM)
	r.hear("STOPPING=1")
	r.hear("WATCHDOG=1") // or it would be killed during the grace period
	r.signal(syscall.SIGTERM)
	if code := r.wait(); code != 143 {
		t.Errorf("exit code %d", code)
	}
}

// Every run is in the audit log and in the metrics, which are at their own address.
func TestServeObserved(t *testing.T) {
	directory := t.TempDir()
	log, key := filepath.Join(directory, "audit.jsonl"), filepath.Join(directory, "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, "--audit-file", log, "--audit-key", key, "--audit-required", "--metrics-listen", "127.0.0.1:0", "--log-format", "json")
	if status, answer := r.ask("POST", "/v1/runs", `{"script": "print('not to be recorded')"}`); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	if status, answer := r.ask("POST", "/v1/runs", `{"scrip": ""}`); status != 400 {
		t.Errorf("a wrong request: %d %s", status, answer)
	}
	// The observers log this run, and the frontend does not log it again.
	if status, answer := r.ask("POST", "/v1/runs", `{"command": ["ls"]}`); status != 403 {
		t.Errorf("a command: %d %s", status, answer)
	}
	if status, answer := r.ask("POST", "/v1/hooks", `{"script": "result['output'] = 1"}`); status != 201 {
		t.Errorf("a hook: %d %s", status, answer)
	}
	if status, answer := r.ask("POST", "/v1/sessions", `{}`); status != 201 {
		t.Errorf("a session: %d %s", status, answer)
	}
	if status, _ := r.ask("GET", "/metrics", ""); status != http.StatusNotFound {
		t.Errorf("/metrics at the first address: %d", status)
	}
	found := r.logged(`"address":"(127\.0\.0\.1:\d+)"`)
	main := r.client
	r.client = clientOf(t, "tcp", found[1])
	status, text := r.ask("GET", "/metrics", "")
	for _, want := range []string{
		`sandbox_run_duration_seconds_count{status="ok",tier="process"} 1`,
		`cordon_requests_refused_total{class="invalid",frontend="http"} 1`,
		`cordon_requests_refused_total{class="forbidden",frontend="http"} 1`,
		"cordon_hooks_open 1", "cordon_sessions_open 1",
	} {
		if status != 200 || !strings.Contains(text, want) {
			t.Errorf("%d, without %s:\n%s", status, want, text)
		}
	}
	if status, _ := r.ask("POST", "/v1/runs", `{"script": "pass"}`); status != http.StatusNotFound {
		t.Errorf("a run where the metrics are: %d", status)
	}
	r.client = main
	r.signal(syscall.SIGTERM)
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, args := range [][]string{{"tail"}, {"verify", "--key", key}} {
		out, err := exec.Command(filepath.Join(programDirectory(t), "cordon"), append([]string{"audit", args[0], "--file", log}, args[1:]...)...).CombinedOutput()
		if err != nil || args[0] == "tail" && !strings.Contains(string(out), "local") {
			t.Errorf("cordon audit %s: %v\n%s", args[0], err, out)
		}
	}
	if text, err := os.ReadFile(log); err != nil || strings.Contains(string(text), "not to be recorded") {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestServeTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, firstHash := token.New()
	second, secondHash := token.New()
	write("tokens: [{name: a, sha256: " + firstHash + "}]")
	r := start(t, "--tokens", file, "--log-level", "debug")
	status := func(secret string) int {
		got, _ := r.ask("POST", "/v1/runs", `{"script": "pass"}`, "Authorization: Bearer "+secret)
		return got
	}
	if a, b := status(first), status(second); a != 200 || b != 401 {
		t.Errorf("%d and %d", a, b)
	}
	write("tokens: x")
	r.signal(syscall.SIGHUP)
	r.hear("RELOADING=1")
	r.hear("READY=1")
	if a := status(first); a != 200 {
		t.Errorf("after a file with a mistake: %d", a)
	}
	write("tokens: [{name: b, sha256: " + secondHash + "}]")
	r.signal(syscall.SIGHUP)
	r.hear("RELOADING=1")
	r.hear("READY=1")
	if a, b := status(first), status(second); a != 401 || b != 200 {
		t.Errorf("after the rotation: %d and %d", a, b)
	}
	log := r.wholeLog()
	for _, secret := range []string{first, second, "cordon_"} {
		if strings.Contains(log, secret) {
			t.Errorf("the log has the secret %s", secret)
		}
	}
}

// systemd opens the socket, and starts the service at the first connection.
func TestServeSocketActivation(t *testing.T) {
	socket := filepath.Join(short(t), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Net: "unix", Name: socket})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.Chmod(socket, 0o600); err != nil {
		t.Fatal(err)
	}
	// The address of the flag is not opened: it would need tokens.
	r, err := startActivated(t, l, "--listen", ":0")
	if err != nil {
		t.Fatal(err)
	}
	r.client = clientOf(t, "unix", socket)
	r.hear("READY=1")
	if status, answer := r.ask("POST", "/v1/runs", `{"script": "result = 6 * 7"}`); status != 200 {
		t.Errorf("%d %s", status, answer)
	}
	r.signal(syscall.SIGTERM)
	if code := r.wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("the socket, which is not ours, is gone: %v", err)
	}
	if err := os.Chmod(socket, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err = startActivated(t, l)
	if err != nil {
		t.Fatal(err)
	}
	if code := r.wait(); code != 2 || !strings.Contains(r.log.String(), "set SocketMode=0600") {
		t.Errorf("a socket of everybody: exit code %d\n%s", code, r.log)
	}
}

// startActivated starts the service with a socket, as systemd does. A shell knows the pid of
// the service in advance, which LISTEN_PID has to be.
func startActivated(t *testing.T, l interface{ File() (*os.File, error) }, args ...string) (*runningService, error) {
	t.Helper()
	file, err := l.File()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	words := append([]string{"-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" serve "$@"`, filepath.Join(programDirectory(t), "cordon")}, args...)
	cmd := exec.Command("sh", words...)
	cmd.ExtraFiles = []*os.File{file}
	return launch(t, cmd), nil
}
