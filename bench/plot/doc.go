// Package plot draws a benchmark's report: charts as SVG, and a page with all of
// them, what was measured and where.
//
//	bench.Report ──Figures──▶ one SVG each
//	             ──WriteHTML─▶ one page, with the figures and every number in tables
//
// The page is one file. It fetches nothing, runs no script, follows the reader's
// choice of light or dark, and prints. The tables say all that the figures do, so
// that nobody has to see those.
//
// There are three kinds of figures:
//
//   - operations per second against goroutines, a line for each implementation;
//   - a heat map of stripes by goroutines, for each rule by which a stripe is
//     picked;
//   - what each stripe took of the adds, which shows skew.
//
// Names in a report may come from anybody. They are escaped, and what cannot be
// printed is replaced. Samples that are no positive number are left out.
//
// gonum/plot draws all three kinds in plain Go, as SVG with real text, and is
// maintained with the rest of Gonum.
package plot
