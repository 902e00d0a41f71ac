// Requests that are refused, with a secret in every part of them.

type Members = Record<string, unknown>

export interface RefusedRequest {
  method: string
  path: string
  json?: unknown
  body?: string
  headers?: Record<string, string>
}

/**
 * @param action What authorize and verify take besides.
 * @param key Headers of a key that works.
 */
export function refusedRequests(secret: string, action: Members, key: Record<string, string>): RefusedRequest[] {
  const inUrl = encodeURIComponent(secret)
  const said = { 'user-agent': secret, referer: `https://example.com/${secret}`, 'x-csrf-token': secret }
  const traced = { traceparent: secret, tracestate: `a=${secret}` }
  const strange = {
    ...said,
    ...traced,
    'x-api-key': secret,
    cookie: `svc_session=${secret}; svc_csrf=${secret}`,
    'service-environment': secret,
  }
  const headers = { ...said, ...traced, ...key }
  const get = (path: string, sent: Record<string, string> = headers) => ({ method: 'GET', path, headers: sent })
  const post = (path: string, json: unknown) => ({ method: 'POST', path, json, headers })

  return [
    get('/v1/claims', strange),
    get('/v1/claims', { authorization: `Basic ${inUrl}` }),
    get('/v1/claims', { authorization: `Bearer ${secret}x` }),
    get(`/${inUrl}`, {}),
    { method: 'POST', path: `/v1/${inUrl}?${inUrl}=${inUrl}`, headers: strange, json: { secret } },
    ...['agents', 'decisions', 'intent/status', 'policy/versions', 'webhook-endpoints', 'claims'].map((path) =>
      get(`/v1/${path}/${inUrl}`),
    ),
    get('/v1/agents/agt_live_01kaj0nv2rgvhk6pc5y8eaj4mb'),
    ...['agents', 'decisions', 'claims', 'account/audit', 'trace/session-locks'].flatMap((path) => [
      get(`/v1/${path}?${inUrl}=1&limit=${inUrl}&cursor=${inUrl}&from=${inUrl}`),
      get(`/v1/${path}?cursor=${inUrl}`),
    ]),
    post('/v1/agents', { [secret]: 1, name: [secret], owner: { [secret]: secret } }),
    post('/v1/auth/magic-link', { email: secret }),
    post('/v1/auth/magic-link/verify', { token: secret.slice(1) }),
    post('/v1/org/invites/accept', { token: secret.slice(1) }),
    post('/v1/account/keys', { name: secret, scopes: [secret], ip_allow: [secret], environment: secret }),
    post('/v1/webhook-endpoints', { url: secret, event_types: [secret] }),
    post('/v1/webhook-endpoints', { url: `http://user:${inUrl}@example.com`, event_types: ['*'] }),
    post('/v1/intent/revocations', { scope: secret, jti: secret, reason: secret }),
    post('/v1/intent/verify', { ...action, intent_token: secret, trace_id: secret, context: secret }),
    post('/v1/access/evaluation', { subject: { type: secret, id: secret }, [secret]: secret }),
    post('/v1/access/evaluations', { evaluations: [{ subject: secret, [secret]: { [secret]: 1 } }] }),
    // Refused before anything is stored: there is no such agent, session or trace.
    ...['agent_id', 'trace_id'].map((member) =>
      post('/v1/intent/authorize', { ...action, ...sessionNamed(secret), [member]: secret.slice(0, 64) }),
    ),
    post('/v1/trace/check', { trace_id: secret.slice(0, 64), agent_session_id: secret.slice(0, 64) }),
    post('/v1/policy/validate', { document: { rules: [{ id: secret, [secret]: secret, when: secret }] } }),
    post('/v1/cases', { claim_id: secret, note: secret, [secret]: secret }),
    ...[secret, '"999"'].map((version) => ({
      method: 'PUT',
      path: '/v1/policy',
      json: { document: { rules: [] } },
      headers: { ...headers, 'if-match': version },
    })),
    ...[`{"a": ${secret}`, `{"${secret}":1,"${secret}":2}`, `{"a":"${secret}`, secret].map((body) => ({
      method: 'POST',
      path: '/v1/agents',
      body,
      headers,
    })),
    { method: 'POST', path: '/v1/agents', body: secret, headers: { ...headers, 'content-type': `text/${inUrl}` } },
    { method: 'DELETE', path: '/v1/agents', headers },
    // One Idempotency-Key for two requests, of which the first succeeds.
    ...['one', 'other'].map((name) => ({
      ...post('/v1/agents', { name, owner: 'test' }),
      headers: { ...key, 'idempotency-key': secret.slice(0, 200) },
    })),
    {
      ...post('/v1/agents', { name: 'x', owner: 'test' }),
      headers: { ...headers, 'idempotency-key': `${inUrl} ${'x'.repeat(256)}` },
    },
  ]
}

function sessionNamed(secret: string): Members {
  return { agent_session_id: `ses_test_${secret}`.slice(0, 200), device_id: 'device-1' }
}
