// Package session holds the domain records of a game: the session itself, its
// messages, summaries, characters, lorebook entries, plugin data and
// suspensions, and the session clock.
//
// The records are plain data shared by every other package. They carry no
// behaviour beyond validation, no I/O and no clock: a caller that needs an id
// or an instant passes it in. Columns and rules stand in spec 02 §14 to §19,
// statuses and phases in spec 03 §1.
//
//	s := session.Session{ID: "demo", WorldID: "lanternfall", Status: session.StatusActive, Phase: session.PhasePlaying}
//	if err := s.Validate(); err != nil {
//		return err
//	}
package session
