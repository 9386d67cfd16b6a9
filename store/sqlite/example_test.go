package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/covel-engine/covel/session"
	"github.com/covel-engine/covel/store"
	"github.com/covel-engine/covel/store/sqlite"
)

func Example() {
	ctx := context.Background()
	st, err := sqlite.Open(ctx, sqlite.Config{InMemory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	if err := st.Migrate(ctx); err != nil {
		log.Fatal(err)
	}
	err = st.WithTx(ctx, func(ctx context.Context, tx store.Tx) error {
		if err := tx.InsertSession(ctx, session.Session{ID: "demo", WorldID: "lanternfall", Phase: session.PhasePlaying}); err != nil {
			return err
		}
		_, err := tx.AppendMessages(ctx, "demo", []session.Message{
			{ID: "m1", TurnID: "t1", SourceType: session.SourcePlayer, Role: session.RoleUser, Content: "Who lit the lantern?"},
			{ID: "m2", TurnID: "t1", SourceType: session.SourceRuntime, Role: session.RoleAssistant, Content: "Nobody you can see."},
		})
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := st.Messages(ctx, "demo")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range rows {
		fmt.Println(m.Seq, m.Role, m.Content)
	}
	_, err = st.Session(ctx, "other")
	fmt.Println(errors.Is(err, store.ErrNotFound))
	// Output:
	// 1 user Who lit the lantern?
	// 2 assistant Nobody you can see.
	// true
}
