package deploy_test

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/cordon-sandbox/cordon/internal/hosttest"
)

const chart = "helm/cordon"

func helm(t *testing.T, args ...string) (string, error) {
	t.Helper()
	hosttest.OnlyLong(t, "helm takes minutes to build")
	cmd := exec.CommandContext(t.Context(), tool(t, "helm"), args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = errors.Join(err, errors.New(errs.String()+string(out)))
	}
	return string(out), err
}

func render(t *testing.T, args ...string) string {
	t.Helper()
	out, err := helm(t, append([]string{"template", "cordon", chart, "--namespace", "cordon", "--kube-version", "1.33.0"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// object is the part of a manifest that these tests read.
type object struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				AutomountServiceAccountToken *bool `yaml:"automountServiceAccountToken"`
				HostUsers                    *bool `yaml:"hostUsers"`
				TerminationGrace             int   `yaml:"terminationGracePeriodSeconds"`
				SecurityContext              struct {
					RunAsNonRoot   bool `yaml:"runAsNonRoot"`
					RunAsUser      int  `yaml:"runAsUser"`
					SeccompProfile struct{ Type string }
				} `yaml:"securityContext"`
				Containers []struct {
					Args            []string
					Resources       map[string]map[string]string
					SecurityContext struct {
						AllowPrivilegeEscalation *bool `yaml:"allowPrivilegeEscalation"`
						ReadOnlyRootFilesystem   bool  `yaml:"readOnlyRootFilesystem"`
						Privileged               bool
						ProcMount                string `yaml:"procMount"`
						Capabilities             struct{ Drop, Add []string }
					} `yaml:"securityContext"`
					Startup   map[string]any `yaml:"startupProbe"`
					Liveness  map[string]any `yaml:"livenessProbe"`
					Readiness map[string]any `yaml:"readinessProbe"`
				}
			}
		}
	}
}

func objects(t *testing.T, text string) map[string]object {
	t.Helper()
	all := map[string]object{}
	for decoder := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var o object
		switch err := decoder.Decode(&o); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		}
		if o.Kind != "" {
			all[o.Kind] = o
		}
	}
}

func TestManifestsAreHardened(t *testing.T) {
	all := objects(t, string(read(t, "kubernetes/cordon.yaml"))+"\n---\n"+string(read(t, "kubernetes/servicemonitor.yaml")))
	for _, kind := range []string{"Deployment", "Service", "NetworkPolicy", "PodDisruptionBudget", "ServiceMonitor"} {
		if _, there := all[kind]; !there {
			t.Errorf("the chart has no %s", kind)
		}
	}
	safe(t, all["Deployment"])
}

func safe(t *testing.T, o object) {
	t.Helper()
	pod := o.Spec.Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers", len(pod.Containers))
	}
	c := pod.Containers[0]
	s := c.SecurityContext
	switch {
	case !pod.SecurityContext.RunAsNonRoot || pod.SecurityContext.RunAsUser == 0:
		t.Error("it may run as root")
	case s.Privileged, s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation, len(s.Capabilities.Add) > 0, len(s.Capabilities.Drop) != 1 || s.Capabilities.Drop[0] != "ALL":
		t.Error("it may gain privileges")
	case !s.ReadOnlyRootFilesystem:
		t.Error("it may write to its root")
	case pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken:
		t.Error("it gets a token of the cluster")
	case c.Startup == nil || c.Liveness == nil || c.Readiness == nil:
		t.Error("a probe is missing")
	case c.Resources["requests"]["memory"] == "" || c.Resources["limits"]["memory"] == "":
		t.Error("its memory has no limit")
	case pod.TerminationGrace <= 30:
		t.Errorf("%d seconds are too short for the grace period of 30", pod.TerminationGrace)
	}
}

func TestChartLints(t *testing.T) {
	if out, err := helm(t, "lint", "--strict", "--kube-version", "1.33.0", chart); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestManifestsMatchTheChart(t *testing.T) {
	for name, args := range map[string][]string{
		"kubernetes/cordon.yaml":         nil,
		"kubernetes/servicemonitor.yaml": {"--set", "serviceMonitor.enabled=true", "--show-only", "templates/servicemonitor.yaml"},
	} {
		if got := render(t, args...); got != string(read(t, name)) {
			t.Errorf("%s is not the output of `helm template cordon deploy/%s --namespace cordon --kube-version 1.33.0 %s`: write it again", name, chart, strings.Join(args, " "))
		}
	}
}

func TestChartWithEverySetting(t *testing.T) {
	text := render(t, "--set", "namespaces=true,runtimeClassName=gvisor,serviceMonitor.enabled=true,serviceMonitor.tokenSecret=scrape,audit.existingClaim=kept",
		"--set-json", `env=[{"name":"OTEL_EXPORTER_OTLP_ENDPOINT","value":"http://collector:4318"}]`,
		"--set-json", `nodeSelector={"disk":"ssd"}`, "--set-string", "policy=tier: process")
	all := objects(t, text)
	deployment := all["Deployment"]
	safe(t, deployment)
	pod := deployment.Spec.Template.Spec
	if pod.HostUsers == nil || *pod.HostUsers || pod.Containers[0].SecurityContext.ProcMount != "Unmasked" {
		t.Error("guests have no namespaces although namespaces is true")
	}
	for _, want := range []string{"--policy=/etc/cordon/policy/policy.yaml", "    tier: process", "claimName: kept", "runtimeClassName: gvisor", "key: token", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		if !strings.Contains(text, want) {
			t.Errorf("the chart's output has no %q", want)
		}
	}
}

func TestChartRefusesUnknownSettings(t *testing.T) {
	for name, set := range map[string]string{
		"a misspelt value": "replica=3", "no replicas": "replicas=0", "no tokens": "tokensSecret=", "a port that is none": "service.port=99999",
	} {
		if out, err := helm(t, "template", "x", chart, "--kube-version", "1.33.0", "--set", set); err == nil {
			t.Errorf("%s (%s) was accepted:\n%.200s", name, set, out)
		}
	}
}
