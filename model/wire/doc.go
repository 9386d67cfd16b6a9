// Package wire writes request bodies as JSON, member by member in the order in
// which they are asked for, so that equal inputs give equal bytes and a text is
// copied once:
//
//	w := wire.NewWriter(size)
//	w.Open('{')
//	w.Key("model").String("m")
//	w.Key("stream").Bool(true)
//	w.Close('}')
//	body := w.Bytes()
package wire
