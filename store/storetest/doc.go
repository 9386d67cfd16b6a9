// Package storetest is the conformance suite of package store. Every
// implementation runs it (spec 02 §12):
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) store.Store {
//			return open(t) // an empty, migrated store
//		})
//	}
//
// Rules with a case in the specification are sub-tests of the case's id.
package storetest
