package plot

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/hotcount/hotcount/bench"
	"github.com/hotcount/hotcount/bench/internal/show"
)

// WriteHTML writes the report as a page of one file: where and how it was
// measured, what it does not show, and for each workload the figures and a table.
func WriteHTML(w io.Writer, r *bench.Report) error {
	figures, err := Figures(r)
	if err != nil {
		return err
	}
	p := page{
		CPU:     printable(r.Machine.CPU),
		Date:    r.Date.UTC().Format(time.RFC3339),
		Facts:   facts(r),
		Caveats: r.Caveats(),
		Style:   template.CSS(pageStyle + svgStyle),
	}
	at := make(map[string]int)
	for i := range r.Results {
		row := &r.Results[i]
		n, ok := at[row.Workload]
		if !ok {
			n = len(p.Workloads)
			at[row.Workload] = n
			p.Workloads = append(p.Workloads, workload{ID: "w" + strconv.Itoa(n), Name: printable(row.Workload)})
		}
		p.Workloads[n].Rows = append(p.Workloads[n].Rows, newRow(row))
	}
	for i := range figures {
		f := &figures[i]
		wl := &p.Workloads[at[f.Workload]]
		wl.Figures = append(wl.Figures, drawn{f.Title, f.Text, template.HTML(f.svg("f"+strconv.Itoa(i), false))})
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, &p); err != nil {
		return fmt.Errorf("hotcount/bench/plot: write page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// page is what the template shows.
type (
	page struct {
		CPU, Date string
		Facts     []fact
		Caveats   []string
		Workloads []workload
		Style     template.CSS
	}
	fact     struct{ Name, Value string }
	workload struct {
		ID, Name string
		Figures  []drawn
		Rows     []row
	}
	drawn struct {
		Title, Text string
		SVG         template.HTML // made and escaped by Figure.svg
	}
	row struct {
		Impl  string
		Cells []string // numbers, but for Pick and Keys
	}
)

var (
	//go:embed page.html
	pageHTML string
	//go:embed page.css
	pageStyle string

	pageTemplate = template.Must(template.New("page").Parse(pageHTML))
)

// facts says where and how the report came about.
func facts(r *bench.Report) []fact {
	m, n := r.Machine, r.Noise
	all := []fact{
		{"Processor", fmt.Sprintf("%s, %s, GOMAXPROCS %d", printable(m.CPU), count(m.Cores, "core"), m.Procs)},
		{"Go", printable(fmt.Sprintf("%s, %s/%s", m.Go, m.OS, m.Arch))},
		{"Date", r.Date.UTC().Format(time.RFC3339)},
		{"Command", printable(r.Command)},
		{"Commit", printable(r.Commit)},
		{"Samples", count(r.Samples, "round") + " of each case, the cases of a comparison in turns"},
		{"Noise", fmt.Sprintf("rounds disturbed: %s; processor time had: %s; taken by the hypervisor: %s",
			share(n.Disturbed), share(n.Busy), share(n.Steal))},
	}
	known := all[:0]
	for _, f := range all {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	return known
}

// share writes a share of the whole, which is negative where it is not known.
func share(v float64) string {
	if !(v >= 0) {
		return "not known"
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

// newRow returns what the columns of the template's table say about a result.
func newRow(r *bench.Result) row {
	cells := []string{optional(r.Stripes > 0, grouped(r.Stripes)), printable(r.Pick), grouped(r.Goroutines), fmt.Sprintf("%d %%", r.ReadPercent), printable(r.Keys)}
	if s, ok := speed(r); ok {
		cells = append(cells, show.Short(s.Median), spread(r, s), show.Short(1000/s.Median))
	} else {
		cells = append(cells, "", "", "")
	}
	if p := r.Latency; p != nil {
		for _, v := range []float64{p.P50, p.P99, p.P999, p.Max} {
			cells = append(cells, whole(v))
		}
	} else {
		cells = append(cells, "", "", "", "")
	}
	return row{printable(r.Impl), append(cells,
		optional(r.BytesPerCounter > 0, whole(r.BytesPerCounter)),
		optional(r.Skew() > 0, show.Short(r.Skew())))}
}

// spread marks a result that disturbed rounds are part of.
func spread(r *bench.Result, s bench.Summary) string {
	text := fmt.Sprintf("%.0f %%", 100*s.Spread())
	if r.Disturbed > 0 {
		text += " *"
	}
	return text
}

// whole rounds to a whole number; what no int holds is written as it is.
func whole(v float64) string {
	if !(math.Abs(v) < 1<<53) {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return grouped(int64(math.Round(v)))
}

func optional(known bool, text string) string {
	if !known {
		return ""
	}
	return text
}
