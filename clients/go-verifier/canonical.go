package countersign

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Far above what the service accepts, and it ends a cycle long before the stack overflows.
const maxCanonicalDepth = 1_000

// Canonicalize writes the canonical JSON of RFC 8785, whose SHA-256 is the payload_hash of a token. It takes nil, booleans, strings,
// numbers, json.Number, []any and map[string]any: give other values to json.Marshal, and its result to CanonicalizeJSON. The error is
// a *JSONError: for NaN and infinities, integers that a double may have rounded, strings that are no UTF-8, other types, and cycles.
func Canonicalize(value any) (string, error) {
	var text strings.Builder
	if err := write(&text, value, 0); err != nil {
		return "", err
	}
	return text.String(), nil
}

// CanonicalizeJSON writes the canonical form of a JSON text. The error is a *JSONError.
func CanonicalizeJSON(source []byte) (string, error) {
	value, err := ParseJSON(source)
	if err != nil {
		return "", err
	}
	return Canonicalize(value)
}

func write(text *strings.Builder, value any, depth int) error {
	switch value := value.(type) {
	case nil:
		text.WriteString("null")
		return nil
	case bool:
		text.WriteString(strconv.FormatBool(value))
		return nil
	case string:
		return writeString(text, value)
	case json.Number:
		parsed, err := ParseJSON([]byte(value))
		if err != nil {
			return err
		}
		number, isNumber := parsed.(float64)
		if !isNumber {
			return &JSONError{Malformed, -1}
		}
		return writeNumber(text, number)
	case []any:
		return writeArray(text, value, depth)
	case map[string]any:
		return writeObject(text, value, depth)
	}
	number, isNumber := numberOf(value)
	if !isNumber {
		return &JSONError{Malformed, -1}
	}
	return writeNumber(text, number)
}

// numberOf rounds what a double can't hold to a double that is out of range too.
func numberOf(value any) (float64, bool) {
	switch value := value.(type) {
	case float64:
		return value, true
	case float32:
		return float64(value), true
	case int:
		return float64(value), true
	case int8:
		return float64(value), true
	case int16:
		return float64(value), true
	case int32:
		return float64(value), true
	case int64:
		return float64(value), true
	case uint:
		return float64(value), true
	case uint8:
		return float64(value), true
	case uint16:
		return float64(value), true
	case uint32:
		return float64(value), true
	case uint64:
		return float64(value), true
	}
	return 0, false
}

func writeArray(text *strings.Builder, elements []any, depth int) error {
	if depth >= maxCanonicalDepth {
		return &JSONError{TooDeep, -1}
	}
	text.WriteByte('[')
	for index, element := range elements {
		if index > 0 {
			text.WriteByte(',')
		}
		if err := write(text, element, depth+1); err != nil {
			return err
		}
	}
	text.WriteByte(']')
	return nil
}

func writeObject(text *strings.Builder, members map[string]any, depth int) error {
	if depth >= maxCanonicalDepth {
		return &JSONError{TooDeep, -1}
	}
	names := make([]string, 0, len(members))
	for name := range members {
		names = append(names, name)
	}
	// RFC 8785 3.2.3: names in the order of their UTF-16 code units, which differs from that of their bytes.
	slices.SortFunc(names, func(a, b string) int {
		return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
	})
	text.WriteByte('{')
	for index, name := range names {
		if index > 0 {
			text.WriteByte(',')
		}
		if err := writeString(text, name); err != nil {
			return err
		}
		text.WriteByte(':')
		if err := write(text, members[name], depth+1); err != nil {
			return err
		}
	}
	text.WriteByte('}')
	return nil
}

// RFC 8785 3.2.2.2. encoding/json also escapes <, >, & and the line separators.
func writeString(text *strings.Builder, value string) error {
	if !utf8.ValidString(value) {
		return &JSONError{InvalidUTF8, -1}
	}
	text.WriteByte('"')
	for _, character := range value {
		switch character {
		case '"', '\\':
			text.WriteByte('\\')
			text.WriteRune(character)
		case '\b':
			text.WriteString(`\b`)
		case '\t':
			text.WriteString(`\t`)
		case '\n':
			text.WriteString(`\n`)
		case '\f':
			text.WriteString(`\f`)
		case '\r':
			text.WriteString(`\r`)
		default:
			if character < 0x20 {
				text.WriteString(`\u00`)
				text.WriteByte('0' + byte(character>>4))
				text.WriteByte("0123456789abcdef"[character&15])
			} else {
				text.WriteRune(character)
			}
		}
	}
	text.WriteByte('"')
	return nil
}

func writeNumber(text *strings.Builder, number float64) error {
	size := math.Abs(number)
	isRounded := size > maxSafeInteger && size < exponentFrom
	if math.IsNaN(number) || math.IsInf(number, 0) || isRounded {
		return &JSONError{NumberOutOfRange, -1}
	}
	text.WriteString(shortest(number))
	return nil
}

// shortest writes a number as ECMAScript does (RFC 8785 3.2.2.3): strconv finds the same digits and sets the point elsewhere.
func shortest(number float64) string {
	if number == 0 {
		return "0"
	}
	sign := ""
	if number < 0 {
		sign = "-"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(math.Abs(number), 'e', -1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	power, _ := strconv.Atoi(exponent)
	// The number is 0.DIGITS times ten to the power of point.
	switch point := power + 1; {
	case point > 0 && point <= 21 && len(digits) <= point:
		return sign + digits + strings.Repeat("0", point-len(digits))
	case point > 0 && point <= 21:
		return sign + digits[:point] + "." + digits[point:]
	case point > -6 && point <= 0:
		return sign + "0." + strings.Repeat("0", -point) + digits
	}
	rest := ""
	if len(digits) > 1 {
		rest = "." + digits[1:]
	}
	plus := ""
	if power > 0 {
		plus = "+"
	}
	return sign + digits[:1] + rest + "e" + plus + strconv.Itoa(power)
}
