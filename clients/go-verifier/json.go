package countersign

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	defaultMaxDepth = 32
	maxSafeInteger  = 1<<53 - 1
	// From here on RFC 8785 writes an exponent.
	exponentFrom = 1e21
)

// JSONErrorCode says why a text or value is refused.
type JSONErrorCode string

const (
	Malformed        JSONErrorCode = "malformed"
	InvalidUTF8      JSONErrorCode = "invalid_utf8"
	DuplicateKey     JSONErrorCode = "duplicate_key"
	LoneSurrogate    JSONErrorCode = "lone_surrogate"
	NumberOutOfRange JSONErrorCode = "number_out_of_range"
	TooDeep          JSONErrorCode = "too_deep"
)

// JSONError is a text or value that I-JSON (RFC 7493) can't express.
type JSONError struct {
	Code JSONErrorCode
	// Offset is in bytes of the text, and -1 for values.
	Offset int
}

func (e *JSONError) Error() string {
	if e.Offset < 0 {
		return string(e.Code)
	}
	return fmt.Sprintf("%s at offset %d", e.Code, e.Offset)
}

// ParseJSON parses I-JSON (RFC 7493) into nil, bool, float64, string, []any and map[string]any, with at most 32 nested objects and
// arrays. encoding/json keeps the last of two equal names and rounds integers, so that a signature over the text would cover
// another value than the one that is read. The error is a *JSONError.
func ParseJSON(source []byte) (any, error) {
	return parseJSON(source, defaultMaxDepth)
}

func parseJSON(source []byte, maxDepth int) (any, error) {
	if !utf8.Valid(source) {
		return nil, &JSONError{InvalidUTF8, -1}
	}
	scan := scanner{text: string(source), maxDepth: maxDepth}
	scan.skipSpace()
	value, err := scan.value(0)
	if err != nil {
		return nil, err
	}
	scan.skipSpace()
	if scan.at < len(scan.text) {
		return nil, scan.fail(Malformed)
	}
	return value, nil
}

type scanner struct {
	text     string
	maxDepth int
	at       int
}

func (s *scanner) fail(code JSONErrorCode) error {
	return &JSONError{code, s.at}
}

// NUL at the end of the text, which no grammar rule accepts outside of a string.
func (s *scanner) peek() byte {
	if s.at < len(s.text) {
		return s.text[s.at]
	}
	return 0
}

func (s *scanner) skipSpace() {
	for c := s.peek(); c == ' ' || c == '\n' || c == '\r' || c == '\t'; c = s.peek() {
		s.at++
	}
}

// take skips white space, and the character if it comes next.
func (s *scanner) take(c byte) bool {
	s.skipSpace()
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

func (s *scanner) value(depth int) (any, error) {
	switch c := s.peek(); c {
	case '{', '[':
		if depth >= s.maxDepth {
			return nil, s.fail(TooDeep)
		}
		if c == '{' {
			return s.object(depth + 1)
		}
		return s.array(depth + 1)
	case '"':
		return s.str()
	}
	switch rest := s.text[s.at:]; {
	case strings.HasPrefix(rest, "true"):
		s.at += len("true")
		return true, nil
	case strings.HasPrefix(rest, "false"):
		s.at += len("false")
		return false, nil
	case strings.HasPrefix(rest, "null"):
		s.at += len("null")
		return nil, nil
	}
	return s.number()
}

func (s *scanner) object(depth int) (any, error) {
	members := map[string]any{}
	s.at++
	if s.take('}') {
		return members, nil
	}
	for {
		s.skipSpace()
		nameAt := s.at
		if s.peek() != '"' {
			return nil, s.fail(Malformed)
		}
		name, err := s.str()
		if err != nil {
			return nil, err
		}
		if _, isThere := members[name]; isThere {
			return nil, &JSONError{DuplicateKey, nameAt}
		}
		if !s.take(':') {
			return nil, s.fail(Malformed)
		}
		s.skipSpace()
		if members[name], err = s.value(depth); err != nil {
			return nil, err
		}
		if s.take('}') {
			return members, nil
		}
		if !s.take(',') {
			return nil, s.fail(Malformed)
		}
	}
}

func (s *scanner) array(depth int) (any, error) {
	elements := []any{}
	s.at++
	if s.take(']') {
		return elements, nil
	}
	for {
		s.skipSpace()
		element, err := s.value(depth)
		if err != nil {
			return nil, err
		}
		elements = append(elements, element)
		if s.take(']') {
			return elements, nil
		}
		if !s.take(',') {
			return nil, s.fail(Malformed)
		}
	}
}

func (s *scanner) str() (string, error) {
	var text strings.Builder
	s.at++
	for {
		start := s.at
		for s.at < len(s.text) && s.text[s.at] != '"' && s.text[s.at] != '\\' && s.text[s.at] >= 0x20 {
			s.at++
		}
		text.WriteString(s.text[start:s.at])
		switch s.peek() {
		case '"':
			s.at++
			return text.String(), nil
		case '\\':
			character, err := s.escape()
			if err != nil {
				return "", err
			}
			text.WriteRune(character)
		default:
			return "", s.fail(Malformed)
		}
	}
}

var shortEscapes = map[byte]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (s *scanner) escape() (rune, error) {
	rest := s.text[s.at+1:]
	if rest == "" {
		return 0, s.fail(Malformed)
	}
	if character, isShort := shortEscapes[rest[0]]; isShort {
		s.at += 2
		return character, nil
	}
	unit, isUnit := unitOf(s.text[s.at:])
	if !isUnit {
		return 0, s.fail(Malformed)
	}
	if !utf16.IsSurrogate(unit) {
		s.at += 6
		return unit, nil
	}
	second, _ := unitOf(s.text[s.at+6:])
	character := utf16.DecodeRune(unit, second)
	if character == utf8.RuneError {
		return 0, s.fail(LoneSurrogate)
	}
	s.at += 12
	return character, nil
}

// unitOf reads an escape such as \u0041 at the beginning of the text.
func unitOf(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range text[2:6] {
		switch {
		case c >= '0' && c <= '9':
			unit = unit<<4 | (c - '0')
		case c >= 'a' && c <= 'f':
			unit = unit<<4 | (c - 'a' + 10)
		case c >= 'A' && c <= 'F':
			unit = unit<<4 | (c - 'A' + 10)
		default:
			return 0, false
		}
	}
	return unit, true
}

func (s *scanner) number() (any, error) {
	start := s.at
	if s.peek() == '-' {
		s.at++
	}
	isZero := s.peek() == '0'
	if digits := s.digits(); digits == 0 || (isZero && digits > 1) {
		return nil, s.fail(Malformed)
	}
	isFloat := false
	if s.peek() == '.' {
		isFloat = true
		s.at++
		if s.digits() == 0 {
			return nil, s.fail(Malformed)
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		isFloat = true
		s.at++
		if c := s.peek(); c == '+' || c == '-' {
			s.at++
		}
		if s.digits() == 0 {
			return nil, s.fail(Malformed)
		}
	}
	literal := s.text[start:s.at]
	value, err := strconv.ParseFloat(literal, 64)
	if (err != nil && !errors.Is(err, strconv.ErrRange)) || !isPortable(value, literal, isFloat) {
		s.at = start
		return nil, s.fail(NumberOutOfRange)
	}
	return value, nil
}

func (s *scanner) digits() int {
	start := s.at
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.at++
	}
	return s.at - start
}

// RFC 7493 2.2: a double has no exact place for other integers.
func isPortable(value float64, literal string, isFloat bool) bool {
	// 1e-400 is not 0: an amount must not vanish.
	if value == 0 {
		return digitsOf(literal) == ""
	}
	size := math.Abs(value)
	if size <= maxSafeInteger {
		return true
	}
	isHuge := size >= exponentFrom && !math.IsInf(size, 0)
	return isFloat && isHuge && digitsOf(literal) == digitsOf(strconv.FormatFloat(value, 'e', -1, 64))
}

// digitsOf leaves out sign, point, exponent and outer zeros.
func digitsOf(literal string) string {
	mantissa, _, _ := strings.Cut(strings.ToLower(literal), "e")
	return strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(mantissa), "0")
}
