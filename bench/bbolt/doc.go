// Package bbolt compares a durable snapshot with a bbolt transaction that holds
// the same counters. It is a module of its own, so that bbolt never becomes a
// dependency of the library.
package bbolt
