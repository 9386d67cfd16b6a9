package sqlstore

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// snapshotTable is one table of a snapshot's payload. Rows travel as objects
// of column to value that both databases read alike: JSON columns as strings,
// so that their bytes survive, times as text.
type snapshotTable struct {
	member  string // name in the payload
	table   string
	columns string // "name kind" pairs, separated by commas
	order   string
}

// snapshotTables is what a snapshot holds beside the session itself. Marks of
// turn_messages travel apart, in compactedMessageSummaryIds (spec 02 §22).
var snapshotTables = []snapshotTable{
	{"turnMessages", "turn_messages", "id text,session_id text,seq int,turn_id text,source_type text,source_plugin_id text,source_runtime_id text,role text,name text,content text,ui json,pending_input json,metadata json,created_at time", "seq"},
	{"sessionSummaries", "session_summaries", "id text,session_id text,turn_range_start text,turn_range_end text,content text,focus_sections json,created_at time", "created_at, id"},
	{"compactionState", "compaction_state", "session_id text,consecutive_failures int,oversized_row_id text,updated_at time", "session_id"},
	{"turnCommits", "turn_commits", "session_id text,turn_id text,execution_id text,count_policy text,result json,committed_at time", "committed_at, turn_id"},
	{"turnResults", "turn_results", "id text,session_id text,turn_id text,execution_id text,logical_turn int,input_hash text,execution_context json,player_message text,error json,runtime_results json,conflicts json,audit_result json,duration_ms int,origin text,parent_turn_id text,commit_status text,created_at time", "ord"},
	{"runtimeOutputs", "runtime_outputs", "id text,session_id text,turn_id text,runtime_result_id text,plugin_id text,runtime_id text,timestamp time,results json,meta_data json,created_at time", "timestamp, id"},
	{"continuations", "continuations", "id text,session_id text,turn_id text,plugin_id text,runtime_id text,reason text,resume_schema json,payload json,status text,claim_token text,claimed_at time,deadline_at time,closed_reason text,created_at time,resolved_at time", "created_at, id"},
	{"exports", "exports", "id text,session_id text,plugin_id text,runtime_id text,export_key text,turn_id text,value json,committed_at time", "ord"},
	{"events", "events", "id text,session_id text,type text,topic text,payload json,target_runtime text,turn_id text,created_at time", "ord"},
	{"pluginData", "plugin_data", "id text,session_id text,plugin_id text,namespace text,key text,value json,schema_version int,created_at time,updated_at time,created_seq int,updated_seq int", "created_seq, key"},
	{"messages", "messages", "id text,session_id text,role text,content text,metadata json,created_at time", "ord"},
	{"playerInputs", "player_inputs", `id text,session_id text,seq int,turn_id text,form_id text,"values" json,created_at time`, "seq"},
	{"interactionRecords", "interaction_records", "id text,session_id text,turn_id text,timestamp time,source text,channel text,type text,target_ids json,payload json,meta_data json,created_at time", "timestamp, id"},
	{"characters", "characters", "session_id text,id text,name text,type text,description text,aliases json,fields json,version int,created_at time,updated_at time", "created_at, id"},
	{"lorebookEntries", "lorebook_entries", "session_id text,owner text,id text,keys json,content text,strategy text,position text,insertion_order int,enabled bool,extra json,created_at time,updated_at time", "insertion_order, created_at, owner, id"},
}

// sessionSnapshot is the session's own row. Fence and counters stay those of
// the present: an old execution must not come back, numbers only grow.
var sessionSnapshot = snapshotTable{
	member: "session", table: "sessions", order: "id",
	columns: "id text,world_id text,status text,phase text,locale text,turn_count int,completed_player_turns int,pre_game_completed bool,setup_runtimes json,active_plugins json,seats json,metadata json,runtime_model_overrides json,embedding_model_id text,embedding_locked_at time,created_at time,updated_at time",
}

// column is one column of a snapshot table.
type column struct{ name, kind string }

func (t snapshotTable) cols() []column {
	var out []column
	for _, pair := range strings.Split(t.columns, ",") {
		name, kind, _ := strings.Cut(pair, " ")
		out = append(out, column{name, kind})
	}
	return out
}

// statements makes the table's reading and writing statements.
func (t snapshotTable) statements() (read, write string) {
	var names, params []string
	for i, c := range t.cols() {
		names = append(names, c.name)
		params = append(params, fmt.Sprintf("?%d", i+1))
	}
	key, keep := "session_id", ""
	if t.table == "sessions" {
		key = "id"
	}
	if t.table == "plugin_data" {
		keep = " AND namespace NOT IN ('_jobs', '_logs')"
	}
	list := strings.Join(names, ", ")
	read = fmt.Sprintf("SELECT %s FROM %s WHERE %s = ?1%s ORDER BY %s", list, t.table, key, keep, t.order)
	write = fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.table, list, strings.Join(params, ", "))
	return read, write
}

// snapshotRow is one row: a column that is NULL is absent.
type snapshotRow map[string]any

// scanSnapshot reads a row whose columns are only known by their kinds.
func scanSnapshot(r Row, cols []column, row *snapshotRow) error {
	dest := make([]any, len(cols))
	for i, c := range cols {
		switch c.kind {
		case "int":
			dest[i] = new(*int64)
		case "bool":
			dest[i] = new(*bool)
		case "time":
			dest[i] = maybeAt(new(*time.Time))
		case "json":
			dest[i] = new([]byte)
		default:
			dest[i] = new(*string)
		}
	}
	if err := r.Scan(dest...); err != nil {
		return err
	}
	*row = make(snapshotRow, len(cols))
	for i, c := range cols {
		switch v := dest[i].(type) {
		case **int64:
			if *v != nil {
				(*row)[c.name] = **v
			}
		case **bool:
			if *v != nil {
				(*row)[c.name] = **v
			}
		case *nullTimeDest:
			if *v.t != nil {
				(*row)[c.name] = (*v.t).Format(TimeLayout)
			}
		case *[]byte:
			if *v != nil {
				(*row)[c.name] = string(*v)
			}
		case **string:
			if *v != nil {
				(*row)[c.name] = **v
			}
		}
	}
	return nil
}

// bind turns a row back into arguments, checked as any other write.
func (row snapshotRow) bind(a *args, cols []column) *args {
	for _, c := range cols {
		v, ok := row[c.name]
		if !ok {
			a.add(nil)
			continue
		}
		switch v := v.(type) {
		case string:
			row.bindText(a, c, v)
		case bool:
			a.bool(v)
		case json.Number:
			n, err := v.Int64()
			if err != nil {
				a.refuse(c.name, v.String(), "is not a whole number")
			}
			a.int(n)
		default:
			a.refuse(c.name, fmt.Sprint(v), "has a type that no column has")
		}
	}
	return a
}

func (row snapshotRow) bindText(a *args, c column, v string) {
	switch c.kind {
	case "json":
		a.json(c.name, json.RawMessage(v))
	case "time":
		t, err := time.Parse(TimeLayout, v)
		if err != nil {
			a.refuse(c.name, v, "is not a time of the form "+TimeLayout)
		}
		a.time(c.name, t)
	default:
		a.text(c.name, v)
	}
}
