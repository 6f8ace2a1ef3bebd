// Package bbolt compares a durable snapshot with a bbolt transaction that holds
// the same counters.
package bbolt
