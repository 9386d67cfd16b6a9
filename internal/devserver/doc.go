// Package devserver runs a whole Temporal server, with its web UI, inside the
// calling process. It is what `covel play` and `covel dev` stand on, so that a
// player or an author needs nothing but the one binary.
//
//	server, err := devserver.Start(ctx, devserver.Config{
//		DatabasePath:     filepath.Join(dataDir, "temporal.db"),
//		FrontendPort:     7233,
//		UIPort:           8233,
//		SearchAttributes: map[string]enumspb.IndexedValueType{turn.AttrSession: enumspb.INDEXED_VALUE_TYPE_KEYWORD},
//	})
//	if err != nil {
//		return err
//	}
//	defer server.Stop(context.Background())
//	temporal, err := client.Dial(client.Options{HostPort: server.FrontendAddr})
//
// The rules:
//
//   - Everything listens on 127.0.0.1 only; there is no authentication.
//   - The number of history shards is part of a database file. A file made
//     with another number is refused with a [*ShardCountError]: the server
//     itself would silently go on with the old number.
//   - One process owns a database file. The caller holds the lock on the data
//     directory.
//   - Stop waits for the services and closes the database; a later Start on
//     the same file goes on with the workflows that were running.
//   - Only this package imports the Temporal server and its UI, and only
//     cmd/covel imports this package: both cost minutes to compile and tens of
//     megabytes to link, which a user of the library never pays.
//
// docs/decisions/0001-embedded-server.md holds the measurements behind the
// settings.
package devserver
