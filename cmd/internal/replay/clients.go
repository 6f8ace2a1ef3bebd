package replay

import "math"

// A ClientsError is how far estimates of distinct clients are from the truth.
// Estimates are expected to differ; this is no failure.
type ClientsError struct {
	Estimated uint64  `json:"estimated"`
	Exact     uint64  `json:"exact"`
	Error     float64 `json:"error_percent"`
	WorstHour float64 `json:"worst_hour_error_percent"`
}

// CheckClients compares the estimates of a report with exact sets. It returns
// nil if earlier runs are part of the report, whose clients nobody knows.
func CheckClients(r *Report, exact *Exact) *ClientsError {
	if r.Restored != nil {
		return nil
	}
	byHour := make(map[string]int, len(exact.clientsByHour))
	for hour, set := range exact.clientsByHour {
		byHour[formatHour(hour)] = len(set)
	}
	c := &ClientsError{
		Estimated: r.Clients,
		Exact:     uint64(len(exact.clients)),
		Error:     percentOff(r.Clients, len(exact.clients)),
	}
	for _, h := range r.ByHour {
		if h.Clients > 0 {
			if off := percentOff(h.Clients, byHour[h.Hour]); math.Abs(off) > math.Abs(c.WorstHour) {
				c.WorstHour = off
			}
		}
	}
	return c
}

func percentOff(estimate uint64, exact int) float64 {
	if exact == 0 {
		return 0
	}
	return (float64(estimate)/float64(exact) - 1) * 100
}
