// Traces and logs over real processes: one submission with a webhook is one trace through all processes, every log
// line names its owner, and neither contains secrets.

import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchAgain } from '../support/again.ts'
import { type Collector, type ReceivedSpan, startCollector } from '../support/collector.ts'
import { testedEngines } from '../support/engines.ts'
import { type Fleet, makeFleet, untilSettled } from '../support/fleet.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const PARENT = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7' }
const RECEIVER_SECRET = 'tenants-own-secret'

// The trace of a job is in its row: it is the same on both engines, which `end-to-end.test.ts` tests.
const engine = testedEngines().at(-1) ?? 'postgres'

describe('a submission', () => {
  let collector: Collector
  let system: System
  let fleet: Fleet
  let receiver: Awaited<ReturnType<typeof startRecorder>>
  let signingSecret: string
  let batchId: string
  let answer: Response
  let body: { attestation_id: string; claim_id: string }
  const said: string[] = []

  const post = (path: string, value: unknown, headers: Record<string, string> = {}) =>
    fetchAgain(`${system.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${system.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(value),
    })

  beforeAll(async () => {
    collector = await startCollector()
    receiver = await startRecorder()
    system = await startSystem({
      engine,
      only: ['web', 'dispatch', 'attest', 'screen', 'compare', 'reevaluate', 'deliver'],
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, LOG_LEVEL: 'debug' },
      onLog: (text) => void said.push(text),
    })
    fleet = await makeFleet(system, 4)
    const url = `${receiver.url}/${RECEIVER_SECRET}?token=${RECEIVER_SECRET}`
    const endpoint = await post('/v1/webhook-endpoints', { url, event_types: ['attestation.created'] })
    signingSecret = ((await endpoint.json()) as { signing_secret: string }).signing_secret

    const [first, ...rest] = fleet.bodies
    answer = await post(
      '/v1/claims/attest',
      { ...first, external_id: 'traced' },
      { prefer: 'wait=20', traceparent: `00-${PARENT.traceId}-${PARENT.spanId}-01` },
    )
    body = (await answer.json()) as typeof body
    batchId = (await fleet.client.submitBatch(rest)).batch_id
    await untilSettled(fleet.client, batchId, 3)
    await until(() => receiver.calls.length === 4)
    await until(async () => {
      const pending = await system.database.owner("SELECT FROM jobs WHERE state <> 'succeeded'")
      return pending.length === 0
    })
    await fleet.client.close()
    // Spans that were not sent yet are sent at the end.
    await system.close()
  })
  afterAll(async () => {
    await receiver?.close()
    await collector?.close()
  })

  it('is one trace from the request to the webhook, each span below the one that caused it', () => {
    expect(answer.status).toBe(200)
    const spans = collector.spans.filter(({ traceId }) => traceId === PARENT.traceId)
    const call = spans.find(({ name }) => name === 'POST')
    expect(pathTo(call, spans).map(({ service, name }) => `${name} (${service.replace('countersign-', '')})`)).toEqual([
      'POST /v1/claims/attest (web)',
      'transaction tenant (web)',
      'enqueue attest (web)',
      expect.stringMatching(/^dispatch attest \((web|dispatch)\)$/),
      'run attest (attest)',
      'settle (attest)',
      'dispatch deliver (dispatch)',
      'run deliver (deliver)',
      'POST (deliver)',
    ])
    const [root] = pathTo(call, spans)
    expect(root).toMatchObject({ parentId: PARENT.spanId, kind: 2, isError: false })
    // Every other span of the trace has one of these as parent.
    const known = new Set([PARENT.spanId, ...spans.map(({ spanId }) => spanId)])
    expect(spans.filter(({ parentId }) => !known.has(parentId ?? ''))).toEqual([])
    for (const span of spans) expect(span.endNano >= span.startNano, span.name).toBe(true)
  })

  it('records the request, account, claim and job, and the status', () => {
    const named = (name: string) =>
      collector.spans.find((span) => span.traceId === PARENT.traceId && span.name === name)
    expect(named('POST /v1/claims/attest')?.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/claims/attest',
      'http.response.status_code': 200n,
      'countersign.requestId': answer.headers.get('request-id'),
      'countersign.account': system.scope.accountId,
      'countersign.claim': body.claim_id,
      'countersign.attestation': body.attestation_id,
    })
    expect(named('run attest')?.attributes).toMatchObject({
      'countersign.queue': 'attest',
      'countersign.account': system.scope.accountId,
      'countersign.attestation': body.attestation_id,
      'countersign.claim': body.claim_id,
      'countersign.outcome': 'settled',
    })
    expect(named('POST')?.attributes).toMatchObject({
      'server.address': '127.0.0.1',
      'http.response.status_code': 200n,
    })
  })

  it('is answered with its trace id, which no receiver gets', () => {
    const request = collector.spans.find(({ name }) => name === 'POST /v1/claims/attest')
    expect(answer.headers.get('traceresponse')).toBe(`00-${PARENT.traceId}-${request?.spanId}-01`)
    for (const headers of receiver.calls) {
      expect(Object.keys(headers).filter((name) => /^trace|^baggage|^b3/.test(name))).toEqual([])
    }
  })

  it('of a batch is a trace of its own, which links to the upload', () => {
    const upload = collector.spans.find(({ name }) => name === 'POST /v1/claims/batches')
    const enqueued = collector.spans.find(
      ({ name, traceId }) => name === 'enqueue attest' && traceId === upload?.traceId,
    )
    const dispatched = collector.spans.filter(({ name, links }) => name === 'dispatch attest' && links.length > 0)
    expect(dispatched).toHaveLength(3)
    for (const { parentId, links } of dispatched) {
      expect(parentId).toBeUndefined()
      expect(links).toEqual([{ traceId: upload?.traceId, spanId: enqueued?.spanId }])
    }
    expect(new Set(dispatched.map(({ traceId }) => traceId)).size).toBe(3)
    const runs = collector.spans.filter(({ name }) => name === 'run attest')
    expect(runs).toHaveLength(4)
  })

  it('makes no trace without a request for one, and none in the name of another', () => {
    const roots = collector.spans.filter(({ parentId }) => parentId === undefined)
    expect(roots.filter(({ name, links }) => links.length === 0 && !/^[A-Z]+ \//.test(name))).toEqual([])
    // One poller queries for all waiting callers, and one transaction leases the jobs of many.
    const shared = collector.spans.filter(({ name }) => /^transaction system: (wait|claim|renew|settle)/.test(name))
    expect(shared).toEqual([])
  })

  it('has log lines that name its owner', () => {
    const lines = said
      .join('')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const mine = lines.filter(({ trace_id }) => trace_id === PARENT.traceId)
    expect(mine.find(({ msg }) => msg === 'answered')).toMatchObject({
      process: 'web',
      requestId: answer.headers.get('request-id'),
      route: 'POST /v1/claims/attest',
      account: system.scope.accountId,
      claim: body.claim_id,
      attestation: body.attestation_id,
      status: 200,
    })
    const runs = mine.filter(({ msg }) => msg === 'a job has run')
    expect(runs.map(({ process }) => process).sort()).toEqual(['attest', 'compare', 'deliver'])
    expect(runs.find(({ process }) => process === 'attest')).toMatchObject({
      queue: 'attest',
      job: expect.stringMatching(/^[0-9a-f-]{36}$/),
      account: system.scope.accountId,
      claim: body.claim_id,
      attempt: 1,
    })
    expect(runs.find(({ process }) => process === 'deliver')).toMatchObject({
      delivery: expect.stringMatching(/^whd_/),
      endpoint: expect.stringMatching(/^whe_/),
    })
  })

  it('leaves no secret in traces and logs', () => {
    const everything = [Buffer.concat(collector.raw).toString('latin1'), said.join('')]
    for (const text of everything) {
      expect(text.length).toBeGreaterThan(5_000)
      for (const secret of [system.key, signingSecret, RECEIVER_SECRET, 'whsec_', 'postgres://', 'service-signature'])
        expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
      expect(text).not.toMatch(/svc_(live|test)_[0-9A-Za-z]/)
    }
    // Positions and photos do not leave the service.
    const position = fleet.bodies.map(({ bundle }) => bundle?.gps?.lat).find((lat) => lat !== undefined)
    for (const text of everything) expect(text).not.toContain(String(position))
  })
})

// From the root to a span.
function pathTo(span: ReceivedSpan | undefined, spans: ReceivedSpan[]): ReceivedSpan[] {
  if (span === undefined) return []
  return [
    ...pathTo(
      spans.find(({ spanId }) => spanId === span.parentId),
      spans,
    ),
    span,
  ]
}

async function startRecorder() {
  const calls: IncomingHttpHeaders[] = []
  const server = createServer((req, res) => {
    calls.push(req.headers)
    req.resume().on('end', () => res.end())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: () => new Promise<void>((done) => void server.close(() => done())),
  }
}
