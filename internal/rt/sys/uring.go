package sys

// The kernel's names for io_uring, from linux/io_uring.h, as far as they are used here.
const (
	sysSetup    = 425
	sysEnter    = 426
	sysRegister = 427

	SetupCQSize       = 1 << 3
	SetupClamp        = 1 << 4
	SetupRDisabled    = 1 << 6
	SetupSubmitAll    = 1 << 7
	SetupTaskrunFlag  = 1 << 9
	SetupSingleIssuer = 1 << 12
	SetupDeferTaskrun = 1 << 13
	SetupNoSQArray    = 1 << 16

	featSingleMmap   = 1 << 0
	featNoDrop       = 1 << 1
	featSubmitStable = 1 << 2
	featExtArg       = 1 << 8
	featCQESkip      = 1 << 11

	enterGetEvents  = 1 << 0
	enterExtArg     = 1 << 3
	enterRegistered = 1 << 4

	offSQRing = 0
	offSQEs   = 0x10000000

	regProbe       = 8
	regEnableRings = 12
	regRingFds     = 20
	regPbufRing    = 22
	unregPbufRing  = 23

	sqCQOverflow = 1 << 1
	sqTaskrun    = 1 << 2
)

// Operation codes, flags of submissions and of completions.
const (
	OpPollAdd     = 6
	OpPollRemove  = 7
	OpSendmsg     = 9
	OpAccept      = 13
	OpAsyncCancel = 14
	OpConnect     = 16
	OpClose       = 19
	OpRead        = 22
	OpSend        = 26
	OpRecv        = 27

	SqeBufferSelect   = 1 << 5
	SqeCqeSkipSuccess = 1 << 6

	RecvPollFirst = 1 << 0
	RecvMultishot = 1 << 1
	PollAddMulti  = 1 << 0

	CancelAll = 1 << 0
	CancelAny = 1 << 2

	CqeBuffer       = 1 << 0
	CqeMore         = 1 << 1
	CqeSockNonempty = 1 << 2
	CqeBufferShift  = 16
)

// SQE is a submission queue entry.
type SQE struct {
	Op       uint8
	Flags    uint8
	Prio     uint16
	Fd       int32
	Off      uint64
	Addr     uint64
	Len      uint32
	OpFlags  uint32
	UserData uint64
	BufGroup uint16
	_        uint16
	Splice   int32
	Addr3    uint64
	_        uint64
}

// CQE is a completion queue entry.
type CQE struct {
	UserData uint64
	Res      int32
	Flags    uint32
}

type sqOffsets struct {
	head, tail, mask, entries, flags, dropped, array, resv1 uint32
	addr                                                    uint64
}

type cqOffsets struct {
	head, tail, mask, entries, overflow, cqes, flags, resv1 uint32
	addr                                                    uint64
}

type ringParams struct {
	sqEntries, cqEntries, flags, cpu, idle, features, wq uint32
	resv                                                 [3]uint32
	sq                                                   sqOffsets
	cq                                                   cqOffsets
}
