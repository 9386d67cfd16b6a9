package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
)

func datum(id, namespace, key, value string, ms int) session.PluginDatum {
	return session.PluginDatum{
		SessionID: id, PluginID: "p", Namespace: namespace, Key: key, Value: object("%s", value), SchemaVersion: 1,
		CreatedAt: after(ms), UpdatedAt: after(ms),
	}
}

func keysOf(rows []session.PluginDatum) []string {
	keys := []string{}
	for _, d := range rows {
		keys = append(keys, d.Key)
	}
	return keys
}

func number(n int64) *int64 { return &n }

func testPluginData(t *testing.T, st store.Store) {
	put := func(t testing.TB, rows ...session.PluginDatum) {
		t.Helper()
		write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.PutPluginData(ctx, rows...) })
	}
	get := func(t testing.TB, id, namespace, key string) session.PluginDatum {
		t.Helper()
		return read[session.PluginDatum](t)(st.PluginDatum(t.Context(), id, "p", namespace, key))
	}
	t.Run("the last write of a key wins", func(t *testing.T) {
		id := newSession(t, st)
		put(t, datum(id, "n", "k", `{"v": 1}`, 1))
		first := get(t, id, "n", "k")
		put(t, datum(id, "n", "k", `{"v":2, "b":1}`, 5))
		second := get(t, id, "n", "k")
		if string(second.Value) != `{"v":2, "b":1}` || !second.CreatedAt.Equal(after(1)) || !second.UpdatedAt.Equal(after(5)) ||
			second.CreatedSeq != first.CreatedSeq || second.UpdatedSeq <= first.UpdatedSeq {
			t.Errorf("first %+v, second %+v", first, second)
		}
	})
	t.Run("a value is needed", func(t *testing.T) {
		id := newSession(t, st)
		refused(t, st, store.CodeInvalidValue, func(ctx context.Context, tx store.Tx) error {
			return tx.PutPluginData(ctx, session.PluginDatum{SessionID: id, PluginID: "p", Namespace: "n", Key: "k"})
		}, "plugin_data", "value")
	})
	t.Run("pages go by bytes of the key", func(t *testing.T) {
		id := newSession(t, st)
		for _, key := range []string{"é", "b", "B", "a", "_", "Z", "雾"} {
			put(t, datum(id, "n", key, "1", 1))
		}
		put(t, datum(id, "other", "x", "1", 1))
		page := func(after string, limit int) []string {
			return keysOf(read[[]session.PluginDatum](t)(st.PluginData(t.Context(), id, "p", "n", after, limit)))
		}
		wantEqual(t, page("", 99), []string{"B", "Z", "_", "a", "b", "é", "雾"})
		wantEqual(t, page("Z", 2), []string{"_", "a"})
		wantEqual(t, page("", 0), []string{})
		_, err := st.PluginData(t.Context(), id, "p", "n", "", -1)
		wantCode(t, err, store.CodeInvalidValue)
	})
	t.Run("delete", func(t *testing.T) {
		id := newSession(t, st)
		put(t, datum(id, "n", "k", "1", 1), datum(id, "n", "l", "1", 1))
		for range 2 {
			write(t, st, func(ctx context.Context, tx store.Tx) error { return tx.DeletePluginData(ctx, id, "p", "n", "k") })
		}
		_, err := st.PluginDatum(t.Context(), id, "p", "n", "k")
		wantCode(t, err, store.CodeNotFound, "n/k")
		get(t, id, "n", "l")
	})
	t.Run("logs keep the newest 200 of a plugin", func(t *testing.T) {
		id := newSession(t, st)
		for i := range 210 {
			put(t, datum(id, store.NamespaceLogs, fmt.Sprintf("%03d", i), "1", i))
		}
		keys := keysOf(read[[]session.PluginDatum](t)(st.PluginData(t.Context(), id, "p", store.NamespaceLogs, "", 999)))
		if len(keys) != 200 || keys[0] != "010" || keys[199] != "209" {
			t.Errorf("%d rows, %v …", len(keys), keys[:1])
		}
	})
	cas := func(id string, batch ...store.CompareAndSet) func(context.Context, store.Tx) error {
		return func(ctx context.Context, tx store.Tx) error { return tx.CompareAndSetPluginData(ctx, id, "p", batch) }
	}
	entry := func(key string, expected *int64, value string) store.CompareAndSet {
		return store.CompareAndSet{Namespace: "n", Key: key, Expected: expected, Value: object("%s", value)}
	}
	t.Run("C2-119", func(t *testing.T) {
		id := newSession(t, st)
		put(t, datum(id, "n", "a", `{"version":3}`, 1))
		write(t, st, cas(id, entry("a", number(3), `{"version": 4}`), entry("b", nil, `{"version":1}`)))
		if got := get(t, id, "n", "a"); string(got.Value) != `{"version": 4}` || got.SchemaVersion != 1 {
			t.Errorf("got %+v", got)
		}
		get(t, id, "n", "b")
	})
	t.Run("C2-120", func(t *testing.T) {
		id := newSession(t, st)
		put(t, datum(id, "n", "a", `{"version":3}`, 1))
		before := get(t, id, "n", "a")
		// A caller that goes on after the refusal still finds nothing written.
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			err := cas(id, entry("a", number(3), `{"version":4}`), entry("b", number(1), `{"version":2}`))(ctx, tx)
			wantCode(t, err, store.CodeVersionConflict, "n/b", "expected 1", "found absent")
			return nil
		})
		wantEqual(t, get(t, id, "n", "a"), before)
	})
	t.Run("what counts as a version", func(t *testing.T) {
		for value, ok := range map[string]bool{
			`{"version":3}`: true, `{"version":3.0}`: true, `{"version":3e0}`: true, `{"Version":3}`: false, `{"version":"3"}`: false,
			`{"version":null}`: false, `{"a":{"version":3}}`: false, `3`: false, `[3]`: false, `{"version":2}`: false, `{"version":3.5}`: false, `null`: false,
		} {
			id := newSession(t, st)
			put(t, datum(id, "n", "a", value, 1))
			err := st.WithTx(t.Context(), cas(id, entry("a", number(3), `{}`)))
			if ok && err != nil || !ok && codeOf(err) != store.CodeVersionConflict {
				t.Errorf("stored %s: %v", value, err)
			}
			refused(t, st, store.CodeVersionConflict, cas(id, entry("a", nil, `{}`)), "n/a")
		}
	})
	t.Run("a batch names a key once, and its values are checked first", func(t *testing.T) {
		id := newSession(t, st)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			wantCode(t, cas(id, entry("a", nil, "{}"), entry("a", nil, "{}"))(ctx, tx), store.CodeInvalidValue, "n/a")
			wantCode(t, cas(id, entry("a", nil, "{}"), entry("b", nil, "{"))(ctx, tx), store.CodeInvalidValue, "value")
			return cas(id)(ctx, tx)
		})
		if rows := read[[]session.PluginDatum](t)(st.PluginData(t.Context(), id, "p", "n", "", 9)); len(rows) != 0 {
			t.Errorf("%d rows were written", len(rows))
		}
	})
	t.Run("batches at once lose no update", func(t *testing.T) {
		id := newSession(t, st)
		const writers, rounds = 4, 6
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for done := 0; done < rounds; {
					version := int64(0)
					var expected *int64
					if d, err := st.PluginDatum(t.Context(), id, "p", "n", "count"); err == nil {
						var v struct{ Version int64 }
						if err := json.Unmarshal(d.Value, &v); err != nil {
							t.Error(err)
							return
						}
						version, expected = v.Version, &v.Version
					}
					err := st.WithTx(t.Context(), cas(id, entry("count", expected, fmt.Sprintf(`{"version":%d}`, version+1))))
					if err == nil {
						done++
					} else if codeOf(err) != store.CodeVersionConflict {
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		if got := string(get(t, id, "n", "count").Value); got != fmt.Sprintf(`{"version":%d}`, writers*rounds) {
			t.Errorf("got %s", got)
		}
	})
}

func testProjection(t *testing.T, st store.Store) {
	project := func(t testing.TB, id string, limit int) session.DataProjection {
		t.Helper()
		return read[session.DataProjection](t)(st.ProjectPluginData(t.Context(), id, "p", "n", limit))
	}
	numbered := func(t testing.TB, n int) string {
		t.Helper()
		id := newSession(t, st)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			for i := 1; i <= n; i++ {
				if err := tx.PutPluginData(ctx, datum(id, "n", fmt.Sprint(i), "1", 0)); err != nil { // one instant for all
					return err
				}
			}
			return nil
		})
		return id
	}
	names := func(from, to int) []string {
		keys := []string{}
		step := 1
		if to < from {
			step = -1
		}
		for i := from; ; i += step {
			keys = append(keys, fmt.Sprint(i))
			if i == to {
				return keys
			}
		}
	}
	t.Run("C2-122", func(t *testing.T) {
		id := numbered(t, 60)
		write(t, st, func(ctx context.Context, tx store.Tx) error {
			return tx.PutPluginData(ctx, datum(id, "n", "30", "2", 0))
		})
		for _, limit := range []int{50, 0} { // 0 is the default
			p := project(t, id, limit)
			wantEqual(t, keysOf(p.Anchors), names(1, 25))
			wantEqual(t, keysOf(p.Recent), append([]string{"30"}, names(60, 37)...))
			if p.Total != 60 {
				t.Errorf("total %d", p.Total)
			}
		}
	})
	t.Run("C2-123", func(t *testing.T) {
		p := project(t, numbered(t, 40), 50)
		wantEqual(t, keysOf(p.Anchors), names(1, 40))
		if p.Total != 40 || len(p.Recent) != 0 {
			t.Errorf("total %d, recent %v", p.Total, keysOf(p.Recent))
		}
	})
	t.Run("edges", func(t *testing.T) {
		wantEqual(t, keysOf(project(t, numbered(t, 3), 3).Anchors), names(1, 3))
		p := project(t, numbered(t, 4), 3)
		wantEqual(t, keysOf(p.Anchors), names(1, 1))
		wantEqual(t, keysOf(p.Recent), names(4, 3))
		p = project(t, numbered(t, 4), 1)
		wantEqual(t, keysOf(p.Rows()), names(4, 4))
		if p := project(t, newSession(t, st), 5); p.Total != 0 || len(p.Rows()) != 0 {
			t.Errorf("an empty namespace gave %+v", p)
		}
		_, err := st.ProjectPluginData(t.Context(), "s", "p", "n", -1)
		wantCode(t, err, store.CodeInvalidValue)
	})
	t.Run("equals the plain definition", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			id := newSession(t, st)
			var created, updated []string // earliest first
			for _, key := range rapid.SliceOfN(rapid.StringMatching(`[a-h]`), 0, 20).Draw(r, "writes") {
				write(t, st, func(ctx context.Context, tx store.Tx) error {
					return tx.PutPluginData(ctx, datum(id, "n", key, "1", 0))
				})
				if !slices.Contains(created, key) {
					created = append(created, key)
				}
				updated = append(slices.DeleteFunc(updated, func(k string) bool { return k == key }), key)
			}
			limit := rapid.IntRange(1, 10).Draw(r, "limit")
			anchors, recent := append([]string{}, created...), []string{}
			if len(created) > limit {
				anchors = anchors[:limit/2]
				for _, key := range slices.Backward(updated) {
					if !slices.Contains(anchors, key) && len(recent) < limit-limit/2 {
						recent = append(recent, key)
					}
				}
			}
			p := project(t, id, limit)
			if !slices.Equal(keysOf(p.Anchors), anchors) || !slices.Equal(keysOf(p.Recent), recent) || p.Total != len(created) {
				r.Fatalf("got %v and %v of %d, want %v and %v of %d", keysOf(p.Anchors), keysOf(p.Recent), p.Total, anchors, recent, len(created))
			}
		})
	})
}
