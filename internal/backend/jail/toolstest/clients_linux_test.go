package toolstest

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
	"github.com/cordon-sandbox/cordon/policy"
	"github.com/cordon-sandbox/cordon/run"
)

// testClients runs ordinary programs that fetch things. Only their environment names the
// proxy.
func testClients(t *testing.T, n *internet, p policy.Policy) {
	hosttest.Needs(t, "curl", "wget", "git", "python3")
	p = strictPolicy(p)
	for _, client := range []struct {
		name string
		test func(*testing.T, *workshop)
	}{
		{"curl", func(t *testing.T, w *workshop) {
			for _, url := range []string{
				"https://allowed.test.example/", "http://allowed.test.example/", "https://a.cdn.test.example/",
				"https://ALLOWED.Test.Example/", "https://allowed.test.example./", "https://six.test.example/",
			} {
				reaches(t, w.run("curl", "-sS", url), "hello from")
			}
			// An international name, in both forms.
			reaches(t, w.run("curl", "-sS", "https://bücher.test.example/"), "hello from 93.184.216.34 to xn--bcher-kva.test.example")
			reaches(t, w.run("curl", "-sS", "https://xn--bcher-kva.test.example/"), "hello from 93.184.216.34")
		}},
		{"wget", func(t *testing.T, w *workshop) {
			// It has no variable for that.
			w.put("wgetrc", "ca_certificate = "+w.path("ca.pem")+"\n")
			w.env["WGETRC"] = w.path("wgetrc")
			w.ok("wget", "-q", "-O", "page", "https://allowed.test.example/")
			w.ok("wget", "-q", "-O", "plain", "http://allowed.test.example/")
			if !strings.Contains(w.get("page"), "hello from") || !strings.Contains(w.get("plain"), "hello from") {
				t.Errorf("wget fetched %q, %q", w.get("page"), w.get("plain"))
			}
		}},
		{"git", func(t *testing.T, w *workshop) {
			w.ok("git", "clone", "-q", "https://allowed.test.example/git/repo.git")
			if got := w.get("repo/README"); got != "served by git\n" {
				t.Errorf("git fetched %q", got)
			}
			w.ok("git", "-C", "repo", "fetch", "-q", "--all")
			w.ok("git", "ls-remote", "https://allowed.test.example/git/repo.git")
		}},
		{"pip", func(t *testing.T, w *workshop) {
			w.ok(append(pip(t), "download", "--quiet", "--disable-pip-version-check", "--index-url", "https://allowed.test.example/simple/", "tiny")...)
			if !strings.HasPrefix(w.get(wheelName), "PK") {
				t.Error("pip fetched something else")
			}
		}},
		{"npm", func(t *testing.T, w *workshop) {
			hosttest.NeedsExtra(t, hosttest.NPM)
			const registry = "--registry=https://allowed.test.example/npm/"
			w.env["npm_config_update_notifier"], w.env["npm_config_audit"], w.env["npm_config_fund"] = "false", "false", "false"
			w.want("1.0.0", "npm", "view", registry, "tiny", "version")
			w.put("package.json", `{"name": "user", "version": "1.0.0"}`)
			w.ok("npm", "install", registry, "tiny")
			w.want("tiny from the registry", "node", "-p", "require('tiny')")
		}},
		{"node", testNodeClient},
		{"python", func(t *testing.T, w *workshop) {
			r := w.python(`
import urllib.request
for scheme in ("http", "https"):
    print(urllib.request.urlopen(scheme + "://allowed.test.example/").read().decode())
`)
			reaches(t, r, "hello from 93.184.216.34 to allowed.test.example")
		}},
		{"go", func(t *testing.T, w *workshop) {
			client := w.bringClient()
			for _, url := range []string{"http://allowed.test.example/", "https://allowed.test.example/"} {
				w.env[fetchVariable] = url
				reaches(t, w.run(client), "hello from")
			}
		}},
		{"perl", func(t *testing.T, w *workshop) {
			hosttest.Needs(t, "perl")
			r := w.request(run.Request{Command: run.Command{Args: []string{"perl"}}, Stdin: `use HTTP::Tiny; my $r = HTTP::Tiny->new->get("http://allowed.test.example/"); print $r->{content};`})
			reaches(t, r, "hello from")
		}},
	} {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			w := online(t, n, p)
			client.test(t, w)
		})
	}
}

// testNodeClient uses fetch, which reads the environment since Node.js 22.21 and 24.5. Older
// versions need an option.
func testNodeClient(t *testing.T, w *workshop) {
	hosttest.NeedsExtra(t, hosttest.Node)
	var major, minor int
	if _, err := fmt.Sscanf(w.ok("node", "--version"), "v%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	r := w.request(run.Request{Command: run.Command{Args: []string{"node", "-"}}, Stdin: `
const proxy = new URL(process.env.https_proxy);
require('http').request({host: proxy.hostname, port: proxy.port, method: 'CONNECT', path: 'allowed.test.example:443'})
  .on('connect', (answer, socket) => {
    if (answer.statusCode !== 200) throw new Error(String(answer.statusCode));
    require('https').get('https://allowed.test.example/', {socket, agent: false}, (response) => response.pipe(process.stdout));
  }).end();
`})
	reaches(t, r, "hello from")
	if major < 22 || major == 22 && minor < 21 || major == 23 || major == 24 && minor < 5 {
		t.Logf("fetch of Node.js %d.%d knows no proxy: not tried", major, minor)
		return
	}
	r = w.request(run.Request{Command: run.Command{Args: []string{"node", "-"}}, Stdin: `
(async () => console.log(await (await fetch('https://allowed.test.example/')).text()))();
`})
	reaches(t, r, "hello from")
}

// pip returns the installed pip, or else the one that venv would install.
func pip(t *testing.T) []string {
	t.Helper()
	if hosttest.FindProgram("pip3") != "" {
		return []string{"python3", "-m", "pip"}
	}
	for _, pattern := range []string{"/usr/share/python-wheels/pip-*.whl", "/usr/lib/python3*/ensurepip/_bundled/pip-*.whl"} {
		if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
			return []string{"python3", found[0] + "/pip"}
		}
	}
	hosttest.Lacks(t, "there is no pip here")
	return nil
}

// The client in Go is this test binary, which fetches a URL instead of running tests if an
// environment variable names one.
const (
	fetchVariable = "CORDON_TEST_FETCH"
	sizeVariable  = "CORDON_TEST_FETCH_SIZE" // how many bytes to read without printing them
	// clientProxyVariable is for addresses for which Go uses no proxy.
	clientProxyVariable = "CORDON_TEST_FETCH_PROXY"
)

func init() {
	if address := os.Getenv(fetchVariable); address != "" {
		if err := fetch(os.Stdout, address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func fetch(w io.Writer, address string) error {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	if proxy, err := url.Parse(os.Getenv(clientProxyVariable)); err == nil && proxy.Host != "" {
		transport.Proxy = http.ProxyURL(proxy)
	}
	response, err := (&http.Client{Transport: transport}).Get(address)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", address, response.Status)
	}
	want, err := strconv.ParseInt(os.Getenv(sizeVariable), 10, 64)
	if err != nil {
		_, err = io.Copy(w, response.Body)
		return err
	}
	if got, err := io.Copy(io.Discard, response.Body); err != nil || got != want {
		return fmt.Errorf("%d bytes instead of %d: %w", got, want, err)
	}
	return nil
}

// bringClient copies this binary into the workspace.
func (w *workshop) bringClient() string {
	w.t.Helper()
	if err := hosttest.CopyOfTest(w.path("client")); err != nil {
		w.t.Fatal(err)
	}
	return "./client"
}
