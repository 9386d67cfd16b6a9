package trace_test

import (
	"encoding/json"
	"fmt"

	"github.com/covel-engine/covel/tokens"
	"github.com/covel-engine/covel/trace"
)

// The report names the first part of a request that breaks the shared prefix.
func ExampleMeasure() {
	call := func(turnID, rules string) trace.Recorded {
		body := fmt.Sprintf(`{"system":"You tell a story.","messages":[{"role":"system","content":%q}]}`, rules)
		return trace.Recorded{SessionID: "demo", TurnID: turnID, RuntimeID: "narrator", Unbound: json.RawMessage(body)}
	}
	report := trace.Measure([]trace.Recorded{call("t1", "weather: rain"), call("t2", "weather: snow")}, tokens.Covel{})
	fmt.Print(report.Table())
	fmt.Print(report.Show("narrator"))
	// Output:
	// session demo
	// runtime                             turns  calls  req tok   shared    %  first difference
	// narrator                                2      2        8        7   88  message 1 (system) +9
	// later first requests: 8 tokens, 7 shared, 88 %
	// session demo runtime narrator
	// turn 2: message 1 (system) +9
	//   was: weather: rain
	//   now: weather: snow
}
