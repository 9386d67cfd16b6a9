package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/turn"
)

const (
	// maxValueBytes bounds a value's compact JSON (spec 05 §6).
	maxValueBytes = 65_536
	maxKeyRunes   = 128
)

// codeValidation is the code of a refused write of plugin data (spec 05 §6).
const codeValidation = "VALIDATION_ERROR"

func (a *application) applyData(ctx context.Context, p turn.Proposal, done *applied) error {
	w, err := read[DataWrite](p)
	if err != nil {
		return err
	}
	version, err := a.checkData(p, w)
	if err != nil {
		return err
	}
	if err := a.put(ctx, p.Source.PluginID, w.Namespace, w.Key, w.Value, version); err != nil {
		return err
	}
	return dataChanged(p, done, w.Namespace, w.Key)
}

func (a *application) applyBatch(ctx context.Context, p turn.Proposal, done *applied) error {
	batch, err := read[DataBatch](p)
	if err != nil {
		return err
	}
	if len(batch.Entries) == 0 {
		return rejectf("entries must have at least one entry")
	}
	keys := make([]string, len(batch.Entries))
	var compared []store.CompareAndSet
	versions := make([]int, len(batch.Entries))
	for i, e := range batch.Entries {
		if versions[i], err = a.checkData(p, DataWrite{batch.Namespace, e.Key, e.Value}); err != nil {
			return err
		}
		keys[i] = e.Key
		if e.Compare {
			compared = append(compared, store.CompareAndSet{
				Namespace: batch.Namespace, Key: e.Key, Expected: e.Expected, Value: e.Value,
			})
		}
	}
	if len(compared) > 0 {
		if err := a.tx.CompareAndSetPluginData(ctx, a.plan.SessionID, p.Source.PluginID, compared); err != nil {
			return err
		}
	}
	for i, e := range batch.Entries {
		if e.Compare {
			continue
		}
		if err := a.put(ctx, p.Source.PluginID, batch.Namespace, e.Key, e.Value, versions[i]); err != nil {
			return err
		}
	}
	return dataChanged(p, done, batch.Namespace, keys...)
}

func (a *application) applyDelete(ctx context.Context, p turn.Proposal, done *applied) error {
	d, err := read[DataDelete](p)
	if err != nil {
		return err
	}
	if err := a.checkPlace(p, d.Namespace, d.Key); err != nil {
		return err
	}
	if strings.HasPrefix(d.Namespace, store.NamespaceHidden) {
		// The owner may add hidden rows, never take them away (spec 05 §6).
		return &RejectedError{Code: store.CodeReservedNamespace, Message: "namespace " + d.Namespace + " takes no deletes"}
	}
	if err := a.tx.DeletePluginData(ctx, a.plan.SessionID, p.Source.PluginID, d.Namespace, d.Key); err != nil {
		return err
	}
	return dataChanged(p, done, d.Namespace, d.Key)
}

func dataChanged(p turn.Proposal, done *applied, namespace string, keys ...string) error {
	return done.event(p, EventPluginDataChanged, struct {
		PluginID  string   `json:"pluginId"`
		Namespace string   `json:"namespace"`
		Keys      []string `json:"keys"`
	}{p.Source.PluginID, namespace, keys})
}

// checkData checks one write and gives the version of its namespace's schema.
func (a *application) checkData(p turn.Proposal, w DataWrite) (int, error) {
	if err := a.checkPlace(p, w.Namespace, w.Key); err != nil {
		return 0, err
	}
	if err := requiredValue("value", w.Value); err != nil {
		return 0, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, w.Value); err != nil {
		return 0, rejectf("value of %s/%s is no JSON: %v", w.Namespace, w.Key, err)
	}
	if n := compact.Len(); n > maxValueBytes {
		return 0, invalidData(w, "value has %d bytes, at most %d are allowed", n, maxValueBytes)
	}
	if a.plan.Checks.PluginData == nil {
		return 0, nil
	}
	version, err := a.plan.Checks.PluginData(p.Source.PluginID, w.Namespace, w.Value)
	if err != nil {
		return 0, invalidData(w, "%v", err)
	}
	return version, nil
}

func invalidData(w DataWrite, format string, args ...any) *RejectedError {
	e := rejectf("plugin data %s/%s: "+format, append([]any{w.Namespace, w.Key}, args...)...)
	e.Code = codeValidation
	return e
}

// checkPlace checks a namespace and key that the proposing runtime may write.
// Only functions and guards reach _hidden.*, never the tools of an agent.
func (a *application) checkPlace(p turn.Proposal, namespace, key string) error {
	if err := required("namespace", namespace); err != nil {
		return err
	}
	rt := a.plan.Runtimes[p.Source.RuntimeID]
	if err := store.CheckPluginNamespace(namespace, rt != nil && rt.Type == "function"); err != nil {
		return &RejectedError{
			Code: store.CodeReservedNamespace, Message: "namespace " + namespace + " is not open to " + p.Source.RuntimeID, Err: err,
		}
	}
	if err := required("key", key); err != nil {
		return err
	}
	if n := utf8.RuneCountInString(key); n > maxKeyRunes {
		return rejectf("key has %d characters, at most %d are allowed", n, maxKeyRunes)
	}
	if strings.ContainsFunc(key, unicode.IsControl) {
		return rejectf("key %q must not have control characters", key)
	}
	return nil
}
