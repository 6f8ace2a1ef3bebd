// Package accesslog reads web server logs in the Common and the Combined Log
// Format, the ones Apache and nginx write by default:
//
//	client identity user [17/May/2015:10:05:03 +0000] "GET /path HTTP/1.1" 200 5
//
// A Reader cuts a stream, compressed with gzip or not, into Batches of whole
// lines, which any number of goroutines can then take apart; Record.Parse reads
// one line. Neither allocates per line.
//
// # What makes a line well formed
//
// The seven fields above are there and make sense. Whatever follows them
// (referrer and agent in the Combined format, further fields in a server's own)
// is neither read nor judged, so a line whose agent was cut short still counts.
//
//   - A client is any run of bytes without a space: IPv4, IPv6 or a host name.
//   - A user name may hold spaces and brackets: the time is the first bracket
//     that holds a valid one.
//   - A quote inside the request is written \" and a backslash \\ or \xhh, as
//     Apache and nginx do. Escapes are kept as they stand in the log.
//   - A status is three digits or "-"; a size is at most 19 digits or "-",
//     which is 0.
//   - Bytes need not be UTF-8, and times need not be in order.
//
// A format that puts a field in front, such as Apache's vhost_combined, reads
// as if that field were the client.
package accesslog
