package world

// SplitLore applies the narrator-only markers of a text that no pack holds, as
// a session's own lore (spec 01 §6.6, §6.7).
func SplitLore(text string) Lore {
	lore, _ := splitLore(text)
	return lore
}
