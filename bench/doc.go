// Package bench measures what counting costs, hotcount's own ways beside those
// that people use today.
package bench
