// Command answers verifies the tokens of its standard input, a JSON object with jwks, now and cases, so that a test can compare the
// verdicts of several languages.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	countersign "countersign-verifier-go"
)

type input struct {
	JWKS  json.RawMessage `json:"jwks"`
	Now   int64           `json:"now"`
	Cases []struct {
		Token       string `json:"token"`
		Environment string `json:"environment"`
		Audience    string `json:"audience"`
	} `json:"cases"`
}

type answer struct {
	Reason         string   `json:"reason"`
	Problem        string   `json:"problem"`
	NotChecked     []string `json:"not_checked"`
	RequiresOnline bool     `json:"requires_online"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		return err
	}
	keys, err := countersign.ParseKeySet(given.JWKS)
	if err != nil {
		return err
	}
	now := func() time.Time { return time.Unix(given.Now, 0) }
	answers := make([]answer, 0, len(given.Cases))
	for _, one := range given.Cases {
		verdict := countersign.VerifyIntentTokenOffline(context.Background(), one.Token, countersign.Options{
			Keys:        keys,
			Environment: countersign.Environment(one.Environment),
			Audience:    one.Audience,
			Now:         now,
		})
		unchecked := append([]string{}, verdict.NotChecked...)
		answers = append(answers, answer{string(verdict.Reason), verdict.Problem, unchecked, verdict.RequiresOnline})
	}
	return json.NewEncoder(os.Stdout).Encode(answers)
}
