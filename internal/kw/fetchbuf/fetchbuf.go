// Package fetchbuf has the fetches that look at the bytes of a stream as they
// arrived (manual, chapter 7.3.5), and the developers' ones (7.3.7).
//
// The raw fetches have no value in HTTP proxies, whose buffers hold messages.
// As long as more bytes can change the result they set Txn.Wait; what cannot
// change any more is told at once.
package fetchbuf

import (
	"weir/internal/lang/sample"
	"weir/internal/model"
)

// Places where the data of a direction are.
const (
	reqPlaces = "..YYYYYYYYY..........."
	resPlaces = "...........YYYYYYY.Y.."
	dirPlaces = "..YYYYYYYYYYYYYYYY.Y.." // of the direction whose rules run
	anyPlaces = "YYYYYYYYYYYYYYYYYYYY.."
)

// Arguments of several fetches.
const (
	payloadArgs   = "integer,integer"
	payloadLVArgs = "integer,integer[,string]"
	nameArgs      = "[string]"
	tokenArgs     = "string[,integer]"
)

func init() {
	type get = func(*model.Txn, []sample.Arg, *model.Value) bool
	add := func(names []string, args string, out model.Type, places, help string, check func(*sample.ArgCheck, []sample.Arg) error, fn get) {
		for _, name := range names {
			sample.AddFetch(sample.Fetch{Name: name, Args: args, Out: out, Valid: sample.MustSet(places), Help: help, Check: check, Get: fn})
		}
	}
	n := func(names ...string) []string { return names }
	const b, i, s, t = model.TypeBin, model.TypeSint, model.TypeStr, model.TypeBool

	add(n("req.len", "req_len"), "", i, reqPlaces, "bytes present in the request buffer", nil, length(model.DirReq))
	add(n("res.len"), "", i, resPlaces, "bytes present in the response buffer", nil, length(model.DirRes))
	add(n("req.payload"), payloadArgs, b, reqPlaces, "a part of the request buffer", checkPayload, payload(model.DirReq))
	add(n("res.payload"), payloadArgs, b, resPlaces, "a part of the response buffer", checkPayload, payload(model.DirRes))
	add(n("payload"), payloadArgs, b, dirPlaces, "a part of the buffer", checkPayload, byDir(payload(model.DirReq), payload(model.DirRes)))
	add(n("req.payload_lv"), payloadLVArgs, b, reqPlaces, "a part of the request buffer whose length stands in it", checkLV, payloadLV(model.DirReq))
	add(n("res.payload_lv"), payloadLVArgs, b, resPlaces, "a part of the response buffer whose length stands in it", checkLV, payloadLV(model.DirRes))
	add(n("payload_lv"), payloadLVArgs, b, dirPlaces, "a part of the buffer whose length stands in it", checkLV, byDir(payloadLV(model.DirReq), payloadLV(model.DirRes)))

	add(n("wait_end"), "", t, "YYYYYYYYYYYYYYYYYYYY.Y", "true once the inspection is over", nil, waitEnd)

	add(n("req.rdp_cookie", "rdp_cookie"), nameArgs, s, reqPlaces, "value of the RDP cookie", nil, rdpCookie)
	add(n("req.rdp_cookie_cnt", "rdp_cookie_cnt"), nameArgs, i, reqPlaces, "number of RDP cookies", nil, rdpCookieCount)
	add(n("distcc_param"), tokenArgs, i, dirPlaces, "parameter of a token of the distcc protocol", checkToken, distccParam)
	add(n("distcc_body"), tokenArgs, b, dirPlaces, "body of a token of the distcc protocol", checkToken, distccBody)

	add(n("req.ssl_hello_type", "req_ssl_hello_type"), "", i, reqPlaces, "type of the TLS hello in the request buffer", nil, helloType(model.DirReq))
	add(n("res.ssl_hello_type", "rep_ssl_hello_type"), "", i, resPlaces, "type of the TLS hello in the response buffer", nil, helloType(model.DirRes))
	add(n("req.ssl_ver", "req_ssl_ver"), "", i, reqPlaces, "version that the TLS client asks for", nil, helloVersion)
	add(n("req.ssl_sni", "req_ssl_sni"), "", s, reqPlaces, "server name in the ClientHello", nil, helloSNI)
	add(n("req.ssl_alpn"), "", s, reqPlaces, "first protocol that the ClientHello offers", nil, helloALPN)
	add(n("req.ssl_ec_ext"), "", t, reqPlaces, "the ClientHello has the extension of elliptic curves", nil, helloEC)
	add(n("req.ssl_st_ext"), "", i, reqPlaces, "session ticket extension: 0 absent, 1 empty, 2 with a ticket", nil, helloTicket)
	add(n("req.ssl_cipherlist"), "", b, anyPlaces, "ciphers that the ClientHello offers", nil, helloCiphers)
	add(n("req.ssl_supported_groups"), "", b, anyPlaces, "groups that the ClientHello offers", nil, helloGroups)
	add(n("req.ssl_sigalgs"), "", b, anyPlaces, "signature algorithms that the ClientHello offers", nil, helloSigAlgs)
	add(n("req.ssl_keyshare_groups"), "", b, anyPlaces, "groups for which the ClientHello has shares", nil, helloKeyShares)
}

// byDir picks a fetch by the side whose rules run.
func byDir(req, res func(*model.Txn, []sample.Arg, *model.Value) bool) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
		if tx.Dir == model.DirRes {
			return res(tx, a, v)
		}
		return req(tx, a, v)
	}
}

// isHTTP tells a stream whose buffers hold messages from one of raw bytes.
func isHTTP(tx *model.Txn) bool {
	if tx.Req != nil || tx.Res != nil {
		return true
	}
	fe := tx.S.Frontend()
	return fe != nil && fe.Mode == model.ModeHTTP
}

// raw returns the bytes of a direction and whether more may come; ok is false for a stream of messages.
func raw(tx *model.Txn, d model.Dir) (data []byte, more, ok bool) {
	if isHTTP(tx) {
		return nil, false, false
	}
	data, closed := tx.S.Peek(d)
	return data, !closed && !tx.Final, true
}

// wait notes that more bytes may bring a value.
func wait(tx *model.Txn, more bool) bool {
	tx.Wait = tx.Wait || more
	return false
}
