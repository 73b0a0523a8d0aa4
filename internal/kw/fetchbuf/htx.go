package fetchbuf

import (
	"errors"
	"strconv"

	"weir/internal/base/ascii"
	"weir/internal/lang/sample"
	"weir/internal/model"
	"weir/internal/wire/msg"
)

// The developers' fetches (manual, chapter 7.3.7) describe a message as the
// list of blocks in which the reference keeps it: a start line, one block a
// field, the end of the head, the body, one block a trailer and the end of
// those. weir keeps it otherwise, so that these numbers are worked out.
const (
	slFixed   = 20 // bytes of a start line besides its three parts
	blockInfo = 8  // bytes that describe a block
	bufFixed  = 40 // bytes of a buffer that describe its blocks
	lenVer    = 8  // HTTP/1.1
)

// blocks is a message seen so.
type blocks struct {
	m        *msg.Message
	body     []byte
	complete bool
	trailers []msg.Field
	eot      int // 1 when the end of the trailers is there
	data     int // bytes of all blocks
	count    int
	limit    int // bytes of a buffer
}

// newBlocks describes the message of a direction, false without one.
func newBlocks(tx *model.Txn, d model.Dir) (b blocks, ok bool) {
	b.m = tx.Req
	if d == model.DirRes {
		b.m = tx.Res
	}
	if b.m == nil {
		return b, false
	}
	b.limit = tx.Scratch.Limit()
	b.body, b.complete = tx.S.Body(d)
	if !b.m.HasBody() {
		b.body, b.complete = nil, true
	}
	if b.complete && b.m.Framing == msg.Chunked {
		b.trailers, b.eot = b.m.Trailers, 1
	}
	b.count = 1 + len(b.m.Fields) + 1 + b.bodyBlocks() + len(b.trailers) + b.eot
	for i := range b.count {
		b.data += b.size(i)
	}
	return b, true
}

func (b *blocks) bodyBlocks() int { return min(len(b.body), 1) }

// Kinds of blocks.
const (
	unused = iota
	reqSL
	resSL
	header
	eoh
	body
	trailer
	eot
)

var kindNames = [...]string{
	"HTX_BLK_UNUSED", "HTX_BLK_REQ_SL", "HTX_BLK_RES_SL", "HTX_BLK_HDR", "HTX_BLK_EOH", "HTX_BLK_DATA", "HTX_BLK_TLR", "HTX_BLK_EOT",
}

// kind returns what block i is; for fields and trailers f is the one.
func (b *blocks) kind(i int) (kind int, f *msg.Field) {
	switch {
	case i < 0 || i >= b.count:
		return unused, nil
	case i == 0 && b.m.IsResponse:
		return resSL, nil
	case i == 0:
		return reqSL, nil
	}
	if i--; i < len(b.m.Fields) {
		return header, &b.m.Fields[i]
	}
	if i -= len(b.m.Fields); i == 0 {
		return eoh, nil
	}
	if i--; i < b.bodyBlocks() {
		return body, nil
	}
	if i -= b.bodyBlocks(); i < len(b.trailers) {
		return trailer, &b.trailers[i]
	}
	return eot, nil
}

func (b *blocks) size(i int) int {
	switch k, f := b.kind(i); k {
	case reqSL:
		return slFixed + len(b.m.MethodName) + len(b.m.Target) + lenVer
	case resSL:
		return slFixed + lenVer + 3 + len(b.m.Reason)
	case header, trailer:
		return len(f.Name) + len(f.Value)
	case eoh, eot:
		return 1
	case body:
		return len(b.body)
	}
	return 0
}

func (b *blocks) used() int { return b.data + b.count*blockInfo }
func (b *blocks) room() int { return max(b.limit-bufFixed-b.used(), 0) }

// appendStartLine writes the start line as text.
func (b *blocks) appendStartLine(dst []byte) []byte {
	m := b.m
	version := func() {
		dst = append(dst, "HTTP/"...)
		dst = append(ascii.AppendUint(dst, uint64(m.Major)), '.')
		dst = ascii.AppendUint(dst, uint64(m.Minor))
	}
	if !m.IsResponse {
		dst = append(append(dst, m.MethodName...), ' ')
		dst = append(append(dst, m.Target...), ' ')
		version()
		return dst
	}
	version()
	dst = append(ascii.AppendUint(append(dst, ' '), uint64(m.Status)), ' ')
	return append(dst, m.Reason...)
}

// Positions that have a name are negative numbers.
const (
	posHead = -1
	posTail = -2
)

func checkBlock(_ *sample.ArgCheck, a []sample.Arg) error {
	switch s := a[0].Str; s {
	case "head", "first":
		a[0].Int = posHead
	case "tail":
		a[0].Int = posTail
	default:
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil {
			return errors.New("a block is a number from 0 on, or one of: head, tail, first")
		}
		a[0].Int = int64(n)
	}
	return nil
}

// position finds the block that an argument names.
func (b *blocks) position(n int64) int {
	switch {
	case n == posHead:
		return 0
	case n == posTail:
		return b.count - 1
	case n >= int64(b.count):
		return b.count
	}
	return int(n)
}

// ofMessage adapts a fetch of the message of the side whose rules run.
func ofMessage(fn func(tx *model.Txn, b *blocks, v *model.Value) bool) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
		b, ok := newBlocks(tx, tx.Dir)
		return ok && fn(tx, &b, v)
	}
}

// ofBlock is ofMessage for one block.
func ofBlock(fn func(tx *model.Txn, b blocks, i int, v *model.Value) bool) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
		b, ok := newBlocks(tx, tx.Dir)
		return ok && fn(tx, b, b.position(a[0].Int), v)
	}
}

func number(of func(b *blocks) int) func(*model.Txn, []sample.Arg, *model.Value) bool {
	return ofMessage(func(_ *model.Txn, b *blocks, v *model.Value) bool {
		v.SetInt(int64(of(b)))
		return true
	})
}

func blockData(_ *model.Txn, b blocks, i int, v *model.Value) bool {
	v.SetBin(nil)
	if k, _ := b.kind(i); k == body {
		v.SetBin(b.body)
	}
	return true
}

func blockName(tx *model.Txn, b blocks, i int, v *model.Value) bool {
	v.SetStr(nil)
	if _, f := b.kind(i); f != nil {
		name, ok := tx.Scratch.Keep(ascii.AppendLower(tx.Scratch.Grab(), f.Name))
		v.SetStr(name)
		return ok
	}
	return true
}

func blockValue(_ *model.Txn, b blocks, i int, v *model.Value) bool {
	v.SetStr(nil)
	if _, f := b.kind(i); f != nil {
		v.SetStr(f.Value)
	}
	return true
}

func blockStartLine(tx *model.Txn, b blocks, i int, v *model.Value) bool {
	v.SetStr(nil)
	if k, _ := b.kind(i); k == reqSL || k == resSL {
		line, ok := tx.Scratch.Keep(b.appendStartLine(tx.Scratch.Grab()))
		v.SetStr(line)
		return ok
	}
	return true
}

func blockType(tx *model.Txn, b blocks, i int, v *model.Value) bool {
	k, _ := b.kind(i)
	name, ok := tx.Scratch.Keep(append(tx.Scratch.Grab(), kindNames[k]...))
	v.SetStr(name)
	return ok
}

func init() {
	places := sample.MustSet(dirPlaces)
	for _, f := range []struct {
		name, help string
		out        model.Type
		get        func(*model.Txn, []sample.Arg, *model.Value) bool
	}{
		{"data", "bytes of the message's blocks", model.TypeSint, number(func(b *blocks) int { return b.data })},
		{"free", "free bytes of the message's buffer", model.TypeSint, number((*blocks).room)},
		{"free_data", "free bytes for one more block", model.TypeSint, number(func(b *blocks) int { return max(b.room()-blockInfo, 0) })},
		{"has_eom", "the message is complete", model.TypeBool, ofMessage(func(_ *model.Txn, b *blocks, v *model.Value) bool {
			v.SetBool(b.complete)
			return true
		})},
		{"nbblks", "number of blocks of the message", model.TypeSint, number(func(b *blocks) int { return b.count })},
		{"size", "bytes of the message's buffer", model.TypeSint, number(func(b *blocks) int { return b.limit - bufFixed })},
		{"used", "bytes used of the message's buffer", model.TypeSint, number((*blocks).used)},
	} {
		sample.AddFetch(sample.Fetch{Name: "internal.htx." + f.name, Out: f.out, Valid: places, Help: f.help, Get: f.get})
	}
	for _, f := range []struct {
		name, help string
		out        model.Type
		get        func(*model.Txn, blocks, int, *model.Value) bool
	}{
		{"size", "size of a block", model.TypeSint, func(_ *model.Txn, b blocks, i int, v *model.Value) bool {
			v.SetInt(int64(b.size(i)))
			return true
		}},
		{"type", "type of a block", model.TypeStr, blockType},
		{"data", "contents of a block of the body", model.TypeBin, blockData},
		{"hdrname", "name of a block that is a field", model.TypeStr, blockName},
		{"hdrval", "value of a block that is a field", model.TypeStr, blockValue},
		{"start_line", "start line of a block that is one", model.TypeStr, blockStartLine},
	} {
		sample.AddFetch(sample.Fetch{Name: "internal.htx_blk." + f.name, Args: "string", Out: f.out, Valid: places, Help: f.help, Check: checkBlock, Get: ofBlock(f.get)})
	}
	sample.AddFetch(sample.Fetch{
		Name: "internal.strm.is_htx", Out: model.TypeBool, Valid: sample.MustSet("YYYYYYYYYYYYYYYYYYYY.Y"), Help: "the stream carries messages",
		Get: func(tx *model.Txn, _ []sample.Arg, v *model.Value) bool {
			v.SetBool(isHTTP(tx))
			return true
		},
	})
}
