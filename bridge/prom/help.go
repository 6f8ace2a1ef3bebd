package prom

// hiddenName is the one metric that the collector adds of its own.
const hiddenName = "hotcount_prom_hidden"

// valueHelp returns the HELP text of a family's value.
func (n *names) valueHelp(c claim) string {
	name := c.metric
	if text := healthHelp[name]; text != "" {
		return text
	}
	if c.role == ring {
		return "What was added to " + name + " in the last while."
	}
	if text := n.help[name]; text != "" {
		return text
	}
	switch c.role {
	case uniques:
		return "How many different elements there were, estimated."
	case events:
		return "How much happened in the last while, by the time that events bear."
	case uniquesWindow:
		return "How many different elements there were in the last while, estimated."
	default:
		return "Counted by this run of the program."
	}
}

// healthHelp has the HELP texts of the engine's own series.
var healthHelp = map[string]string{
	"hotcount_series":                     "Series in memory that count against the limits.",
	"hotcount_series_dormant":             "Final rows that wait to be acknowledged.",
	"hotcount_series_parked":              "Evicted series that a handle keeps alive.",
	"hotcount_series_created_total":       "Series created.",
	"hotcount_series_evicted_total":       "Series evicted.",
	"hotcount_overflow_lookups_total":     "Look-ups that got an overflow series, by metric.",
	"hotcount_adjustments":                "What Adjust has booked, by series; it may fall.",
	"hotcount_snapshots_total":            "Snapshots taken.",
	"hotcount_sweep_seconds":              "Time to visit every series for the last snapshot.",
	"hotcount_busiest_adds_per_second":    "How fast the busiest series rose before the last snapshot.",
	"hotcount_busiest_skew_ratio":         "How unevenly the stripes of the busiest series are written: 1 is even, 0 has no stripes.",
	"hotcount_busiest_sum_seconds":        "Time to read the busiest series once.",
	"hotcount_export_lag_seconds":         "Time since the sink last took a snapshot.",
	"hotcount_sink_writes_total":          "Snapshots given to the sink.",
	"hotcount_sink_failures_total":        "Writes to the sink that failed, panics among them.",
	"hotcount_sink_blocked":               "1 if the sink takes nothing until somebody mends what its error says.",
	"hotcount_windows":                    "Windows driven now.",
	"hotcount_sampler_ticks_total":        "Ticks of the windows' sampler.",
	"hotcount_sampler_missed_ticks_total": "Ticks that did not happen since one was late.",
	"hotcount_sampler_clock_jumps_total":  "Steps of the wall clock, and suspends.",
	"hotcount_sampler_lag_seconds":        "How late the last tick was.",
	"hotcount_sampler_busy_seconds":       "Time spent in ticks so far.",
	"hotcount_events_late_total":          "Events that came too late for their bucket.",
	"hotcount_events_future_total":        "Events ahead of the clock.",
	hiddenName:                            "Metrics left out since another one has the name, by their name in the engine.",
}
