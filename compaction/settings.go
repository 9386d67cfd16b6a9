package compaction

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Names of the settings (spec 02 §1.2).
const (
	SettingTrigger          = "compaction.triggerFraction"
	SettingContextWindow    = "compaction.contextWindow"
	SettingTimeout          = "compaction.timeoutSeconds"
	SettingProtectUserTurns = "protectUserTurns"
	SettingProtectMessages  = "protectMessages"
)

// Settings are the deployment's settings of compaction.
type Settings struct {
	// ContextWindow overrides every slot's window. Defaults to none (0).
	ContextWindow int
	// Timeout limits one attempt. Defaults to 300 s.
	Timeout time.Duration
	// Trigger is the fraction of the window, in thousandths, above which
	// history is condensed. Defaults to 600.
	Trigger int
}

// DefaultSettings are the settings of a deployment that sets none.
func DefaultSettings() Settings { return Settings{Timeout: 300 * time.Second, Trigger: 600} }

// SettingError is a value outside its limits. It stops the load.
type SettingError struct {
	Setting string
	Value   string
	Allowed string
}

// Error names setting, value and what is allowed.
func (e *SettingError) Error() string {
	return fmt.Sprintf("%s is %q; it must be %s", e.Setting, e.Value, e.Allowed)
}

// ParseSettings reads settings by name; a blank or missing value is the
// default, other names are ignored. Errors are *SettingError.
func ParseSettings(values map[string]string) (Settings, error) {
	s := DefaultSettings()
	var err error
	if v := strings.TrimSpace(values[SettingTrigger]); v != "" {
		if s.Trigger, err = thousandths(v); err != nil {
			return Settings{}, err
		}
	}
	if v := strings.TrimSpace(values[SettingContextWindow]); v != "" {
		if s.ContextWindow, err = whole(SettingContextWindow, v, 1, 0); err != nil {
			return Settings{}, err
		}
	}
	if v := strings.TrimSpace(values[SettingTimeout]); v != "" {
		seconds, err := whole(SettingTimeout, v, 1, 3600)
		if err != nil {
			return Settings{}, err
		}
		s.Timeout = time.Duration(seconds) * time.Second
	}
	return s, nil
}

// thousandths reads a fraction from 0 to 1 with at most three decimals.
func thousandths(value string) (int, error) {
	bad := &SettingError{SettingTrigger, value, "from 0 to 1 with at most three decimals"}
	before, decimals, _ := strings.Cut(value, ".")
	if before != "0" && before != "1" || len(decimals) > 3 || strings.HasSuffix(value, ".") {
		return 0, bad
	}
	n, err := strconv.ParseUint(before+decimals+"000"[len(decimals):], 10, 16)
	if err != nil || n > 1000 {
		return 0, bad
	}
	return int(n), nil
}

// whole reads a whole number of at least low, and at most high unless that is 0.
func whole(setting, value string, low, high int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < low || high > 0 && n > high {
		allowed := fmt.Sprintf("a whole number of at least %d", low)
		if high > 0 {
			allowed = fmt.Sprintf("a whole number from %d to %d", low, high)
		}
		return 0, &SettingError{setting, value, allowed}
	}
	return n, nil
}
