package countersign

import (
	"context"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math/big"
)

const coordinateBytes = 32

// PublicKey is a key of the service's key set (/.well-known/jwks.json).
type PublicKey struct {
	KeyType     string
	Curve       string
	X           string
	Y           string
	ID          string
	Environment string
	// Family is token for keys that sign tokens, and record for those that sign results.
	Family string
}

// Keys finds a key by its id: a KeySource, or a KeySet.
type Keys interface {
	// Find returns nil for a key that is unknown, and an error when that can't be said.
	Find(ctx context.Context, kid string) (*PublicKey, error)
}

// KeySet is a key set that does not change.
type KeySet []PublicKey

// ParseKeySet reads the JSON of a key set. Entries that are no keys are left out.
func ParseKeySet(source []byte) (KeySet, error) {
	value, err := ParseJSON(source)
	if err != nil {
		return nil, err
	}
	list, isList := memberOf(value, "keys").([]any)
	if !isList {
		return nil, errors.New("this is no key set")
	}
	keys := KeySet{}
	for _, entry := range list {
		if _, isObject := entry.(map[string]any); !isObject {
			continue
		}
		member := func(name string) string { return textOf(memberOf(entry, name)) }
		keys = append(keys, PublicKey{
			KeyType:     member("kty"),
			Curve:       member("crv"),
			X:           member("x"),
			Y:           member("y"),
			ID:          member("kid"),
			Environment: member("env"),
			Family:      member("family"),
		})
	}
	return keys, nil
}

// Find returns the first key of this id.
func (keys KeySet) Find(_ context.Context, kid string) (*PublicKey, error) {
	for index := range keys {
		if keys[index].ID == kid {
			return &keys[index], nil
		}
	}
	return nil, nil
}

// point returns nil for a key that signs no tokens, and for coordinates that are no point of P-256.
func (key *PublicKey) point(kid string) *ecdsa.PublicKey {
	if key == nil || key.ID != kid || key.Family != "token" || key.KeyType != "EC" || key.Curve != "P-256" {
		return nil
	}
	x, y := decodeBase64url(key.X), decodeBase64url(key.Y)
	if len(x) != coordinateBytes || len(y) != coordinateBytes {
		return nil
	}
	// It refuses what is not on the curve.
	if _, err := ecdh.P256().NewPublicKey(append(append([]byte{4}, x...), y...)); err != nil {
		return nil
	}
	return &ecdsa.PublicKey{Curve: elliptic.P256(), X: new(big.Int).SetBytes(x), Y: new(big.Int).SetBytes(y)}
}

// isSignedBy takes r and s of 32 bytes each, and no DER (RFC 7518 3.4).
func isSignedBy(key *ecdsa.PublicKey, signature []byte, data string) bool {
	digest := sha256.Sum256([]byte(data))
	r := new(big.Int).SetBytes(signature[:coordinateBytes])
	s := new(big.Int).SetBytes(signature[coordinateBytes:])
	return ecdsa.Verify(key, digest[:], r, s)
}

// Bits of the last character that carry nothing must be zero: otherwise several texts are the same bytes.
var strictBase64url = base64.RawURLEncoding.Strict()

// decodeBase64url returns nil for what is no base64url without padding, and for an empty text.
func decodeBase64url(text string) []byte {
	for _, character := range []byte(text) {
		// The package skips line feeds.
		if character == '\n' || character == '\r' {
			return nil
		}
	}
	decoded, err := strictBase64url.DecodeString(text)
	if err != nil || len(decoded) == 0 {
		return nil
	}
	return decoded
}
