package model

import "encoding/json"

// checkMessages refuses what no protocol can carry (spec 04 §2.1).
func checkMessages(messages []Message) error {
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case RoleSystem, RoleDeveloper, RoleUser, RoleAssistant:
		case RoleTool:
			if m.ToolCallID == "" {
				return Configf("messages[%d].toolCallId: missing; a tool message names the call it answers", i)
			}
		default:
			return Configf("messages[%d].role: unknown role %q", i, string(m.Role))
		}
		for j, p := range m.Parts {
			switch p.Type {
			case "text":
			case "image":
				if _, err := ParseImage(p); err != nil {
					return Configf("messages[%d].content[%d].%s", i, j, err.Message)
				}
			default:
				return Configf("messages[%d].content[%d].type: unknown part type %q; use text or image", i, j, p.Type)
			}
		}
	}
	return nil
}

// checkTools refuses tools and schemas that would break a body.
func checkTools(tools []Tool, schema json.RawMessage) error {
	for i, t := range tools {
		switch {
		case t.Name == "":
			return Configf("tools[%d].name: missing", i)
		case len(t.Parameters) > 0 && !json.Valid(t.Parameters):
			return Configf("tools[%d].parameters: of tool %q are no JSON", i, t.Name)
		}
	}
	if len(schema) > 0 && !json.Valid(schema) {
		return Configf("responseSchema: %q is no JSON", cut(string(schema), 60))
	}
	return nil
}
