// Shares over the real routes, with a real mail server. Graphs come from jobs made by hand.

import { newId, type Scope } from '#src/platform/ids.ts'
import { workOf } from '#src/services.ts'
import { canaryHashOf, insertTrace } from '#src/trace/canaries/traces.ts'
import { type SharesFeature, sharesFeature } from '#src/trace/shares/feature.ts'
import type { Manifest } from '#src/trace/shares/graph.ts'
import { kindOf } from '#src/trace/shares/graph.ts'
import type { FoundManifest } from '#src/trace/shares/manifests.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { TestAnswer } from '../../support/http.ts'
import { createJobs } from '../../support/jobs.ts'
import { type Sent, startTestService } from '../../support/service.ts'
import { startMailServer } from '../../support/smtp.ts'
import { createRandom, makeGraph } from './exact-graph.ts'

export const HOUR_MS = 3_600_000
export const PURPOSE = 'We reproduce the incident of last week.'

export type Sharing = Awaited<ReturnType<typeof startSharing>>

export async function startSharing() {
  const mail = await startMailServer()
  const manifests = new Map<string, FoundManifest>()
  let reads = 0
  let feature: SharesFeature | undefined
  const service = await startTestService({
    scopes: ['all'],
    env: { SMTP_URL: mail.url, TRUSTED_PROXIES: '127.0.0.1' },
    app: { trustedProxies: ['127.0.0.1'] },
    replace({ platform, account: { accounts } }) {
      const findManifest = async (_scope: Scope, jobId: string) => {
        reads += 1
        return manifests.get(jobId)
      }
      feature = sharesFeature(platform, { accounts, findManifest })
      return [feature.feature]
    },
  })
  if (feature === undefined) throw new Error('the feature was not replaced')
  const made = feature
  const jobs = createJobs(service.test, 'mail')
  const work = workOf(service.services, 'mail')
  let clients = 0

  const good = async (sent: Promise<TestAnswer>) => {
    const { status, json } = await sent
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(json)}`)
    return json
  }
  const post = (caller: TestCaller, path: string, json?: unknown, headers: Record<string, string> = {}) =>
    service.call(caller, path, { method: 'POST', headers, ...(json !== undefined && { json }) })
  /** A client of its own each, where a test does not choose one: limits count by client. */
  const asStranger = (path: string, token: unknown, sent: Sent = {}) => {
    clients += 1
    const headers = {
      'X-Forwarded-For': `198.51.${Math.floor(clients / 250)}.${clients % 250}`,
      ...(token !== undefined && { 'Share-Token': String(token) }),
      ...sent.headers,
    }
    return service.call({}, path, { ...sent, headers })
  }

  const on = {
    ...service,
    mail,
    made,
    /** How often a graph was read. */
    reads: () => reads,
    good,
    post,
    get: (caller: TestCaller, path: string) => good(service.call(caller, path)),
    in: (hours: number) => new Date(service.clock.now.getTime() + hours * HOUR_MS).toISOString(),

    async makeTrace(scope: Scope, modelVersionId: string | null = null): Promise<string> {
      const at = new Date()
      const trace = {
        id: newId('trc', scope.environment),
        source: modelVersionId === null ? ('client' as const) : ('server' as const),
        agentSessionId: 'a secret session',
        agentId: null,
        canarySet: 'default-v1',
        readings: [],
        readingAt: at,
        modelVersionId,
        runtime: null,
        createdBy: 'key',
        createdAt: at,
        inference: null,
      }
      await service.test.db.tenant(scope, (tx) =>
        insertTrace(tx, scope, { ...trace, digest: canaryHashOf(trace), cutAfter: null }),
      )
      return trace.id
    },
    /** A graph of a trace, with the ids of its neurons. */
    makeJob(traceId: string, seed = 1, shape: Parameters<typeof makeGraph>[1] = {}) {
      const jobId = newId('job', 'sandbox')
      const manifest: Manifest = makeGraph(createRandom(seed), shape)
      manifests.set(jobId, { traceId, manifest })
      const neurons = manifest.nodes.filter((node) => kindOf(node) === 'neuron').map(({ node_id }) => node_id)
      return { jobId, manifest, neurons }
    },
    /** With single positions, unless the body says otherwise: most tests look at each neuron of a small graph. */
    send: (caller: TestCaller, body: Record<string, unknown>, headers: Record<string, string> = {}) =>
      post(caller, '/v1/trace/shares', { expires_at: on.in(24 * 7), reveals_prompt: true, ...body }, headers),
    share: (caller: TestCaller, body: Record<string, unknown>) => good(on.send(caller, body)),
    view: (token: unknown, sent: Sent = {}) => asStranger('/v1/trace/shares/view', token, sent),
    request: (
      share: Record<string, unknown>,
      email: string,
      sent: { purpose?: string; token?: unknown; headers?: Record<string, string> } = {},
    ) =>
      asStranger(`/v1/trace/shares/${share.share_id}/disclosure-requests`, sent.token ?? share.token, {
        method: 'POST',
        json: { email, purpose: sent.purpose ?? PURPOSE },
        ...(sent.headers && { headers: sent.headers }),
      }),
    verify: (
      share: Record<string, unknown>,
      requestId: unknown,
      code: string,
      sent: { token?: unknown; headers?: Record<string, string> } = {},
    ) =>
      asStranger(
        `/v1/trace/shares/${share.share_id}/disclosure-requests/${requestId}/verify`,
        sent.token ?? share.token,
        {
          method: 'POST',
          json: { code },
          ...(sent.headers && { headers: sent.headers }),
        },
      ),
    /** Runs the mail queue until it is empty; returns the text of the newest mail to an address. */
    async newestTo(email: string): Promise<string> {
      await jobs.drain(work)
      return mail.received.findLast(({ to }) => to.includes(email))?.parsed.text ?? ''
    },
    codeTo: async (email: string) => /\bcode is (\d{8})\./.exec(await on.newestTo(email))?.[1] ?? '',
    grantTo: async (email: string) => /\/share#([A-Za-z0-9_-]{43})\s/.exec(await on.newestTo(email))?.[1] ?? '',
    /** A request whose address is verified. */
    async ask(share: Record<string, unknown>, email: string): Promise<string> {
      const { request_id } = await good(on.request(share, email))
      await good(on.verify(share, request_id, await on.codeTo(email)))
      return String(request_id)
    },
    decide: (caller: TestCaller, requestId: string, verb: 'grant' | 'deny' | 'revoke', json?: unknown) =>
      post(caller, `/v1/trace/disclosure-requests/${requestId}/${verb}`, json),
    async disclosed(scope: Scope) {
      return (await service.events(scope)).filter(({ type }) => type.startsWith('trace.disclosure'))
    },
    async close() {
      await service.close()
      await mail.close()
    },
  }
  return on
}
