// Package browsertest tests package live in a real browser, Chromium. It is a
// module of its own, so that what drives the browser is no requirement of the
// library.
package browsertest
