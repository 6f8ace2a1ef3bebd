package main

import "context"

func demoVerb(ctx context.Context, s streams, v verb, args []string) error { return nil }
