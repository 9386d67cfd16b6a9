package model

// holdBack moves system and user messages that stand between a call and its
// results behind the results (spec 04 §9.3). order[i] is the place that the
// i-th message had before.
func holdBack(messages []Message) (held []Message, order []int) {
	order = make([]int, 0, len(messages))
	if !needsHoldBack(messages) {
		for i := range messages {
			order = append(order, i)
		}
		return messages, order
	}
	held = make([]Message, 0, len(messages))
	open := map[string]bool{}
	var waiting []int
	put := func(i int) {
		held = append(held, messages[i])
		order = append(order, i)
	}
	release := func() {
		for _, i := range waiting {
			put(i)
		}
		waiting = nil
	}
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Role == RoleTool:
			put(i)
			delete(open, m.ToolCallID)
			if len(open) == 0 {
				release()
			}
		case m.Role == RoleAssistant:
			clear(open)
			release()
			put(i)
			for _, c := range m.ToolCalls {
				open[c.ID] = true
			}
		case len(open) > 0:
			waiting = append(waiting, i)
		default:
			put(i)
		}
	}
	release()
	return held, order
}

// needsHoldBack is the cheap question that most requests answer with no.
func needsHoldBack(messages []Message) bool {
	calling := false
	for i := range messages {
		switch m := &messages[i]; {
		case m.Role == RoleAssistant:
			calling = len(m.ToolCalls) > 0
		case m.Role == RoleTool:
		case calling:
			return true
		}
	}
	return false
}

// historyMarks marks, per held message, whether it stood before the first late
// system message and is itself no system message; nil without a late one.
func historyMarks(messages []Message, order []int) []bool {
	late := -1
	for i := Leading(messages); i < len(messages); i++ {
		if messages[i].IsSystem() {
			late = i
			break
		}
	}
	if late < 0 {
		return nil
	}
	marks := make([]bool, len(order))
	for at, was := range order {
		marks[at] = was < late && !messages[was].IsSystem()
	}
	return marks
}
