package bench

// Workloads returns the kinds of work with the implementations that need no
// other module. Those of package peers have more.
func Workloads() []Workload {
	each := func(keys int) int { return keys }
	return []Workload{
		{
			Name:    "add",
			Summary: "add one to a counter",
			Impls:   counterImpls(),
			Keys:    []Keys{One, Zipf, Uniform},
			Reads:   true,
			Weighs:  each,
		},
		{
			Name:    "lookup",
			Summary: "find a counter by two label values, and add one",
			Impls:   lookupImpls(),
			Keys:    []Keys{Uniform, One, Zipf},
			Weighs:  each,
		},
		{
			Name:    "group",
			Summary: "add to four counters together",
			Impls:   groupImpls(),
			Keys:    []Keys{One},
		},
		{
			Name:    "local",
			Summary: "add through a handle that one goroutine owns",
			Impls:   localImpls(),
			Keys:    []Keys{One},
		},
		{
			Name:    "uniques",
			Summary: "add an element to a distinct count",
			Impls:   uniquesImpls(),
			Keys:    []Keys{Uniform, One, Zipf},
		},
		{
			Name:    "window",
			Summary: "add one to a counter that knows its last minute",
			Impls:   windowImpls(),
			Keys:    []Keys{One},
			Reads:   true,
		},
		{
			Name:    "snapshot",
			Summary: "add to series of a registry that is read out meanwhile",
			Impls:   snapshotImpls(),
			Keys:    []Keys{Zipf, Uniform},
		},
	}
}
