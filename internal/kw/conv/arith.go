package conv

import (
	"math"
	"math/bits"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	binary := func(name, help string, fn func(x, y int64) int64) {
		sample.AddConv(sample.Conv{Name: name, Args: "string", In: model.TypeSint, Out: model.TypeSint, Help: help,
			Check: func(_ *sample.ArgCheck, a []sample.Arg) error { return operand(&a[0]) },
			Run: func(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
				y, ok := operandValue(tx, &a[0])
				if ok {
					v.SetInt(fn(v.Num, y))
				}
				return ok
			}})
	}
	binary("add", "the sum with a number or a variable; the nearest integer on overflow", add)
	binary("sub", "the difference to a number or a variable; the nearest integer on overflow", sub)
	binary("mul", "the product with a number or a variable; the nearest integer on overflow", mul)
	binary("div", "the quotient by a number or a variable, towards zero; the largest integer when it is 0", div)
	binary("mod", "the remainder of the division by a number or a variable; 0 when it is 0", mod)
	binary("and", "the bits that are set in a number or a variable as well", func(x, y int64) int64 { return x & y })
	binary("or", "the bits that are set here or in a number or a variable", func(x, y int64) int64 { return x | y })
	binary("xor", "the bits that differ from those of a number or a variable", func(x, y int64) int64 { return x ^ y })

	unary := func(name string, out model.Type, help string, fn func(v *model.Value)) {
		sample.AddConv(sample.Conv{Name: name, In: model.TypeSint, Out: out, Help: help,
			Run: func(_ *model.Txn, _ []sample.Arg, v *model.Value) bool {
				fn(v)
				return true
			}})
	}
	unary("neg", model.TypeSint, "the opposite number", func(v *model.Value) { v.SetInt(sub(0, v.Num)) })
	unary("cpl", model.TypeSint, "all bits inverted", func(v *model.Value) { v.SetInt(^v.Num) })
	unary("bool", model.TypeBool, "whether the number is not 0", func(v *model.Value) { v.SetBool(v.Num != 0) })
	unary("not", model.TypeBool, "whether the number is 0", func(v *model.Value) { v.SetBool(v.Num == 0) })
	unary("odd", model.TypeBool, "whether the number is odd", func(v *model.Value) { v.SetBool(v.Num&1 != 0) })
	unary("even", model.TypeBool, "whether the number is even", func(v *model.Value) { v.SetBool(v.Num&1 == 0) })
}

// limit is the end of the range of integers on the side of a sign.
func limit(negative bool) int64 {
	if negative {
		return math.MinInt64
	}
	return math.MaxInt64
}

func add(x, y int64) int64 {
	s := x + y
	if (x^s)&(y^s) < 0 { // both operands have another sign than the sum
		return limit(x < 0)
	}
	return s
}

func sub(x, y int64) int64 {
	d := x - y
	if (x^y)&(x^d) < 0 {
		return limit(x < 0)
	}
	return d
}

func mul(x, y int64) int64 {
	negative := (x < 0) != (y < 0)
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	switch {
	case hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative:
		return limit(negative)
	case negative:
		return -int64(lo)
	}
	return int64(lo)
}

// magnitude is the absolute value.
func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func div(x, y int64) int64 {
	if y == 0 || x == math.MinInt64 && y == -1 {
		return math.MaxInt64
	}
	return x / y
}

func mod(x, y int64) int64 {
	if y == 0 || y == -1 {
		return 0
	}
	return x % y
}
