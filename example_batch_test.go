package hotcount_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"

	"github.com/hotcount/hotcount"
)

// What a transaction did is counted when it commits, and not when it rolls back.
func ExampleBatch() {
	e, err := hotcount.New(hotcount.Options{})
	if err != nil {
		log.Fatal(err)
	}
	orders, items := e.Counter("orders_total"), e.Counter("items_total")
	db := sql.OpenDB(shop{})
	defer db.Close()

	order := func(quantity int64) error {
		tx, err := db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()

		var counted hotcount.Batch // discarded with this call, unless committed
		if _, err := tx.Exec("INSERT INTO orders VALUES (?)", quantity); err != nil {
			return err
		}
		counted.Inc(orders)
		counted.Add(items, quantity)
		if err := tx.Commit(); err != nil {
			return err
		}
		counted.Commit()
		return nil
	}
	for _, quantity := range []int64{3, 1000, 2} {
		if err := order(quantity); err != nil {
			fmt.Println("rolled back:", err)
		}
	}
	fmt.Println(orders.Value(), "orders,", items.Value(), "items")
	// Output:
	// rolled back: out of stock
	// 2 orders, 5 items
}

// shop is a database whose transactions fail on Commit if they order too much.
type shop struct{}

func (shop) Connect(context.Context) (driver.Conn, error) { return &shopConn{}, nil }
func (shop) Driver() driver.Driver                        { return nil }

type shopConn struct{ ordered int64 }

func (c *shopConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c *shopConn) Close() error                        { return nil }
func (c *shopConn) Begin() (driver.Tx, error)           { c.ordered = 0; return c, nil }
func (c *shopConn) Rollback() error                     { return nil }

func (c *shopConn) ExecContext(_ context.Context, _ string, args []driver.NamedValue) (driver.Result, error) {
	c.ordered += args[0].Value.(int64)
	return driver.RowsAffected(1), nil
}

func (c *shopConn) Commit() error {
	if c.ordered > 100 {
		return errors.New("out of stock")
	}
	return nil
}
