// Package failpoint stops or kills a worker at a chosen point of its work, so
// that tests can show what survives. Only builds with the tag failpoint link it.
//
// A point is written as text, usually in the variable COVEL_FAILPOINT:
//
//	CommitTurn:before:kill        die before the first CommitTurn acts
//	CallModel:after:kill:3        die when the third CallModel has acted, before its answer is known
//	CommitTurn:tx:kill            die inside its transaction, after its last write
//	CommitTurn:before:pause:1:F   write F.reached and wait until F.go exists
//
// Activities are named as on Temporal; local ones count too.
package failpoint
