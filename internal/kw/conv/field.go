package conv

import (
	"errors"
	"fmt"

	"weir/internal/lang/sample"
	"weir/internal/model"
)

func init() {
	sample.AddConv(
		sample.Conv{Name: "bytes", Args: "string[,string]", In: model.TypeBin, Out: model.TypeBin, Check: checkBytes, Run: cutBytes,
			Help: "the bytes from an offset on, as many as given; both are numbers or variables"},
		sample.Conv{Name: "field", Args: "integer,string[,integer]", In: model.TypeStr, Out: model.TypeStr, Check: checkField, Run: field,
			Help: "the n-th field between delimiters, counted from the end when negative; more of them with a count, 0 for the rest"},
		sample.Conv{Name: "word", Args: "integer,string[,integer]", In: model.TypeStr, Out: model.TypeStr, Check: checkField, Run: word,
			Help: "like field, but empty fields do not count"},
	)
}

func checkBytes(_ *sample.ArgCheck, a []sample.Arg) error {
	if err := operand(&a[0]); err != nil {
		return err
	}
	if a[0].Data == nil && a[0].Int < 0 {
		return errors.New("the offset cannot be negative")
	}
	if len(a) == 1 {
		return nil
	}
	if err := operand(&a[1]); err != nil {
		return err
	}
	if a[1].Data == nil && a[1].Int <= 0 {
		return errors.New("the length must be above 0")
	}
	return nil
}

func cutBytes(tx *model.Txn, a []sample.Arg, v *model.Value) bool {
	start, ok := operandValue(tx, &a[0])
	if !ok || start < 0 {
		return false
	}
	size := int64(len(v.B))
	start = min(start, size)
	end := size
	if len(a) > 1 {
		n, ok := operandValue(tx, &a[1])
		if !ok || n < 0 {
			return false
		}
		end = start + min(n, size-start)
	}
	v.B = v.B[start:end:end]
	return true
}

func checkField(_ *sample.ArgCheck, a []sample.Arg) error {
	if a[0].Int == 0 {
		return fmt.Errorf("the index counts from 1, or from -1 at the end; it cannot be 0")
	}
	if a[1].Str == "" {
		return errors.New("the delimiters are missing")
	}
	return charsetArg(1)(nil, a)
}

// fieldArgs are the index, the delimiters, and the count: 0 for all that is left. The reference reads a count of 32 bits.
func fieldArgs(a []sample.Arg) (index int64, set *charset, count int32) {
	count = 1
	if len(a) > 2 {
		count = max(int32(a[2].Int), 0)
	}
	return a[0].Int, charsetOf(&a[1]), count
}

func field(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	index, set, count := fieldArgs(a)
	b := v.B
	if index < 0 {
		end, ok := fieldEnd(b, index, set)
		if !ok {
			return false
		}
		start := end
		for start > 0 {
			if set[b[start-1]] {
				if count--; count == 0 {
					break
				}
			}
			start--
		}
		v.B = b[start:end:end]
		return true
	}
	start := 0
	for ; index > 1; index-- {
		for start < len(b) && !set[b[start]] {
			start++
		}
		if start == len(b) {
			return false
		}
		start++
	}
	end := start
	for end < len(b) {
		if set[b[end]] {
			if count--; count == 0 {
				break
			}
		}
		end++
	}
	v.B = b[start:end:end]
	return true
}

// fieldEnd finds the end of the field that a negative index names.
func fieldEnd(b []byte, index int64, set *charset) (end int, ok bool) {
	end = len(b)
	for ; index < -1; index++ {
		for end > 0 && !set[b[end-1]] {
			end--
		}
		if end == 0 {
			return 0, false
		}
		end--
	}
	return end, true
}

func word(_ *model.Txn, a []sample.Arg, v *model.Value) bool {
	index, set, count := fieldArgs(a)
	if index < 0 {
		return wordFromEnd(v, -index, set, count)
	}
	b, i := v.B, 0
	for n := int64(0); ; {
		for i < len(b) && set[b[i]] {
			i++
		}
		if i == len(b) {
			return false
		}
		if n++; n == index {
			break
		}
		for i < len(b) && !set[b[i]] {
			i++
		}
	}
	start := i
	for i < len(b) {
		for i < len(b) && !set[b[i]] {
			i++
		}
		if count--; count == 0 {
			break
		}
		// What follows the last word belongs to the result when there are fewer words than wanted.
		for i < len(b) && set[b[i]] {
			i++
		}
	}
	v.B = b[start:i:i]
	return true
}

// wordFromEnd is the mirror image of word.
func wordFromEnd(v *model.Value, index int64, set *charset, count int32) bool {
	b, i := v.B, len(v.B)
	for n := int64(0); ; {
		for i > 0 && set[b[i-1]] {
			i--
		}
		if i == 0 {
			return false
		}
		if n++; n == index {
			break
		}
		for i > 0 && !set[b[i-1]] {
			i--
		}
	}
	end := i
	for i > 0 {
		for i > 0 && !set[b[i-1]] {
			i--
		}
		if count--; count == 0 {
			break
		}
		for i > 0 && set[b[i-1]] {
			i--
		}
	}
	v.B = b[i:end:end]
	return true
}
