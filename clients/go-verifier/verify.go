// Package countersign verifies intent tokens of Countersign with its public keys alone: that the service signed a token, for this
// environment, and that it has not expired. What needs the action, or the state that the service keeps, is named in
// Verdict.NotChecked.
package countersign

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Environment is one of the two of the service.
type Environment string

const (
	Sandbox Environment = "sandbox"
	Live    Environment = "live"
)

// Reason is for programs. It is empty for a valid token.
type Reason string

const (
	InvalidToken        Reason = "invalid_token"
	TokenExpired        Reason = "token_expired"
	EnvironmentMismatch Reason = "environment_mismatch"
	// KeysUnavailable says nothing of the token: verify it again once the key set can be had.
	KeysUnavailable Reason = "keys_unavailable"
)

const (
	maxTokenCharacters  = 16 * 1024
	maxHeaderCharacters = 512
	signatureBytes      = 64
	maxPayloadDepth     = 8
	maxToleranceSeconds = 60
)

// Options say what a token must be.
type Options struct {
	// Keys is a KeySource or a KeySet.
	Keys Keys
	// Environment is Live when empty: a token of the sandbox authorizes nothing.
	Environment Environment
	// Audience is compared with aud. Without it the audience is not checked.
	Audience string
	// Issuer is compared with iss. Without it the issuer is not checked.
	Issuer string
	// ClockTolerance is a minute at most.
	ClockTolerance time.Duration
	// Now is for tests.
	Now func() time.Time
}

// Verdict is what can be said of a token without asking the service.
type Verdict struct {
	// Valid says that the service signed the token, for this environment and audience, and that it has not expired.
	Valid  bool
	Reason Reason
	// Problem says for people which check failed. Programs decide by Reason.
	Problem string
	// Claims is nil unless the signature of the token verifies.
	Claims *IntentClaims
	// NotChecked is what a verify of the service would have checked besides.
	NotChecked []string
	// RequiresOnline says that the token is of single use, or bound to something whose state only the service knows: call verify
	// before you act.
	RequiresOnline bool
	// Cause is why the keys can't be had, where that is the reason.
	Cause error
}

// VerifyIntentTokenOffline never panics, neither for a bad token nor for a bad key set. It waits only for Options.Keys.
func VerifyIntentTokenOffline(ctx context.Context, token string, options Options) Verdict {
	claims, problem, err := parse(ctx, token, options.Keys)
	if err != nil {
		return Verdict{Reason: KeysUnavailable, Problem: string(KeysUnavailable), Cause: err}
	}
	if problem != "" {
		return Verdict{Reason: InvalidToken, Problem: problem}
	}
	refused := func(reason Reason, problem string) Verdict {
		return Verdict{Reason: reason, Problem: problem, Claims: claims}
	}
	environment := options.Environment
	if environment == "" {
		environment = Live
	}
	if claims.Environment != environment {
		return refused(EnvironmentMismatch, "environment")
	}
	if options.Issuer != "" && claims.Issuer != options.Issuer {
		return refused(InvalidToken, "issuer")
	}
	if options.Audience != "" && claims.Audience != options.Audience {
		return refused(InvalidToken, "audience")
	}
	now := time.Now
	if options.Now != nil {
		now = options.Now
	}
	seconds := float64(now().UnixMilli()) / 1_000
	tolerance := min(max(options.ClockTolerance.Seconds(), 0), maxToleranceSeconds)
	// Clocks differ; an issuer whose clock is further ahead gives tokens that live as much longer.
	isAhead := float64(claims.IssuedAt) > seconds+maxToleranceSeconds
	if isAhead || (claims.NotBefore != nil && seconds < float64(*claims.NotBefore)-tolerance) {
		return refused(InvalidToken, "not_yet_valid")
	}
	if seconds >= float64(claims.ExpiresAt)+tolerance {
		return refused(TokenExpired, "expired")
	}
	return Verdict{
		Valid:          true,
		Claims:         claims,
		NotChecked:     uncheckedOf(claims, options.Audience),
		RequiresOnline: claims.SingleUse || len(bindingsOf(claims)) > 0,
	}
}

// parse returns the claims of a token that a token key of its own environment signed, or why it is refused.
func parse(ctx context.Context, token string, keys Keys) (claims *IntentClaims, problem string, err error) {
	if isLonger(token, maxTokenCharacters) {
		return nil, "too_long", nil
	}
	segments := strings.Split(token, ".")
	if len(segments) != 3 || segments[0] == "" || segments[1] == "" || segments[2] == "" {
		return nil, "segments", nil
	}
	if isLonger(segments[0], maxHeaderCharacters) {
		return nil, "header", nil
	}
	header, payload, signature := decodeBase64url(segments[0]), decodeBase64url(segments[1]), decodeBase64url(segments[2])
	if header == nil || payload == nil || signature == nil {
		return nil, "encoding", nil
	}
	kid, problem := readHeader(header)
	if problem != "" {
		return nil, problem, nil
	}
	if len(signature) != signatureBytes {
		return nil, "signature", nil
	}
	key, err := find(ctx, keys, kid)
	if err != nil {
		return nil, "", err
	}
	point := key.point(kid)
	if point == nil {
		return nil, "unknown_key", nil
	}
	if !isSignedBy(point, signature, segments[0]+"."+segments[1]) {
		return nil, "signature", nil
	}
	object := parseObject(payload)
	if object == nil {
		return nil, "payload", nil
	}
	claims = readClaims(object)
	if claims == nil || string(claims.Environment) != key.Environment {
		return nil, "claims", nil
	}
	return claims, "", nil
}

// readHeader takes exactly the three members that the service writes. crit, b64, jwk, jku, x5c and x5u change how a token is verified,
// or by which key.
func readHeader(source []byte) (kid string, problem string) {
	header := parseObject(source)
	if header == nil {
		return "", "header"
	}
	for name := range header {
		if name != "alg" && name != "typ" && name != "kid" {
			return "", "header"
		}
	}
	kid, isText := header["kid"].(string)
	switch {
	case !isText:
		return "", "header"
	case header["alg"] != "ES256":
		return "", "algorithm"
	case header["typ"] != "intent+jwt":
		return "", "type"
	}
	return kid, ""
}

func parseObject(source []byte) map[string]any {
	value, err := parseJSON(source, maxPayloadDepth)
	if err != nil {
		return nil
	}
	object, _ := value.(map[string]any)
	return object
}

// find turns a panic of the keys into an error.
func find(ctx context.Context, keys Keys, kid string) (key *PublicKey, err error) {
	if keys == nil {
		return nil, errors.New("there are no keys")
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			key, err = nil, fmt.Errorf("the keys panicked: %v", thrown)
		}
	}()
	return keys.Find(ctx, kid)
}

// isLonger counts UTF-16 code units, so that all libraries agree.
func isLonger(text string, limit int) bool {
	if len(text) <= limit {
		return false
	}
	units := 0
	for at := 0; at < len(text) && units <= limit; {
		character, size := utf8.DecodeRuneInString(text[at:])
		at += size
		units++
		if character > 0xffff {
			units++
		}
	}
	return units > limit
}

func bindingsOf(claims *IntentClaims) []string {
	var names []string
	for _, binding := range [][2]string{
		{"approval", claims.ApprovalID}, {"mandate", claims.MandateID}, {"schedule", claims.ScheduleID},
		{"order", claims.OrderID},
	} {
		if binding[1] != "" {
			names = append(names, binding[0])
		}
	}
	return names
}

func uncheckedOf(claims *IntentClaims, audience string) []string {
	names := []string{"action", "payload"}
	if claims.ContextHash != "" {
		names = append(names, "context")
	}
	if claims.ReadingHash != "" {
		names = append(names, "reading")
	}
	if audience == "" {
		names = append(names, "audience")
	}
	names = append(names, "revocation", "agent", "policy", "execution")
	return append(names, bindingsOf(claims)...)
}
