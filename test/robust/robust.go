// Package robust runs the real binary against clients and servers that misbehave: malformed messages, the project's
// table of public advisories, slow and oversized input, servers that lie, and resources that run out.
//
//	go test ./test/robust                          all, on io_uring and on epoll
//	go test ./test/robust -run 'TestAdvisory11'    one row of the table
//	WEIR_SOAK=10m go test -run TestSoak -timeout 20m ./test/robust
//	WEIR_REF=haproxy go test ./test/robust         what the reference does
//
// WEIR_BIN, WEIR_BUILD_FLAGS and WEIR_REF mean what they mean for package scenario.
//
// Every test has a recording origin behind the process (origin.go), sends a victim's request over the same pooled
// connections afterwards, which must get its own answer, and ends with the same questions to the process (weir.go): is
// it alive, without a panic, idle, of its former size, and are all connections, descriptors and buffers back?
package robust
