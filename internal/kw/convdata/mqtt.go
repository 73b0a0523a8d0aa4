package convdata

import (
	"fmt"
	"strings"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "mqtt_is_valid", In: model.TypeBin, Out: model.TypeBool,
			Help: "true for a valid MQTT CONNECT or CONNACK packet", Run: runMQTTValid},
		sample.Conv{Name: "mqtt_field_value", Args: "string,string", In: model.TypeBin, Out: model.TypeStr,
			Help: "field of an MQTT CONNECT or CONNACK packet", Check: checkMQTTField, Run: runMQTTField},
	)
}

// Packet types whose fields can be read.
const (
	mqttConnect = 1
	mqttConnack = 2
)

// mqttTypes are the names of packet types, in order from 1 on.
var mqttTypes = [...]string{"connect", "connack", "publish", "puback", "pubrec", "pubrel", "pubcomp", "subscribe", "suback",
	"unsubscribe", "unsuback", "pingreq", "pingresp", "disconnect", "auth"}

// mqttVersion5 is the protocol version of MQTT 5.0.
const mqttVersion5 = 5

// Fields. Those of the numbers below mqttNamed are properties of MQTT 5.0.
const (
	mqttNamed = iota + 64
	mqttFlags
	mqttProtocolName
	mqttProtocolVersion
	mqttClientID
	mqttWillTopic
	mqttWillPayload
	mqttUsername
	mqttPassword
	mqttKeepalive
	mqttReasonCode
	mqttFieldEnd
)

// mqttNames are the names of fields for each type of packet.
var mqttNames = [...]map[string]uint8{
	mqttConnect: {"flags": mqttFlags, "protocol_name": mqttProtocolName, "protocol_version": mqttProtocolVersion,
		"client_identifier": mqttClientID, "will_topic": mqttWillTopic, "will_payload": mqttWillPayload,
		"username": mqttUsername, "password": mqttPassword, "keepalive": mqttKeepalive},
	mqttConnack: {"flags": mqttFlags, "protocol_version": mqttProtocolVersion, "reason_code": mqttReasonCode},
}

// Where a property may stand.
const (
	inConnect = 1 << iota
	inConnack
	inWill
)

// Shapes of properties.
const (
	propByte   = iota + 1 // one byte, 0 or 1
	propShort             // 16 bits
	propLong              // 32 bits
	propString            // a length of 16 bits, then bytes
	propPair              // two strings; may be repeated
)

// mqttProp describes a property.
type mqttProp struct {
	shape, in uint8
	filled    bool // zero, or an empty string, is an error
}

// The property that needs another one.
const (
	propAuthMethod = 21
	propAuthData   = 22
)

// mqttProps are the properties (MQTT 5.0, 2.2.2.2) that CONNECT and CONNACK have.
var mqttProps = [...]mqttProp{
	1:              {propByte, inWill, false},
	2:              {propLong, inWill, false},
	3:              {propString, inWill, false},
	8:              {propString, inWill, false},
	9:              {propString, inWill, false},
	17:             {propLong, inConnect | inConnack, false},
	18:             {propString, inConnack, true},
	19:             {propShort, inConnack, false},
	propAuthMethod: {propString, inConnect | inConnack, false},
	propAuthData:   {propString, inConnect | inConnack, false},
	23:             {propByte, inConnect, false},
	24:             {propLong, inWill, false},
	25:             {propByte, inConnect, false},
	26:             {propString, inConnack, false},
	28:             {propString, inConnack, false},
	31:             {propString, inConnack, false},
	33:             {propShort, inConnect | inConnack, true},
	34:             {propShort, inConnect | inConnack, false},
	36:             {propByte, inConnack, false},
	37:             {propByte, inConnack, false},
	38:             {propPair, inConnect | inConnack | inWill, false},
	39:             {propLong, inConnect | inConnack, true},
	40:             {propByte, inConnack, false},
	41:             {propByte, inConnack, false},
	42:             {propByte, inConnack, false},
}

// mqttPacket is a parsed packet: the numbers and texts of its fields. A text that is empty is not there.
type mqttPacket struct {
	kind    uint8
	version uint8
	places  uint8 // where properties may stand in it: 0 before MQTT 5.0
	seen    uint64
	num     [mqttFieldEnd]uint32
	text    [mqttFieldEnd][]byte
}

// mqttReader takes fields off the front. After a failure bad is set, and what it returns is empty.
type mqttReader struct {
	b   []byte
	bad bool
}

func (r *mqttReader) take(n int) []byte {
	if n > len(r.b) {
		r.bad, r.b = true, nil
	}
	if r.bad {
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *mqttReader) number(size int) (n uint32) {
	for _, c := range r.take(size) {
		n = n<<8 | uint32(c)
	}
	return n
}

func (r *mqttReader) string() []byte { return r.take(int(r.number(2))) }

// length reads a variable byte integer (MQTT 5.0, 1.5.5).
func (r *mqttReader) length() (n int) {
	for i := 0; i < 4; i++ {
		c := r.number(1)
		n |= int(c&0x7f) << (7 * i)
		if c < 0x80 {
			return n
		}
	}
	r.bad = true
	return 0
}

// Outcomes of parsing.
type mqttVerdict uint8

const (
	mqttIncomplete mqttVerdict = iota
	mqttInvalid
	mqttValid
)

// parse reads the packet that b begins with.
func (p *mqttPacket) parse(b []byte) mqttVerdict {
	if len(b) < 2 {
		return mqttIncomplete
	}
	p.kind = b[0] >> 4
	if !mqttFixed(p.kind, b[0]&15) {
		return mqttInvalid
	}
	r := mqttReader{b: b[1:]}
	size := 0
	for i := 0; ; i++ {
		if i == 4 {
			return mqttInvalid
		}
		if len(r.b) == 0 {
			return mqttIncomplete
		}
		c := r.number(1)
		if size |= int(c&0x7f) << (7 * i); c < 0x80 {
			break
		}
	}
	if size > len(r.b) {
		return mqttIncomplete
	}
	if p.kind != mqttConnect && p.kind != mqttConnack {
		return mqttInvalid
	}
	// The fields may reach beyond the announced size; what they take must be that size in the end.
	before := len(r.b)
	if p.kind == mqttConnect {
		p.connect(&r)
	} else {
		p.connack(&r)
	}
	if r.bad || before-len(r.b) != size {
		return mqttInvalid
	}
	return mqttValid
}

// mqttFixed reports whether a type and the four bits beside it may begin a packet (MQTT 5.0, 2.1.3).
func mqttFixed(kind, bits uint8) bool {
	switch kind {
	case 0:
		return false
	case 3: // PUBLISH
		return true
	case 6, 8, 10: // PUBREL, SUBSCRIBE, UNSUBSCRIBE
		return bits == 2
	}
	return bits == 0
}

// Flags of a CONNECT packet.
const (
	mqttReserved     = 0x01
	mqttWill         = 0x04
	mqttWillQoS      = 0x18
	mqttWillRetain   = 0x20
	mqttWithPassword = 0x40
	mqttWithUsername = 0x80
)

func (p *mqttPacket) connect(r *mqttReader) {
	name := r.string()
	if !ascii.EqualFoldString(name, "MQTT") && !ascii.EqualFoldString(name, "MQIsdp") {
		r.bad = true
		return
	}
	p.text[mqttProtocolName] = name
	p.version = uint8(r.number(1))
	flags := r.number(1)
	// Of the flags of a will, the reference refuses only level 3 without a will and without retaining it.
	if p.version < 3 || p.version > mqttVersion5 || flags&mqttReserved != 0 || flags&(mqttWill|mqttWillQoS|mqttWillRetain) == mqttWillQoS {
		r.bad = true
		return
	}
	p.num[mqttFlags], p.num[mqttProtocolVersion] = flags, uint32(p.version)
	p.num[mqttKeepalive] = r.number(2)
	if p.version == mqttVersion5 {
		p.properties(r, inConnect)
		if len(p.text[propAuthMethod]) == 0 && len(p.text[propAuthData]) > 0 {
			r.bad = true
		}
	}
	p.text[mqttClientID] = r.string()
	if flags&mqttWill != 0 {
		if p.version == mqttVersion5 {
			p.properties(r, inWill)
		}
		p.text[mqttWillTopic] = r.string()
		p.text[mqttWillPayload] = r.string()
	}
	if flags&mqttWithUsername != 0 {
		p.text[mqttUsername] = r.string()
	}
	if flags&mqttWithPassword != 0 {
		p.text[mqttPassword] = r.string()
	}
}

func (p *mqttPacket) connack(r *mqttReader) {
	flags := r.number(1)
	if flags > 1 {
		r.bad = true
	}
	p.num[mqttFlags], p.num[mqttReasonCode] = flags, r.number(1)
	p.version = 4
	if len(r.b) > 0 { // the version is not said; only MQTT 5.0 goes on
		p.version = mqttVersion5
		p.properties(r, inConnack)
	}
	p.num[mqttProtocolVersion] = uint32(p.version)
}

// properties reads the properties of a place.
func (p *mqttPacket) properties(r *mqttReader, place uint8) {
	p.places |= place
	in := mqttReader{b: r.take(r.length())}
	for !r.bad && len(in.b) > 0 {
		id := in.number(1)
		var d mqttProp
		if int(id) < len(mqttProps) {
			d = mqttProps[id]
		}
		if d.in&place == 0 || d.shape != propPair && p.seen&(1<<id) != 0 {
			r.bad = true
			return
		}
		p.seen |= 1 << id
		empty := false
		switch d.shape {
		case propByte:
			p.num[id] = in.number(1)
			in.bad = in.bad || p.num[id] > 1
		case propShort:
			p.num[id] = in.number(2)
			empty = p.num[id] == 0
		case propLong:
			p.num[id] = in.number(4)
			empty = p.num[id] == 0
		case propString:
			p.text[id] = in.string()
			empty = len(p.text[id]) == 0
		case propPair:
			in.string()
			in.string()
		}
		r.bad = in.bad || empty && d.filled
	}
}

func runMQTTValid(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
	var p mqttPacket
	verdict := p.parse(v.B)
	if verdict == mqttIncomplete {
		return false
	}
	v.SetBool(verdict == mqttValid)
	return true
}

func checkMQTTField(_ *sample.ArgCheck, a []sample.Arg) error {
	kind, known := fixNumber([]byte(a[0].Str))
	for i, name := range mqttTypes {
		if strings.EqualFold(name, a[0].Str) {
			kind, known = uint32(i+1), true
		}
	}
	if !known || kind == 0 || int(kind) > len(mqttTypes) {
		return fmt.Errorf("'%s' is no type of MQTT packets", a[0].Str)
	}
	if kind != mqttConnect && kind != mqttConnack {
		return fmt.Errorf("fields of %s packets cannot be read, only those of connect and connack", mqttTypes[kind-1])
	}
	field, known := mqttNames[kind][strings.ToLower(a[1].Str)]
	if !known {
		places := uint8(inConnect | inWill)
		if kind == mqttConnack {
			places = inConnack
		}
		for id := range mqttProps {
			if mqttProps[id].in&places != 0 && fmt.Sprint(id) == a[1].Str {
				field, known = uint8(id), true
			}
		}
	}
	if !known {
		return fmt.Errorf("'%s' is no field or property of %s packets", a[1].Str, mqttTypes[kind-1])
	}
	a[0].Data, a[1].Data = uint8(kind), field
	return nil
}

func runMQTTField(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	var p mqttPacket
	if p.parse(v.B) != mqttValid || p.kind != a[0].Data.(uint8) {
		return false
	}
	id := a[1].Data.(uint8)
	text := id != mqttFlags && id != mqttProtocolVersion && id != mqttKeepalive && id != mqttReasonCode
	if id < mqttNamed {
		d := mqttProps[id]
		if d.in&p.places == 0 || d.shape == propPair {
			return false
		}
		text = d.shape == propString
	}
	if text {
		v.SetStr(p.text[id])
		return len(p.text[id]) > 0
	}
	b, ok := tx.Scratch.Keep(ascii.AppendUint(tx.Scratch.Grab(), uint64(p.num[id])))
	if ok {
		v.SetStr(b)
	}
	return ok
}
