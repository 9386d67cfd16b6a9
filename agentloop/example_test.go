package agentloop_test

import (
	"fmt"

	"github.com/covel-engine/covel/agentloop"
	"github.com/covel-engine/covel/turn"
)

// An agent whose completing tool succeeds ends after one model call.
func Example() {
	m := agentloop.New(turn.AgentSpec{RuntimeID: "guide", AfterTools: []string{"generate-guide"}})
	cmd := m.Start()
	fmt.Printf("call the model, step %d, entries [0,%d)\n", cmd.CallModel.Step, cmd.CallModel.Length)

	cmd = m.ModelReplied(turn.StepOutcome{Length: 2, Calls: []turn.CallFact{{ID: "c1", Name: "generate-guide"}}})
	fmt.Printf("run %s, its result is entry %d\n", cmd.RunTools.Calls[0].Name, cmd.RunTools.Reply+1)

	cmd = m.ToolFinished(turn.ToolOutcome{CallID: "c1", Name: "generate-guide", OK: true})
	fmt.Printf("ended by %s %s after %d step\n", cmd.Finish.Ending, cmd.Finish.Tool, m.Facts().Steps)
	// Output:
	// call the model, step 1, entries [0,1)
	// run generate-guide, its result is entry 2
	// ended by tool c1 after 1 step
}
