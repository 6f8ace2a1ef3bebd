package benchtext

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/hotcount/hotcount/bench/sim"
	"github.com/hotcount/hotcount/internal/text"
)

// A Prediction is what the simulation says about this computer, beside what is
// measured on it, about larger ones, and about those of published figures.
type Prediction struct {
	Go         string `json:"go"`
	Platform   string `json:"platform"`
	Processors int    `json:"processors"`

	Add       float64            `json:"measured_add_ns"`
	Transfer  sim.Spread         `json:"measured_transfer_ns"`
	PickCosts map[string]float64 `json:"measured_pick_ns"`
	Sockets   int                `json:"sockets"`
	Cross     float64            `json:"cross_transfer_ns"`

	Here      []Here      `json:"measured_beside_simulated"`
	Simulated []Simulated `json:"simulated_not_measured"`
	Published []Published `json:"published_beside_simulated"`
}

// Here is a layout that was measured and simulated. Times are nanoseconds of an
// add by each worker.
type Here struct {
	Workers   int     `json:"workers"`
	Pick      string  `json:"pick"`
	Stripes   int     `json:"stripes"`
	Lines     int     `json:"lines"`
	Rounds    int     `json:"rounds"`
	Measured  float64 `json:"measured_ns"`
	Low       float64 `json:"measured_low_ns"`
	High      float64 `json:"measured_high_ns"`
	Simulated float64 `json:"simulated_ns"`
	Ratio     float64 `json:"ratio"`
}

// Simulated is a layout on a number of cores.
type Simulated struct {
	Workers   int     `json:"workers"`
	Pick      string  `json:"pick"`
	Stripes   int     `json:"stripes"`
	PerSecond float64 `json:"adds_per_second"`
	Nanos     float64 `json:"ns"`
}

// Published is a published figure and what the simulation makes of it.
type Published struct {
	Name   string  `json:"name"`
	Source string  `json:"source"`
	Fit    string  `json:"fit"`
	Points []Point `json:"points"`
}

// A Point is one figure. Given ones are what the simulation was made from.
type Point struct {
	Workers   int     `json:"workers"`
	Pick      string  `json:"pick"`
	Stripes   int     `json:"stripes"`
	Published float64 `json:"published_ns"`
	Simulated float64 `json:"simulated_ns"`
	Given     bool    `json:"given"`
}

// Predict measures this computer and simulates.
func Predict(ctx context.Context, o sim.Options) (*Prediction, error) {
	c, err := sim.Compare(ctx, o)
	if err != nil {
		return nil, err
	}
	return newPrediction(c)
}

func newPrediction(c sim.Comparison) (*Prediction, error) {
	p := &Prediction{
		Go:         runtime.Version(),
		Platform:   runtime.GOOS + "/" + runtime.GOARCH,
		Processors: runtime.GOMAXPROCS(0),
		Add:        c.Calibration.Machine.Add,
		Transfer:   c.Calibration.Transfer,
		PickCosts:  make(map[string]float64),
		Sockets:    c.Calibration.Machine.Sockets,
		Cross:      c.Calibration.Machine.Cross,
	}
	for pick := sim.PerP; pick <= sim.Random; pick++ {
		p.PickCosts[pick.String()] = c.Calibration.PickCost[pick]
	}
	for _, cell := range c.Cells {
		p.Here = append(p.Here, Here{
			cell.Workers, cell.Pick.String(), cell.Stripes, cell.Lines, cell.Rounds,
			cell.Measured.Median, cell.Measured.Low, cell.Measured.High, cell.Predicted, cell.Ratio,
		})
	}
	forecasts, err := c.Calibration.Forecast()
	if err != nil {
		return nil, err
	}
	for _, f := range forecasts {
		p.Simulated = append(p.Simulated, Simulated{
			f.Workers, f.Pick.String(), len(f.Result.Lines), f.Result.PerSecond(), f.Result.NanosPerAdd(),
		})
	}
	p.Published, err = published()
	return p, err
}

func published() ([]Published, error) {
	var all []Published
	for _, source := range sim.AllPublished() {
		p := Published{Name: source.Name, Source: source.Source, Fit: source.Fit}
		for _, point := range source.Points {
			r, err := sim.Run(point.Config)
			if err != nil {
				return nil, err
			}
			p.Points = append(p.Points, Point{
				point.Config.Workers, point.Config.Pick.String(), point.Config.Stripes,
				point.Nanos, r.NanosPerAdd(), point.Given,
			})
		}
		all = append(all, p)
	}
	return all, nil
}

// WriteText writes the prediction for people.
func (p *Prediction) WriteText(w io.Writer) error {
	for _, part := range []func(io.Writer) error{p.writeHere, p.writeSimulated, p.writePublished} {
		if err := part(w); err != nil {
			return err
		}
	}
	return nil
}

func (p *Prediction) writeHere(w io.Writer) error {
	_, err := fmt.Fprintf(w, `Measured beside simulated: %s, %s, GOMAXPROCS %d

  a locked add takes %.1f ns, a transfer %.0f ns (quarters: %.0f, %.0f); each round is
  simulated from its own calibration; ns per add by each worker, medians; off is
  the median of the rounds

`, p.Go, p.Platform, p.Processors, p.Add, p.Transfer.Median, p.Transfer.Low, p.Transfer.High)
	if err != nil {
		return err
	}
	table := text.NewTable(">workers", "pick", ">N", ">lines", ">rounds", ">measured", ">quarters", ">simulated", ">off")
	for _, h := range p.Here {
		table.Row(count(h.Workers), h.Pick, count(h.Stripes), count(h.Lines), count(h.Rounds), tenth(h.Measured),
			tenth(h.Low)+"–"+tenth(h.High), tenth(h.Simulated), off(h.Ratio))
	}
	return table.Write(w, "  ")
}

// writeSimulated writes a row for each number of cores and a column for each
// layout.
func (p *Prediction) writeSimulated(w io.Writer) error {
	_, err := fmt.Fprintf(w, `
Simulation, not measured: millions of adds per second, if more cores were like
these, on %s; N is the number of stripes, P one for each core

`, text.Count(int64(p.Sockets), "socket"))
	if err != nil {
		return err
	}
	layouts := len(p.Simulated) / len(sim.ForecastWorkers)
	headings := []string{">cores"}
	for _, s := range p.Simulated[len(p.Simulated)-layouts:] { // where P is no other number
		name := ">" + s.Pick
		switch {
		case s.Pick == sim.OneAtomic.String():
		case s.Stripes >= s.Workers:
			name += " N=P"
		default:
			name += fmt.Sprintf(" N=%d", s.Stripes)
		}
		headings = append(headings, name)
	}
	table := text.NewTable(headings...)
	for i := 0; i < len(p.Simulated); i += layouts {
		row := []string{count(p.Simulated[i].Workers)}
		for _, s := range p.Simulated[i : i+layouts] {
			row = append(row, text.Group(int64(s.PerSecond/1e6+0.5)))
		}
		table.Row(row...)
	}
	return table.Write(w, "  ")
}

func (p *Prediction) writePublished(w io.Writer) error {
	_, err := io.WriteString(w, `
Published beside simulation, not measured here: ns per add by each worker; = marks
what the simulation was made from

`)
	if err != nil {
		return err
	}
	for _, source := range p.Published {
		fmt.Fprintf(w, "  %s\n", source.Name)
		for _, line := range text.Wrap("from "+source.Source, 76) {
			fmt.Fprintf(w, "    %s\n", line)
		}
		for _, line := range text.Wrap("made from "+source.Fit, 76) {
			fmt.Fprintf(w, "    %s\n", line)
		}
		table := text.NewTable(">workers", "pick", ">N", ">published", ">simulated", ">off")
		for _, point := range source.Points {
			difference := off(point.Simulated / point.Published)
			if point.Given {
				difference = "="
			}
			table.Row(count(point.Workers), point.Pick, count(point.Stripes), tenth(point.Published), tenth(point.Simulated), difference)
		}
		if err := table.Write(w, "  "); err != nil {
			return err
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

func count(n int) string { return text.Group(int64(n)) }

func tenth(v float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0") }

// off returns how far a simulated figure is from a real one.
func off(ratio float64) string { return fmt.Sprintf("%+.0f %%", 100*(ratio-1)) }
