package toolstest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/cgi"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

// internet has the servers of the private internet.
type internet struct {
	dns       *nameServer
	authority string // the certificate that clients must trust, as PEM
	held      chan download

	mu      sync.Mutex
	touched map[netip.AddrPort]int // by the address that was connected to
	seen    []string               // "address Host path" of each request
}

// download is an active download. It is over when done is closed.
type download struct{ done <-chan struct{} }

func startInternet(t *testing.T) *internet {
	t.Helper()
	n := &internet{
		dns:     &nameServer{asked: map[string]int{}},
		touched: map[netip.AddrPort]int{},
		held:    make(chan download, 16),
	}
	packets, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err != nil {
		t.Fatal(err)
	}
	go n.dns.serve(packets)
	t.Cleanup(func() { packets.Close() })

	certificate := n.makeCertificates(t)
	handler := n.handler(t)
	for _, port := range []string{"80", "8080", "443"} {
		n.listen(t, ":"+port, handler, port == "443", certificate)
	}
	// A service that only the host may use.
	n.listen(t, "127.0.0.1:9999", handler, false, certificate)
	n.listen(t, "[::1]:9999", handler, false, certificate)
	return n
}

func (n *internet) listen(t *testing.T, address string, handler http.Handler, secure bool, certificate tls.Certificate) {
	t.Helper()
	plain, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	var l net.Listener = &recordingListener{plain, n}
	if secure {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"http/1.1"}})
	}
	server := &http.Server{Handler: handler, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(l) }() // it ends with Close
	t.Cleanup(func() { server.Close() })
}

// recordingListener records every connection, including those that send nothing.
type recordingListener struct {
	net.Listener
	n *internet
}

func (l *recordingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	address, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return nil, err
	}
	address = netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
	l.n.mu.Lock()
	l.n.touched[address]++
	l.n.mu.Unlock()
	return conn, nil
}

// welcome lists the addresses that the tests' policies allow.
var welcome = []string{
	"93.184.216.34:80", "93.184.216.34:443", "[2606:2800:220:1::34]:80", "[2606:2800:220:1::34]:443",
	"93.184.216.35:443", "10.0.0.7:8080",
	"93.184.216.77:80", "93.184.216.77:443", // only with preflight and none
}

// strangers returns connections to addresses that must never be reached.
func (n *internet) strangers() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []string
	for address := range n.touched {
		if text := address.String(); !slices.Contains(welcome, text) {
			found = append(found, text)
		}
	}
	slices.Sort(found)
	return found
}

func (n *internet) count(address string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.touched[netip.MustParseAddrPort(address)]
}

// requests returns the requests whose line contains a word.
func (n *internet) requests(word string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var found []string
	for _, line := range n.seen {
		if strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return found
}

func (n *internet) handler(t *testing.T) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello from %s to %s\n", localAddress(r).Addr(), r.Host)
	})
	mux.HandleFunc("/big/{size}", func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.ParseInt(r.PathValue("size"), 10, 64)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		sendZeros(w, size)
	})
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	mux.HandleFunc("/upload", func(w http.ResponseWriter, r *http.Request) {
		size, err := io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "got %d bytes, %v\n", size, err)
	})
	// A download that continues until the client is gone.
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		sendZeros(w, 1<<20)
		n.held <- download{r.Context().Done()}
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	// A download that sends nothing more.
	mux.HandleFunc("/silent", func(w http.ResponseWriter, r *http.Request) {
		sendZeros(w, 1<<10)
		_ = http.NewResponseController(w).Flush()
		n.held <- download{r.Context().Done()}
		<-r.Context().Done()
	})
	n.addGit(t, mux)
	addIndex(t, mux)
	addRegistry(t, mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.seen = append(n.seen, fmt.Sprintf("%s %s %s %s", localAddress(r), r.Method, r.Host, r.URL.Path))
		n.mu.Unlock()
		mux.ServeHTTP(w, r)
	})
}

func localAddress(r *http.Request) netip.AddrPort {
	address, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	parsed, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(parsed.Addr().Unmap(), parsed.Port())
}

func sendZeros(w io.Writer, size int64) {
	zeros := make([]byte, 256<<10)
	for size > 0 {
		n, err := w.Write(zeros[:min(size, int64(len(zeros)))])
		if err != nil {
			return
		}
		size -= int64(n)
	}
}

// addGit serves a repository with git's own server program.
func (n *internet) addGit(t *testing.T, mux *http.ServeMux) {
	t.Helper()
	hosttest.Needs(t, "git")
	root := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@test.example", "GIT_COMMITTER_NAME=A",
			"GIT_COMMITTER_EMAIL=a@test.example", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	work := filepath.Join(root, "work")
	git("init", "-q", "-b", "main", work)
	if err := os.WriteFile(filepath.Join(work, "README"), []byte("served by git\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git("-C", work, "add", ".")
	git("-C", work, "commit", "-q", "-m", "first")
	git("clone", "-q", "--bare", work, filepath.Join(root, "repo.git"))
	mux.Handle("/git/", &cgi.Handler{
		Path: filepath.Join(git("--exec-path"), "git-http-backend"), Root: "/git",
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1"},
	})
}

// addIndex serves a package according to PEP 503.
func addIndex(t *testing.T, mux *http.ServeMux) {
	t.Helper()
	data := wheel(t)
	sum := sha256.Sum256(data)
	mux.HandleFunc("/simple/tiny/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!DOCTYPE html><html><body><a href="/files/%s#sha256=%x">%[1]s</a></body></html>`, wheelName, sum)
	})
	mux.HandleFunc("/files/"+wheelName, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
}

// addRegistry serves a package to npm.
func addRegistry(t *testing.T, mux *http.ServeMux) {
	t.Helper()
	var buffer bytes.Buffer
	compressed := gzip.NewWriter(&buffer)
	archive := tar.NewWriter(compressed)
	for name, text := range map[string]string{
		"package/package.json": `{"name": "tiny", "version": "1.0.0", "main": "index.js"}`,
		"package/index.js":     "module.exports = 'tiny from the registry';\n",
	} {
		err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = archive.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	data := buffer.Bytes()
	old, sum := sha1.Sum(data), sha512.Sum512(data)
	mux.HandleFunc("/npm/tiny", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": "tiny", "dist-tags": map[string]string{"latest": "1.0.0"},
			"versions": map[string]any{"1.0.0": map[string]any{
				"name": "tiny", "version": "1.0.0", "main": "index.js",
				"dist": map[string]string{
					"tarball":   "https://" + r.Host + "/npm/tiny/-/tiny-1.0.0.tgz",
					"shasum":    hex.EncodeToString(old[:]),
					"integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:]),
				},
			}},
		})
	})
	mux.HandleFunc("/npm/tiny/-/tiny-1.0.0.tgz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) })
}

// makeCertificates makes an authority and one certificate that is valid for all servers,
// including the evil one: only the proxy must stop connections.
func (n *internet) makeCertificates(t *testing.T) tls.Certificate {
	t.Helper()
	make1 := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour)
		if parent == nil {
			parent, signer = template, key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		return der, key
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority for tests"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, SubjectKeyId: []byte("authority"),
	}
	caDER, caKey := make1(authority, nil, nil)
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "test.example"}, AuthorityKeyId: []byte("authority"),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"*.test.example", "*.cdn.test.example", "*.inside.test.example", "*.evil.test.example", "test.example"},
		IPAddresses: []net.IP{net.ParseIP("93.184.216.34"), net.ParseIP(evilAddress), net.ParseIP("10.0.0.7")},
	}
	der, key := make1(leaf, authority, caKey)
	n.authority = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}))
	return tls.Certificate{Certificate: [][]byte{der, caDER}, PrivateKey: key}
}
