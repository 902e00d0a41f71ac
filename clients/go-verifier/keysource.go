package countersign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	freshFor = 300 * time.Second
	// Strangers invent key ids: an unknown one fetches the set at most this often.
	refetchAfter   = 30 * time.Second
	maxKeySetBytes = 1024 * 1024
	defaultTimeout = 5 * time.Second
)

// KeySourceOptions may be left empty.
type KeySourceOptions struct {
	// Stale is for how long keys are used when no newer set can be fetched, such as a day.
	Stale time.Duration
	// Timeout is for a whole fetch: 5 seconds when 0.
	Timeout time.Duration
	// Client has proxies and certificates. Its CheckRedirect is not used: redirects are refused.
	Client *http.Client
	// Now is for tests.
	Now func() time.Time
}

// KeySource is the service's key set, fetched when it is needed and kept. A new key is published a day before it signs, so that a kept
// set has every key that tokens use, except after an emergency: then a token names an unknown key, and the set is fetched again. Any
// number of goroutines can share it.
type KeySource struct {
	url     string
	stale   time.Duration
	timeout time.Duration
	client  http.Client
	now     func() time.Time

	mutex   sync.Mutex
	keys    KeySet
	keptAt  time.Time
	triedAt time.Time
	loading *loading
}

type loading struct {
	done chan struct{}
	err  error
}

// NewKeySource makes no request. The address is {base_url}/.well-known/jwks.json.
func NewKeySource(url string, options KeySourceOptions) *KeySource {
	source := &KeySource{url: url, stale: options.Stale, timeout: options.Timeout, now: options.Now}
	if source.timeout <= 0 {
		source.timeout = defaultTimeout
	}
	if source.now == nil {
		source.now = time.Now
	}
	if options.Client != nil {
		source.client = *options.Client
	}
	// They could lead to keys of anyone.
	source.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return source
}

// Find returns an error when the set can't be fetched and none is kept.
func (source *KeySource) Find(ctx context.Context, kid string) (*PublicKey, error) {
	source.mutex.Lock()
	defer source.mutex.Unlock()
	if !source.isYoungerThan(freshFor) {
		if err := source.refresh(ctx); err != nil && !source.isYoungerThan(freshFor+source.stale) {
			return nil, err
		}
	}
	known, _ := source.keys.Find(ctx, kid)
	if known != nil || source.now().Sub(source.triedAt) < refetchAfter {
		return known, nil
	}
	if err := source.refresh(ctx); err != nil {
		return nil, nil
	}
	return source.keys.Find(ctx, kid)
}

func (source *KeySource) isYoungerThan(age time.Duration) bool {
	return !source.keptAt.IsZero() && source.now().Sub(source.keptAt) < age
}

// refresh is called with the mutex, and waits without it. Those who come meanwhile wait for the same answer.
func (source *KeySource) refresh(ctx context.Context) error {
	current := source.loading
	if current == nil {
		current = &loading{done: make(chan struct{})}
		source.loading = current
		source.triedAt = source.now()
		go source.load(current)
	}
	source.mutex.Unlock()
	defer source.mutex.Lock()
	select {
	case <-current.done:
		return current.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (source *KeySource) load(current *loading) {
	keys, err := source.fetch()
	source.mutex.Lock()
	defer source.mutex.Unlock()
	if err == nil {
		source.keys, source.keptAt = keys, source.now()
	}
	current.err = err
	source.loading = nil
	close(current.done)
}

// fetch has a deadline of its own, because the caller who is served first may not be the only one who waits.
func (source *KeySource) fetch() (keys KeySet, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			keys, err = nil, fmt.Errorf("the HTTP client panicked: %v", thrown)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), source.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, source.url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := source.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the key set answered %d", response.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxKeySetBytes+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxKeySetBytes {
		return nil, errors.New("the key set is too long")
	}
	return ParseKeySet(body)
}
