package countersign

import (
	"context"
	"fmt"
	"io"
	"net"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	shortTimeout = 300 * time.Millisecond
	// Far above the time-out, for machines with much else to do.
	timeLimit = 20 * time.Second
)

// keyServer is a socket, because a well-behaved server can't send what a hostile one does.
func keyServer(t *testing.T, answer func(connection net.Conn)) (url string, requests *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	requests = new(atomic.Int32)
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			requests.Add(1)
			go func() {
				defer connection.Close()
				connection.Read(make([]byte, 65536))
				answer(connection)
			}()
		}
	}()
	return "http://" + listener.Addr().String() + "/.well-known/jwks.json", requests
}

func response(status string, headers string, body string) func(connection net.Conn) {
	return func(connection net.Conn) {
		fmt.Fprintf(connection, "HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n%s", status, len(body), headers, body)
	}
}

// hangs sends the first bytes, and nothing until the client leaves.
func hangs(first string) func(connection net.Conn) {
	return func(connection net.Conn) {
		io.WriteString(connection, first)
		io.Copy(io.Discard, connection)
	}
}

// drips sends a byte in time for each time-out of a read, until the client leaves.
func drips(first string) func(connection net.Conn) {
	return func(connection net.Conn) {
		_, err := io.WriteString(connection, first)
		for err == nil {
			time.Sleep(50 * time.Millisecond)
			_, err = connection.Write([]byte(" "))
		}
	}
}

func firstVector(t *testing.T) (tokenInput, string) {
	t.Helper()
	var input tokenInput
	decode(t, readVectors(t, "tokens/offline")[0].Input, &input)
	return input, string(input.JWKS)
}

func verifyWith(t *testing.T, keys Keys) Verdict {
	t.Helper()
	input, _ := firstVector(t)
	now := func() time.Time { return time.Unix(int64(input.Now), 0) }
	return VerifyIntentTokenOffline(context.Background(), input.Token.(string), Options{Keys: keys, Now: now})
}

func TestATokenIsVerifiedWithKeysThatAreFetched(t *testing.T) {
	_, keySet := firstVector(t)
	url, requests := keyServer(t, response("200 OK", "", keySet))
	source := NewKeySource(url, KeySourceOptions{Timeout: time.Minute})
	for range [2]int{} {
		if verdict := verifyWith(t, source); !verdict.Valid {
			t.Errorf("answered %+v", verdict)
		}
	}
	if requests.Load() != 1 {
		t.Errorf("there were %d requests", requests.Load())
	}
}

func TestAHostileKeyServerCostsNoMoreThanTheTimeLimit(t *testing.T) {
	_, keySet := firstVector(t)
	endless := "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
	hostile := map[string]func(connection net.Conn){
		"ends the connection":         func(net.Conn) {},
		"hangs before its answer":     hangs(""),
		"hangs in its headers":        hangs("HTTP/1.1 200 OK\r\nX: "),
		"hangs in its body":           hangs(endless + `{"keys":[`),
		"drips headers":               drips("HTTP/1.1 200 OK\r\nX: "),
		"drips a body":                drips(endless + keySet),
		"has 10 MB of keys":           response("200 OK", "", `{"keys":[`+strings.Repeat(keySet+",", 6_000)+"{}]}"),
		"has 10 MB of space":          response("200 OK", "", keySet+strings.Repeat(" ", 10_000_000)),
		"ends early":                  func(connection net.Conn) { io.WriteString(connection, endless+keySet) },
		"answers 500":                 response("500 Internal Server Error", "", keySet),
		"answers 204":                 response("204 No Content", "", ""),
		"answers another protocol":    func(connection net.Conn) { io.WriteString(connection, "220 mail.example.com ESMTP\r\n") },
		"is nested a million times":   response("200 OK", "", strings.Repeat("[", 1_000_000)),
		"has no text":                 response("200 OK", "", "\xff\xfe\x00"),
		"has no keys":                 response("200 OK", "", "[]"),
		"has a number of 5000 digits": response("200 OK", "", `{"keys":[`+strings.Repeat("1", 5_000)+"]}"),
	}
	for name, answer := range hostile {
		t.Run(name, func(t *testing.T) {
			url, _ := keyServer(t, answer)
			began := time.Now()
			verdict := verifyWith(t, NewKeySource(url, KeySourceOptions{Timeout: shortTimeout}))
			if time.Since(began) > timeLimit {
				t.Errorf("took %s", time.Since(began))
			}
			if verdict.Valid || verdict.Reason != KeysUnavailable || verdict.Cause == nil {
				t.Errorf("answered %+v", verdict)
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	_, keySet := firstVector(t)
	for _, status := range []string{"301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"} {
		target, followed := keyServer(t, response("200 OK", "", keySet))
		url, requests := keyServer(t, response(status, "Location: "+target+"\r\n", keySet))
		verdict := verifyWith(t, NewKeySource(url, KeySourceOptions{Timeout: time.Minute}))
		if verdict.Reason != KeysUnavailable || requests.Load() != 1 || followed.Load() != 0 {
			t.Errorf("%s: answered %+v after %d and %d requests", status, verdict, requests.Load(), followed.Load())
		}
	}
}

func TestGoroutinesShareAFetchThatHangs(t *testing.T) {
	url, requests := keyServer(t, hangs(""))
	source := NewKeySource(url, KeySourceOptions{Timeout: shortTimeout})
	began := time.Now()
	var all sync.WaitGroup
	for range [20]int{} {
		all.Add(1)
		go func() {
			defer all.Done()
			if verdict := verifyWith(t, source); verdict.Reason != KeysUnavailable {
				t.Errorf("answered %+v", verdict)
			}
		}()
	}
	all.Wait()
	if time.Since(began) > timeLimit || requests.Load() >= 20 {
		t.Errorf("took %s and %d requests", time.Since(began), requests.Load())
	}
}

func TestACallerWhoLeavesWaitsForNothing(t *testing.T) {
	url, _ := keyServer(t, hangs(""))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	input, _ := firstVector(t)
	source := NewKeySource(url, KeySourceOptions{Timeout: 3 * timeLimit})
	began := time.Now()
	verdict := VerifyIntentTokenOffline(ctx, input.Token.(string), Options{Keys: source})
	if time.Since(began) > timeLimit || verdict.Cause != context.Canceled {
		t.Errorf("answered %+v after %s", verdict, time.Since(began))
	}
}

func TestAddressesThatAreNoneOfAKeySet(t *testing.T) {
	for _, url := range []string{"", "x", "file:///etc/hosts", "ftp://127.0.0.1/x", "http://", "http://[", "data:,{}"} {
		if verdict := verifyWith(t, NewKeySource(url, KeySourceOptions{})); verdict.Reason != KeysUnavailable {
			t.Errorf("%q: answered %+v", url, verdict)
		}
	}
}

type panics struct{}

func (panics) Find(context.Context, string) (*PublicKey, error) { panic("the keys are broken") }

func TestKeysThatCanNotBeHadAreAReason(t *testing.T) {
	for _, keys := range []Keys{nil, panics{}, (*KeySource)(nil)} {
		if verdict := verifyWith(t, keys); verdict.Reason != KeysUnavailable || verdict.Cause == nil {
			t.Errorf("%T: answered %+v", keys, verdict)
		}
	}
}

func TestAKeyThatIsNoPointOfTheCurveIsUnknown(t *testing.T) {
	_, keySet := firstVector(t)
	for _, x := range []string{"", "é", strings.Repeat("A", 43), strings.Repeat("A", 1_000)} {
		keys, err := ParseKeySet([]byte(keySet))
		if err != nil {
			t.Fatal(err)
		}
		for index := range keys {
			keys[index].X = x
		}
		if verdict := verifyWith(t, keys); verdict.Problem != "unknown_key" {
			t.Errorf("%.10q: answered %+v", x, verdict)
		}
	}
	for _, keys := range []string{`null`, `7`, `"x"`, `[]`, `{}`, `true`} {
		parsed, err := ParseKeySet([]byte(`{"keys":[` + keys + `]}`))
		if err != nil || verifyWith(t, parsed).Problem != "unknown_key" {
			t.Errorf("%s: read as %v, %v", keys, parsed, err)
		}
	}
}

func TestBadTokensAreBounded(t *testing.T) {
	for token, problem := range map[string]string{
		"":                                  "segments",
		strings.Repeat("A", 1_000_000):      "too_long",
		strings.Repeat(".", 1_000_000):      "too_long",
		strings.Repeat("é", 16_384):         "segments",
		strings.Repeat("\U0001f600", 8_193): "too_long",
		"é.é.é":                             "encoding",
		"\xff.\xff.\xff":                    "encoding",
	} {
		verdict := VerifyIntentTokenOffline(context.Background(), token, Options{Keys: KeySet{}})
		if verdict.Valid || verdict.Reason != InvalidToken || verdict.Problem != problem {
			t.Errorf("%.10q: answered %+v, expected %s", token, verdict, problem)
		}
	}
}

func TestClaimsAreReadWhole(t *testing.T) {
	var input tokenInput
	decode(t, readVectors(t, "tokens/offline")[1].Input, &input)
	keys, err := ParseKeySet(input.JWKS)
	if err != nil {
		t.Fatal(err)
	}
	now := func() time.Time { return time.Unix(int64(input.Now), 0) }
	claims := VerifyIntentTokenOffline(context.Background(), input.Token.(string), Options{Keys: keys, Now: now}).Claims
	if claims == nil || claims.ID != claims.All["jti"] || claims.Biometric == nil || claims.Biometric.At == 0 {
		t.Fatalf("the claims are %+v", claims)
	}
	// Each field has a value, so that none is forgotten.
	fields := reflect.ValueOf(*claims)
	for index := 0; index < fields.NumField(); index++ {
		name := fields.Type().Field(index).Name
		if name != "NotBefore" && name != "MandateID" && name != "OrderID" && name != "OrderHash" && name != "SingleUse" && fields.Field(index).IsZero() {
			t.Errorf("%s is empty", name)
		}
	}
}
