package tool_test

import (
	"context"
	"fmt"

	"github.com/covel-engine/covel/plugin"
	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/tool"
)

func Example() {
	reg, err := tool.NewRegistry(tool.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	guide := &plugin.Runtime{ID: "guide", PluginID: "guide", Agent: &plugin.Agent{BuiltinTools: []string{"get-character"}}}
	set := reg.ForRuntime(guide, nil)
	for _, t := range set.Offered(nil) {
		fmt.Println(t.Name)
	}
	view := plugin.View{Characters: []session.Character{{ID: "npc-pilot", Name: "Harbour Pilot", Type: "npc"}}}
	for _, arguments := range []string{`{"name":"harbour pilot"}`, `{"id":"npc-pilot"}`} {
		fmt.Println(set.Run(context.Background(), tool.Call{ID: "c1", Name: "get-character", Arguments: arguments, View: view}).Result)
	}
	// Output:
	// get-character
	// runtime-done
	// {"ok":true,"summary":"Harbour Pilot","data":{"id":"npc-pilot","name":"Harbour Pilot","type":"npc"}}
	// {"ok":false,"error":{"code":"VALIDATION_ERROR","message":"the arguments do not fit get-character: arguments: missing property 'name'; arguments: additional properties 'id' not allowed","details":[{"field":"arguments","message":"missing property 'name'"},{"field":"arguments","message":"additional properties 'id' not allowed"}]}}
}
