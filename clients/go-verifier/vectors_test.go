package countersign

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

// The vectors that every library runs. Each file says in about what its input and answer mean.
type vector struct {
	ID     string          `json:"id"`
	Input  json.RawMessage `json:"input"`
	Expect json.RawMessage `json:"expect"`
}

func folderOfVectors() string {
	if folder := os.Getenv("COUNTERSIGN_VECTORS"); folder != "" {
		return folder
	}
	return filepath.Join("..", "..", "vectors")
}

func readVectors(t *testing.T, name string) []vector {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(folderOfVectors(), name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []vector `json:"cases"`
	}
	decode(t, source, &file)
	if len(file.Cases) < 10 {
		t.Fatalf("%s has only %d cases", name, len(file.Cases))
	}
	return file.Cases
}

func decode(t *testing.T, source []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(source, into); err != nil {
		t.Fatal(err)
	}
}

func runVectors[Input any](t *testing.T, name string, answer func(t *testing.T, input Input) any) {
	for _, one := range readVectors(t, name) {
		t.Run(one.ID, func(t *testing.T) {
			var input Input
			var expected any
			decode(t, one.Input, &input)
			decode(t, one.Expect, &expected)
			written, err := json.Marshal(answer(t, input))
			if err != nil {
				t.Fatal(err)
			}
			var answered any
			decode(t, written, &answered)
			if !reflect.DeepEqual(answered, expected) {
				t.Errorf("answered %s, expected %s", written, one.Expect)
			}
		})
	}
}

type tokenInput struct {
	Token       any             `json:"token"`
	JWKS        json.RawMessage `json:"jwks"`
	Now         float64         `json:"now"`
	Environment Environment     `json:"environment"`
	Audience    string          `json:"audience"`
	Issuer      string          `json:"issuer"`
	Tolerance   float64         `json:"clock_tolerance_seconds"`
}

func TestTokens(t *testing.T) {
	runVectors(t, "tokens/offline", func(t *testing.T, input tokenInput) any {
		token, isText := input.Token.(string)
		if !isText {
			t.Skip("a token of Go is a string")
		}
		keys, err := ParseKeySet(input.JWKS)
		if err != nil {
			t.Fatal(err)
		}
		verdict := VerifyIntentTokenOffline(context.Background(), token, Options{
			Keys:           keys,
			Environment:    input.Environment,
			Audience:       input.Audience,
			Issuer:         input.Issuer,
			ClockTolerance: time.Duration(input.Tolerance * float64(time.Second)),
			Now:            func() time.Time { return time.UnixMilli(int64(input.Now * 1_000)) },
		})
		if verdict.Valid && (verdict.Claims == nil || verdict.Claims.Environment != input.Environment) {
			t.Errorf("the claims are %v", verdict.Claims)
		}
		return map[string]any{
			"valid":           verdict.Valid,
			"reason":          orNull(string(verdict.Reason)),
			"problem":         orNull(verdict.Problem),
			"not_checked":     append([]string{}, verdict.NotChecked...),
			"requires_online": verdict.RequiresOnline,
		}
	})
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

type jsonInput struct {
	JSON string `json:"json"`
	Hex  string `json:"hex"`
}

func TestCanonicalAccepted(t *testing.T) {
	runVectors(t, "canonical/accepted", func(t *testing.T, input jsonInput) any {
		canonical, err := CanonicalizeJSON([]byte(input.JSON))
		if err != nil {
			return err.Error()
		}
		if again, err := CanonicalizeJSON([]byte(canonical)); err != nil || again != canonical {
			t.Errorf("%s became %s, %v", canonical, again, err)
		}
		return map[string]any{"canonical": canonical}
	})
}

func TestCanonicalRefused(t *testing.T) {
	for _, one := range readVectors(t, "canonical/refused") {
		t.Run(one.ID, func(t *testing.T) {
			var input jsonInput
			var expected struct {
				Code JSONErrorCode `json:"code"`
			}
			decode(t, one.Input, &input)
			decode(t, one.Expect, &expected)
			source := []byte(input.JSON)
			if input.Hex != "" {
				source, _ = hex.DecodeString(input.Hex)
			}
			text, err := CanonicalizeJSON(source)
			// This library says less of the place.
			if code := codeOf(err); code != expected.Code {
				t.Errorf("answered %q %q, expected %q", text, code, expected.Code)
			}
		})
	}
}

func codeOf(err error) JSONErrorCode {
	var refused *JSONError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return ""
}

func cycle() any {
	list := []any{nil}
	list[0] = list
	return list
}

// A string of Go is bytes, so that it has no lone surrogates, and there is no absence of a value.
var values = map[string]any{
	"not_a_number":             math.NaN(),
	"infinity":                 math.Inf(1),
	"minus_infinity_in_a_list": []any{math.Inf(-1)},
	"integer_2_to_53":          1 << 53,
	"integer_minus_2_to_60":    int64(-(1 << 60)),
	"function":                 func() {},
	"date":                     time.Unix(0, 0),
	"map":                      map[int]any{},
	"bytes":                    []byte{0},
	"cycle":                    cycle(),
	"object_without_prototype": map[string]any{"b": 1, "a": nil},
}

func TestCanonicalValues(t *testing.T) {
	runVectors(t, "canonical/values", func(t *testing.T, input struct {
		Value string `json:"value"`
	}) any {
		value, isThere := values[input.Value]
		if !isThere {
			t.Skipf("Go has no %s", input.Value)
		}
		canonical, err := Canonicalize(value)
		if err != nil {
			return map[string]any{"code": codeOf(err)}
		}
		return map[string]any{"canonical": canonical}
	})
}

type keySourceInput struct {
	StaleSeconds float64 `json:"stale_seconds"`
	Steps        []struct {
		AtSeconds float64  `json:"at_seconds"`
		Find      []string `json:"find"`
		Served    served   `json:"served"`
	} `json:"steps"`
}

type served struct {
	Status      int    `json:"status"`
	Body        string `json:"body"`
	RepeatSpace int    `json:"repeat_space"`
}

type keySourceStep struct {
	Found   []string `json:"found"`
	Fetches int      `json:"fetches"`
}

func TestKeySource(t *testing.T) {
	runVectors(t, "tokens/key-source", func(t *testing.T, input keySourceInput) any {
		var mutex sync.Mutex
		var answer served
		now, fetches := time.Unix(1_795_176_000, 0), 0
		server := httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, _ *http.Request) {
			mutex.Lock()
			defer mutex.Unlock()
			fetches++
			if answer.Status == 0 {
				panic(http.ErrAbortHandler)
			}
			writer.WriteHeader(answer.Status)
			fmt.Fprint(writer, answer.Body, strings.Repeat(" ", answer.RepeatSpace))
		}))
		defer server.Close()
		// A connection that broke would be tried again.
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		stale := time.Duration(input.StaleSeconds) * time.Second
		clock := func() time.Time {
			mutex.Lock()
			defer mutex.Unlock()
			return now
		}
		source := NewKeySource(server.URL, KeySourceOptions{Stale: stale, Timeout: time.Minute, Client: client, Now: clock})
		steps := []keySourceStep{}
		for _, step := range input.Steps {
			mutex.Lock()
			now = time.Unix(1_795_176_000, 0).Add(time.Duration(step.AtSeconds) * time.Second)
			answer = step.Served
			mutex.Unlock()
			found := make([]string, len(step.Find))
			var all sync.WaitGroup
			for index, kid := range step.Find {
				all.Add(1)
				go func(index int, kid string) {
					defer all.Done()
					found[index] = outcomeOf(source, kid)
				}(index, kid)
			}
			all.Wait()
			mutex.Lock()
			steps = append(steps, keySourceStep{found, fetches})
			mutex.Unlock()
		}
		return map[string]any{"steps": steps}
	})
}

func outcomeOf(source *KeySource, kid string) string {
	key, err := source.Find(context.Background(), kid)
	switch {
	case err != nil:
		return "unavailable"
	case key == nil:
		return "unknown"
	case key.ID != kid:
		return "other"
	}
	return "found"
}
