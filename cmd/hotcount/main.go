// Command hotcount is a placeholder.
package main

func main() {}
