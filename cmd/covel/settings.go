package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/covel-engine/covel/turn"
	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settings say where things are. The first of flag, environment, covel.toml in
// the working directory and default wins.
type settings struct {
	dataDir  string
	database string
	json     bool
	llm      string
	plugins  string
	temporal string // embedded or an address
	worlds   string
}

// settingsFile is the shape of covel.toml.
type settingsFile struct {
	Data     string `toml:"data"`
	Database string `toml:"database"`
	LLM      string `toml:"llm"`
	Plugins  string `toml:"plugins"`
	Temporal string `toml:"temporal"`
	Worlds   string `toml:"worlds"`
}

// temporalEmbedded runs Temporal inside this process.
const temporalEmbedded = "embedded"

func (s *settings) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&s.dataDir, "data", "", "data directory of the embedded engine (COVEL_DATA_DIR, default ./.covel)")
	flags.StringVar(&s.database, "database", "", "database URL: sqlite://PATH or postgres://… (COVEL_DATABASE_URL, default <data>/covel.db)")
	flags.BoolVar(&s.json, "json", false, "machine-readable output")
	flags.StringVar(&s.llm, "llm", "", "model slots (COVEL_LLM_CONFIG, default llm.toml if present, else the scripted storyteller)")
	flags.StringVar(&s.plugins, "plugins", "", "directory of your plugins")
	flags.StringVar(&s.temporal, "temporal", "", "`embedded` or an address (TEMPORAL_ADDRESS, default embedded)")
	flags.StringVar(&s.worlds, "worlds", "", "directory of your worlds")
}

// resolve fills what no flag has set.
func (s *settings) resolve(*cobra.Command) error {
	file, err := readSettingsFile("covel.toml")
	if err != nil {
		return err
	}
	first := func(dst *string, values ...string) {
		for _, v := range values {
			if *dst == "" {
				*dst = v
			}
		}
	}
	first(&s.dataDir, os.Getenv("COVEL_DATA_DIR"), file.Data, ".covel")
	first(&s.database, os.Getenv("COVEL_DATABASE_URL"), file.Database)
	first(&s.llm, os.Getenv("COVEL_LLM_CONFIG"), file.LLM)
	first(&s.plugins, file.Plugins)
	first(&s.temporal, os.Getenv("TEMPORAL_ADDRESS"), file.Temporal, temporalEmbedded)
	first(&s.worlds, file.Worlds)
	if abs, err := filepath.Abs(s.dataDir); err == nil {
		s.dataDir = abs
	}
	return nil
}

func readSettingsFile(path string) (settingsFile, error) {
	var file settingsFile
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file, nil
	}
	if err != nil {
		return file, configError(path, err)
	}
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		var strict *toml.StrictMissingError
		var decode *toml.DecodeError
		switch {
		case errors.As(err, &strict) && len(strict.Errors) > 0:
			row, _ := strict.Errors[0].Position()
			return file, configError(fmt.Sprintf("%s:%d", path, row),
				fmt.Errorf("unknown setting %q; use data, database, llm, plugins, temporal or worlds", strings.Join(strict.Errors[0].Key(), ".")))
		case errors.As(err, &decode):
			row, _ := decode.Position()
			return file, configError(fmt.Sprintf("%s:%d", path, row), decode)
		default:
			return file, configError(path, err)
		}
	}
	return file, nil
}

func configError(what string, err error) error {
	return turn.Errorf(what, "CONFIG_ERROR", "%w", err)
}

// embedded says whether Temporal runs inside this process.
func (s *settings) embedded() bool { return s.temporal == temporalEmbedded }

// sqlitePath is where the embedded engine's own database stands, "" for
// PostgreSQL.
func (s *settings) postgres() bool {
	return strings.HasPrefix(s.database, "postgres://") || strings.HasPrefix(s.database, "postgresql://")
}
