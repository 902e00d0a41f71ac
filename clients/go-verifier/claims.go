package countersign

import (
	"math"
	"regexp"
)

// IntentClaims are the claims of an intent token. Times are seconds since 1970. A pointer or string that a token may leave out is nil
// or empty then.
type IntentClaims struct {
	Issuer         string
	Subject        string
	Audience       string
	ID             string
	IssuedAt       int64
	ExpiresAt      int64
	NotBefore      *int64
	Environment    Environment
	ActionHash     string
	PayloadHash    string
	ContextHash    string
	TraceID        string
	ReadingHash    string
	AgentID        string
	AgentSessionID string
	DeviceID       string
	MandateID      string
	ScheduleID     string
	Cycle          *int64
	OrderID        string
	// OrderHash is the content of the order when the token was issued.
	OrderHash  string
	Biometric  *Biometric
	ApprovalID string
	// SingleUse says that the token can be executed once. Whether it was, only the service knows.
	SingleUse     bool
	PolicyVersion int64
	StatusList    StatusList
	// All has every claim by its name, those too that this version does not know.
	All map[string]any
}

// Biometric is a passkey assertion that the service verified.
type Biometric struct {
	Verified   bool
	Credential string
	UV         bool
	At         int64
}

// StatusList is the place of a token in a status list.
type StatusList struct {
	Index int64
	URI   string
}

// 32 bytes in base64url without padding; the last character carries four bits.
var hashForm = regexp.MustCompile(`^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$`)

type check func(value any) bool

var required = map[string]check{
	"iss":              isText,
	"sub":              isText,
	"aud":              isText,
	"jti":              isText,
	"iat":              isCount,
	"exp":              isCount,
	"env":              isEnvironment,
	"action_hash":      isHash,
	"payload_hash":     isHash,
	"agent_session_id": isText,
	"device_id":        isText,
	"policy_version":   isCount,
	"status":           isStatus,
}

var optional = map[string]check{
	"nbf":          isCount,
	"context_hash": isHash,
	"trace_id":     isText,
	"reading_hash": isHash,
	"agent_id":     isText,
	"mandate_id":   isText,
	"schedule_id":  isText,
	"cycle":        isCount,
	"order_id":     isText,
	"order_hash":   isHash,
	"biometric":    isBiometric,
	"approval_id":  isText,
	"single_use":   isFlag,
}

// readClaims returns nil unless every claim that a token must have is there, and every known one has its form. Others are ignored:
// later versions of the service add some.
func readClaims(payload map[string]any) *IntentClaims {
	for name, check := range required {
		if !check(payload[name]) {
			return nil
		}
	}
	for name, check := range optional {
		if value, isThere := payload[name]; isThere && !check(value) {
			return nil
		}
	}
	claims := &IntentClaims{
		Issuer:         textOf(payload["iss"]),
		Subject:        textOf(payload["sub"]),
		Audience:       textOf(payload["aud"]),
		ID:             textOf(payload["jti"]),
		IssuedAt:       countOf(payload["iat"]),
		ExpiresAt:      countOf(payload["exp"]),
		NotBefore:      optionalCount(payload["nbf"]),
		Environment:    Environment(textOf(payload["env"])),
		ActionHash:     textOf(payload["action_hash"]),
		PayloadHash:    textOf(payload["payload_hash"]),
		ContextHash:    textOf(payload["context_hash"]),
		TraceID:        textOf(payload["trace_id"]),
		ReadingHash:    textOf(payload["reading_hash"]),
		AgentID:        textOf(payload["agent_id"]),
		AgentSessionID: textOf(payload["agent_session_id"]),
		DeviceID:       textOf(payload["device_id"]),
		MandateID:      textOf(payload["mandate_id"]),
		ScheduleID:     textOf(payload["schedule_id"]),
		Cycle:          optionalCount(payload["cycle"]),
		OrderID:        textOf(payload["order_id"]),
		OrderHash:      textOf(payload["order_hash"]),
		ApprovalID:     textOf(payload["approval_id"]),
		SingleUse:      payload["single_use"] == true,
		PolicyVersion:  countOf(payload["policy_version"]),
		All:            payload,
	}
	list := memberOf(payload["status"], "status_list")
	claims.StatusList = StatusList{Index: countOf(memberOf(list, "idx")), URI: textOf(memberOf(list, "uri"))}
	if biometric, isThere := payload["biometric"]; isThere {
		claims.Biometric = &Biometric{
			Verified:   memberOf(biometric, "verified") == true,
			Credential: textOf(memberOf(biometric, "credential")),
			UV:         memberOf(biometric, "uv") == true,
			At:         countOf(memberOf(biometric, "at")),
		}
	}
	return claims
}

func isText(value any) bool {
	return textOf(value) != ""
}

// isCount takes a whole number that is written as 1.0 or 1e3 too, as other languages read it.
func isCount(value any) bool {
	number, isNumber := value.(float64)
	return isNumber && number >= 0 && number == math.Trunc(number)
}

func isFlag(value any) bool {
	_, isBool := value.(bool)
	return isBool
}

func isHash(value any) bool {
	return hashForm.MatchString(textOf(value))
}

func isEnvironment(value any) bool {
	return value == string(Sandbox) || value == string(Live)
}

func isStatus(value any) bool {
	list := memberOf(value, "status_list")
	return isCount(memberOf(list, "idx")) && isText(memberOf(list, "uri"))
}

func isBiometric(value any) bool {
	return isFlag(memberOf(value, "verified")) && isFlag(memberOf(value, "uv")) &&
		isText(memberOf(value, "credential")) && isCount(memberOf(value, "at"))
}

func memberOf(value any, name string) any {
	object, _ := value.(map[string]any)
	return object[name]
}

func textOf(value any) string {
	text, _ := value.(string)
	return text
}

// countOf gives the largest integer for numbers beyond it, such as 1e21.
func countOf(value any) int64 {
	number, _ := value.(float64)
	if number >= math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(number)
}

func optionalCount(value any) *int64 {
	if value == nil {
		return nil
	}
	count := countOf(value)
	return &count
}
