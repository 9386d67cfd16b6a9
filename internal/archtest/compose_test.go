package archtest_test

import (
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// composeFile is what the test looks at in docker-compose.temporal.yml.
type composeFile struct {
	Services map[string]composeService `yaml:"services"`
	Volumes  map[string]any            `yaml:"volumes"`
}

type composeService struct {
	Build       string                      `yaml:"build"`
	Command     []string                    `yaml:"command"`
	DependsOn   map[string]composeCondition `yaml:"depends_on"`
	Environment map[string]string           `yaml:"environment"`
	Healthcheck *struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
	Image   string   `yaml:"image"`
	Ports   []string `yaml:"ports"`
	Volumes []string `yaml:"volumes"`
}

type composeCondition struct {
	Condition string `yaml:"condition"`
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docker-compose.temporal.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var compose composeFile
	if err := yaml.Unmarshal(text, &compose); err != nil {
		t.Fatal(err)
	}
	return compose
}

func TestComposeServices(t *testing.T) {
	t.Parallel()
	compose := readCompose(t)
	want := []string{
		"game-db", "migrate", "serve", "temporal", "temporal-db", "temporal-namespace", "temporal-schema", "temporal-ui", "worker",
	}
	if got := slices.Sorted(maps.Keys(compose.Services)); !slices.Equal(got, want) {
		t.Errorf("services are %v, want %v", got, want)
	}
	for _, name := range []string{"game-db", "serve", "temporal", "temporal-db", "worker"} {
		if check := compose.Services[name].Healthcheck; check == nil || len(check.Test) < 2 {
			t.Errorf("service %s has no health check", name)
		}
	}
	for name, service := range compose.Services {
		for other, need := range service.DependsOn {
			target, ok := compose.Services[other]
			if !ok {
				t.Errorf("service %s depends on %s, which is none", name, other)
			}
			if need.Condition == "service_healthy" && target.Healthcheck == nil {
				t.Errorf("service %s waits for the health of %s, which has no health check", name, other)
			}
		}
	}
}

func TestComposeImagesArePinned(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^([a-z0-9-]+/)?[a-z0-9-]+:\d+\.\d+(\.\d+)?(-[a-z0-9.]+)?$`)
	for name, service := range readCompose(t).Services {
		if service.Build == "" && !pinned.MatchString(service.Image) {
			t.Errorf("service %s: image %q is not a plain name with a full version", name, service.Image)
		}
	}
	dockerfile, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	bases := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(string(dockerfile), -1)
	if len(bases) < 2 {
		t.Errorf("Dockerfile has %d stages, want a build and a run stage", len(bases))
	}
	for _, base := range bases {
		if !pinned.MatchString(base[1]) {
			t.Errorf("Dockerfile: image %q is not a plain name with a full version", base[1])
		}
	}
	if !regexp.MustCompile(`(?m)^USER \w+`).Match(dockerfile) {
		t.Error("Dockerfile: the binary runs as root")
	}
}

func TestComposeStaysOnThisMachine(t *testing.T) {
	t.Parallel()
	compose := readCompose(t)
	for name, service := range compose.Services {
		for _, port := range service.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("service %s publishes %s; publish on 127.0.0.1", name, port)
			}
		}
	}
	for _, database := range []string{"game-db", "temporal-db"} {
		if _, declared := compose.Volumes[database]; !declared {
			t.Errorf("volume %s is not declared", database)
		}
		if !slices.Contains(compose.Services[database].Volumes, database+":/var/lib/postgresql/data") {
			t.Errorf("service %s does not keep its data in the volume %s", database, database)
		}
	}
}

// TestComposeSettingsAreRead compares the environment of the covel services
// with the variables that the sources name.
func TestComposeSettingsAreRead(t *testing.T) {
	t.Parallel()
	words := stringLiterals(t)
	for name, service := range readCompose(t).Services {
		if service.Build == "" {
			continue
		}
		for _, needed := range []string{"COVEL_DATABASE_URL", "COVEL_DATA_DIR", "COVEL_LLM_CONFIG", "TEMPORAL_ADDRESS", "TEMPORAL_NAMESPACE"} {
			if _, ok := service.Environment[needed]; !ok {
				t.Errorf("service %s does not set %s", name, needed)
			}
		}
		for variable := range service.Environment {
			key := strings.HasSuffix(variable, "_API_KEY") // named by providers
			if !key && !words[variable] {
				t.Errorf("service %s sets %s, which covel does not read", name, variable)
			}
		}
		if len(service.Command) == 0 || !words[service.Command[0]] {
			t.Errorf("service %s runs %v, which is no command of covel", name, service.Command)
		}
	}
}

// stringLiterals are the texts in the sources of the binary.
func stringLiterals(t *testing.T) map[string]bool {
	t.Helper()
	words := make(map[string]bool)
	for _, file := range goFiles(t) {
		if file.test {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			literal, ok := node.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil {
				words[text] = true
			}
			return true
		})
	}
	return words
}
