package sqlstore

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/google/uuid"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

const (
	dataTable = "plugin_data"
	// defaultProjection is the limit of a projection that names none.
	defaultProjection = 50
	// keptLogs is how many rows of _logs a plugin keeps (spec 02 §19).
	keptLogs = 200
)

func scanDatum(r Row, d *session.PluginDatum) error {
	return r.Scan(&d.SessionID, &d.PluginID, &d.Namespace, &d.Key, raw(&d.Value), &d.SchemaVersion, at(&d.CreatedAt),
		at(&d.UpdatedAt), &d.CreatedSeq, &d.UpdatedSeq)
}

func namespaceArgs(c Conn, op, sessionID, pluginID, namespace string) *args {
	return newArgs(c, op, dataTable).ref("session_id", sessionID).ref("plugin_id", pluginID).ref("namespace", namespace)
}

// PluginDatum reads one row.
func (r Reads) PluginDatum(ctx context.Context, sessionID, pluginID, namespace, key string) (session.PluginDatum, error) {
	const op = "read plugin data"
	var d session.PluginDatum
	a := namespaceArgs(r.Conn, op, sessionID, pluginID, namespace).ref("key", key)
	err := one(ctx, r.Conn, "plugin_datum_get", a, func(row Row) error { return scanDatum(row, &d) })
	if errors.Is(err, errNoRow) {
		return session.PluginDatum{}, notFound(op, dataTable, namespace+"/"+key)
	}
	return d, err
}

// PluginData pages through a namespace in byte order of the keys.
func (r Reads) PluginData(ctx context.Context, sessionID, pluginID, namespace, after string, limit int) ([]session.PluginDatum, error) {
	a := namespaceArgs(r.Conn, "list plugin data", sessionID, pluginID, namespace).ref("key", after).limit(limit)
	return many(ctx, r.Conn, "plugin_data_page", a, scanDatum)
}

// ProjectPluginData gives the bounded view of a namespace; limit 0 means 50.
// It reads at most twice the limit of rows.
func (r Reads) ProjectPluginData(ctx context.Context, sessionID, pluginID, namespace string, limit int) (session.DataProjection, error) {
	const op = "project plugin data"
	if limit == 0 {
		limit = defaultProjection
	}
	var p session.DataProjection
	a := namespaceArgs(r.Conn, op, sessionID, pluginID, namespace)
	if err := one(ctx, r.Conn, "plugin_data_count", a, func(row Row) error { return row.Scan(&p.Total) }); err != nil {
		return p, err
	}
	early := limit
	if p.Total > limit {
		early = limit / 2
	}
	var err error
	a = namespaceArgs(r.Conn, op, sessionID, pluginID, namespace).limit(early)
	if p.Anchors, err = many(ctx, r.Conn, "plugin_data_earliest", a, scanDatum); err != nil || p.Total <= limit {
		return p, err
	}
	a = namespaceArgs(r.Conn, op, sessionID, pluginID, namespace).limit(limit)
	latest, err := many(ctx, r.Conn, "plugin_data_latest", a, scanDatum)
	if err != nil {
		return p, err
	}
	anchored := make(map[string]bool, len(p.Anchors))
	for _, d := range p.Anchors {
		anchored[d.Key] = true
	}
	for _, d := range latest {
		if !anchored[d.Key] && len(p.Recent) < limit-early {
			p.Recent = append(p.Recent, d)
		}
	}
	return p, nil
}

// PutPluginData writes rows; the last write of a key wins and keeps the
// creation of the first.
func (t *Tx) PutPluginData(ctx context.Context, rows ...session.PluginDatum) error {
	const op = "put plugin data"
	for len(rows) > 0 {
		// One step of the session's counter for all neighbouring rows of it.
		n := 1
		for n < len(rows) && rows[n].SessionID == rows[0].SessionID {
			n++
		}
		seq, err := t.take(ctx, "session_take_data_seqs", op, rows[0].SessionID, n)
		if err != nil {
			return err
		}
		for i, d := range rows[:n] {
			if err := t.putDatum(ctx, op, d, seq+int64(i)); err != nil {
				return err
			}
		}
		rows = rows[n:]
	}
	return nil
}

func (t *Tx) putDatum(ctx context.Context, op string, d session.PluginDatum, seq int64) error {
	d.UpdatedAt = t.stamp(d.UpdatedAt)
	if d.CreatedAt.IsZero() {
		d.CreatedAt = d.UpdatedAt
	}
	a := newArgs(t.conn, op, dataTable).text("id", uuid.NewString()).id("session_id", d.SessionID).id("plugin_id", d.PluginID).
		id("namespace", d.Namespace).id("key", d.Key).needJSON("value", d.Value).int(int64(d.SchemaVersion)).
		time("created_at", d.CreatedAt).time("updated_at", d.UpdatedAt).int(seq)
	if _, err := exec(ctx, t.conn, "plugin_data_put", a); err != nil || d.Namespace != store.NamespaceLogs {
		return err
	}
	a = namespaceArgs(t.conn, op, d.SessionID, d.PluginID, d.Namespace).limit(keptLogs)
	_, err := exec(ctx, t.conn, "plugin_data_trim", a)
	return err
}

// DeletePluginData deletes one row; a missing one changes nothing.
func (t *Tx) DeletePluginData(ctx context.Context, sessionID, pluginID, namespace, key string) error {
	const op = "delete plugin data"
	// Taking no number still waits for other writers of the session's data.
	if _, err := t.take(ctx, "session_take_data_seqs", op, sessionID, 0); err != nil {
		return err
	}
	_, err := exec(ctx, t.conn, "plugin_data_delete", namespaceArgs(t.conn, op, sessionID, pluginID, namespace).ref("key", key))
	return err
}

// CompareAndSetPluginData checks every entry, then writes all or none.
func (t *Tx) CompareAndSetPluginData(ctx context.Context, sessionID, pluginID string, batch []store.CompareAndSet) error {
	const op = "compare and set plugin data"
	// The counter's row lock makes batches of a session wait for each other.
	seq, err := t.take(ctx, "session_take_data_seqs", op, sessionID, len(batch))
	if err != nil {
		return err
	}
	named := make(map[[2]string]bool, len(batch))
	rows := make([]session.PluginDatum, len(batch))
	for i, e := range batch {
		name := [2]string{e.Namespace, e.Key}
		if named[name] {
			return invalid(op, dataTable, e.Namespace+"/"+e.Key, e.Key, "the batch names this key twice")
		}
		named[name] = true
		if rows[i], err = t.compare(ctx, op, sessionID, pluginID, e); err != nil {
			return err
		}
		// A bad value must be found before anything is written.
		if _, err := newArgs(t.conn, op, dataTable).id("namespace", e.Namespace).id("key", e.Key).needJSON("value", e.Value).done(); err != nil {
			return err
		}
	}
	for i, d := range rows {
		if err := t.putDatum(ctx, op, d, seq+int64(i)); err != nil {
			return err
		}
	}
	return nil
}

// compare gives the row to write when the stored value is the expected one.
func (t *Tx) compare(ctx context.Context, op, sessionID, pluginID string, e store.CompareAndSet) (session.PluginDatum, error) {
	d := session.PluginDatum{SessionID: sessionID, PluginID: pluginID, Namespace: e.Namespace, Key: e.Key, Value: e.Value}
	stored, err := t.PluginDatum(ctx, sessionID, pluginID, e.Namespace, e.Key)
	found := "absent"
	switch {
	case errors.Is(err, store.ErrNotFound):
		if e.Expected == nil {
			return d, nil
		}
	case err != nil:
		return d, err
	default:
		d.SchemaVersion = stored.SchemaVersion
		version, numeric := versionOf(stored.Value)
		if numeric && e.Expected != nil && version.equals(*e.Expected) {
			return d, nil
		}
		found = "no numeric version"
		if numeric {
			found = string(version)
		}
	}
	expected := "absent"
	if e.Expected != nil {
		expected = strconv.FormatInt(*e.Expected, 10)
	}
	return d, &store.Error{
		Code: store.CodeVersionConflict, Op: op, Table: dataTable, ID: e.Namespace + "/" + e.Key, Value: found,
		Err: errors.New("expected " + expected + ", found " + found),
	}
}

// versionNumber is the JSON text of a version.
type versionNumber json.Number

// versionOf gives the own member version of a JSON object when it is a number.
func versionOf(value json.RawMessage) (versionNumber, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil || members == nil {
		return "", false
	}
	version := members["version"]
	var n json.Number
	if len(version) == 0 || version[0] == '"' || json.Unmarshal(version, &n) != nil || n == "" {
		return "", false
	}
	return versionNumber(n), true
}

// equals compares numbers, not their spelling: 3, 3.0 and 3e0 are equal.
func (v versionNumber) equals(n int64) bool {
	if i, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return i == n
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return err == nil && f == float64(n)
}
