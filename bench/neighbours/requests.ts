// One request of the honest tenant for each route of the table, and other common uses of some routes. A test compares
// this list with the routes: a new route needs an entry here.

import { recordVideo } from '../../capture-kit/video.ts'
import { renamed } from '../captures.ts'
import { PLAIN_READS } from './account-routes.ts'
import { ADJUSTER, type HonestData, POLICY } from './data.ts'
import { intentRequests } from './intent-requests.ts'
import { policyRequests } from './policy-requests.ts'
import { paced } from './rates.ts'
import type { Ask, Routine } from './steady.ts'

const JSON_BODY = { 'content-type': 'application/json' }
const ANY_VERSION = { headers: { ...JSON_BODY, 'If-Match': '*' } }
const NDJSON = { 'content-type': 'application/x-ndjson' }
const NO_WAIT = { ...JSON_BODY, prefer: 'wait=0' }

export function honestRoutines(data: HonestData): Routine[] {
  const { claimIds, attestationIds, mediaIds, batchId, bodies, caseIds, endpointId } = data
  let turn = 0
  const pick = <Item>(items: readonly Item[]): Item => {
    turn += 1
    const item = items[turn % items.length]
    if (item === undefined) throw new Error('the honest tenant has none')
    return item
  }
  const capture = () => renamed(pick(bodies))
  const get = (path: string, status = 200, headers: Record<string, string> = {}): Ask => ({
    method: 'GET',
    path,
    status,
    headers,
  })
  const send = (method: 'POST' | 'PUT' | 'PATCH', path: string, body: unknown, more: Partial<Ask> = {}): Ask => ({
    method,
    path,
    status: 200,
    headers: JSON_BODY,
    body: JSON.stringify(body),
    ...more,
  })
  const remove = (path: string, more: Partial<Ask> = {}): Ask => ({ method: 'DELETE', path, status: 200, ...more })
  /** What is made here is deleted later. */
  const idOf = (member: string) => (body: Buffer) => String(JSON.parse(body.toString())[member])
  const eachOnce =
    <Item>(items: Item[], make: (item: Item) => Ask) =>
    () => {
      const item = items.pop()
      return item === undefined ? undefined : make(item)
    }

  const made = { endpoints: [] as string[], keys: [] as string[], batches: [] as string[], sessions: [] as string[] }
  const roots = anchorsOf(data.authorities.slice(0, 12))
  const anchors = anchorsOf(data.authorities.slice(12))
  const [chunk] = recordVideo({ seed: 1, chunks: 1 })
  // One case at a time is waiting for its next state.
  const idle = caseIds.slice(1).map((id) => ({ id, isWaiting: false }))
  let photos = 0

  const routines: Record<string, () => Ask | undefined> = {
    'GET /health': () => get('/health'),
    'GET /.well-known/jwks.json': () => get('/.well-known/jwks.json'),
    'GET /v1/jwks': () => get('/v1/jwks'),
    'GET /v1/openapi.json': () => get('/v1/openapi.json'),
    'GET /': () => get('/'),
    'GET /docs': () => get('/docs'),
    'GET /docs/:name': () => get('/docs/integrate', 301),
    'GET /docs/:folder/:name': () => get('/docs/attest/integrate'),
    'GET /docs/api-reference': () => get('/docs/api-reference'),
    'GET /docs/decisions': () => get('/docs/decisions'),
    'GET /docs/errors': () => get('/docs/errors'),
    'GET /docs/search.json': () => get('/docs/search.json'),
    'GET /docs/assets/:name': () => get(`/docs/assets/${data.assetName}`),

    'POST /v1/media': () => {
      photos += 1
      return {
        method: 'POST',
        path: '/v1/media',
        status: 200,
        headers: { 'content-type': 'image/jpeg' },
        body: data.photo(photos),
      }
    },
    'GET /v1/media/:id': () => get(`/v1/media/${pick(mediaIds)}`),
    'GET /v1/media/:id/metadata': () => get(`/v1/media/${pick(mediaIds)}/metadata`),
    'GET /v1/media/:id/thumbnail': () => get(`/v1/media/${pick(mediaIds)}/thumbnail`),

    'POST /v1/claims/attest': () => send('POST', '/v1/claims/attest', capture(), { status: 202, headers: NO_WAIT }),
    'POST /v1/claims/attest (waiting for the result)': () =>
      send('POST', '/v1/claims/attest', capture(), { headers: { ...JSON_BODY, prefer: 'wait=20' } }),
    'POST /v1/claims/attest/sessions': () =>
      send(
        'POST',
        '/v1/claims/attest/sessions',
        { count: 1 },
        {
          after: (body) => void made.sessions.unshift(JSON.parse(body.toString()).sessions[0].capture_session_id),
        },
      ),
    'GET /v1/claims/attest/sessions': () => get('/v1/claims/attest/sessions'),
    'GET /v1/claims/attest/sessions/:id': () =>
      made.sessions[0] === undefined ? undefined : get(`/v1/claims/attest/sessions/${made.sessions[0]}`),
    'PUT /v1/claims/attest/sessions/:id/chunks/:index': () =>
      made.sessions[0] === undefined || chunk === undefined
        ? undefined
        : {
            method: 'PUT',
            path: `/v1/claims/attest/sessions/${made.sessions[0]}/chunks/0`,
            status: 200,
            headers: { 'content-type': 'video/mp4' },
            body: chunk.data,
          },
    'GET /v1/attestations/:id': () => get(`/v1/attestations/${pick(attestationIds)}`),
    'GET /v1/attestations/:id/results': () => get(`/v1/attestations/${pick(attestationIds)}/results`),
    'POST /v1/attestations/:id/retry': eachOnce(data.failed, (id) =>
      send('POST', `/v1/attestations/${id}/retry`, {}, { status: 202, headers: {}, body: '' }),
    ),

    'POST /v1/claims/batches': () => ({
      method: 'POST',
      path: '/v1/claims/batches',
      status: 202,
      headers: NDJSON,
      body: Array.from({ length: 10 }, () => JSON.stringify(capture())).join('\n'),
      after: (body) => void made.batches.push(idOf('batch_id')(body)),
    }),
    'GET /v1/claims/batches': () => get('/v1/claims/batches'),
    'GET /v1/claims/batches/:id': () => get(`/v1/claims/batches/${made.batches.at(-1) ?? batchId}`),
    'GET /v1/claims/batches/:id/results': () => get(`/v1/claims/batches/${made.batches[0] ?? batchId}/results`),
    'GET /v1/claims/batches/:id/rejected': () => get(`/v1/claims/batches/${made.batches.at(-1) ?? batchId}/rejected`),
    'POST /v1/claims/batches/:id/cancel': eachOnce(made.batches, (id) =>
      send('POST', `/v1/claims/batches/${id}/cancel`, {}, { headers: {}, body: '' }),
    ),

    'GET /v1/claims': () => get('/v1/claims'),
    'GET /v1/claims/:id/timeline': () => get(`/v1/claims/${pick(claimIds)}/timeline`),
    'GET /v1/claims/:id': () => get(`/v1/claims/${pick(claimIds)}`),
    'GET /v1/claims/:id/attestations': () => get(`/v1/claims/${pick(claimIds)}/attestations`),
    'GET /v1/claims/:id/duplicates': () => get(`/v1/claims/${pick(claimIds)}/duplicates`),
    'GET /v1/claims/:id/evidence': () => get(`/v1/claims/${pick(claimIds)}/evidence`),
    'GET /v1/claims/:id/evidence (PDF)': () => get(`/v1/claims/${pick(claimIds)}/evidence?format=pdf`),
    'DELETE /v1/claims/:id': eachOnce(data.erasable, (id) => remove(`/v1/claims/${id}`)),

    'POST /v1/cases': eachOnce(data.openable, (id) => send('POST', '/v1/cases', { claim_id: id, actor: ADJUSTER })),
    'GET /v1/cases': () => get('/v1/cases'),
    'GET /v1/cases/counts': () => get('/v1/cases/counts'),
    'GET /v1/cases/:id/entries': () => get(`/v1/cases/${pick(caseIds)}/entries`),
    'GET /v1/cases/:id': () => get(`/v1/cases/${pick(caseIds)}`),
    'POST /v1/cases/:id/transitions': () => {
      const one = idle.shift()
      if (one === undefined) return undefined
      const wish = one.isWaiting ? { to: 'in_review' } : { to: 'info_requested', note: 'Please send the invoice.' }
      return send(
        'POST',
        `/v1/cases/${one.id}/transitions`,
        { ...wish, actor: ADJUSTER },
        {
          after: () => void idle.push({ id: one.id, isWaiting: !one.isWaiting }),
        },
      )
    },
    'POST /v1/cases/:id/notes': () =>
      send('POST', `/v1/cases/${pick(caseIds)}/notes`, { actor: ADJUSTER, note: 'Called again.' }),
    'PATCH /v1/cases/:id': () =>
      send('PATCH', `/v1/cases/${pick(caseIds)}`, { actor: ADJUSTER, priority: pick(['high', 'normal']) }),

    'POST /v1/admin/devices': () => send('POST', '/v1/admin/devices', { certificate_chain: pick(data.chains) }),
    'POST /v1/admin/devices/batches': () => ({
      method: 'POST',
      path: '/v1/admin/devices/batches',
      status: 200,
      headers: NDJSON,
      body: Array.from({ length: 10 }, () => JSON.stringify({ certificate_chain: pick(data.chains) })).join('\n'),
    }),
    'GET /v1/admin/devices': () => get('/v1/admin/devices'),
    'GET /v1/admin/devices/:id': () => get(`/v1/admin/devices/${data.captures.deviceId}`),
    'GET /v1/admin/devices/:id/history': () => get(`/v1/admin/devices/${data.captures.deviceId}/history`),
    'GET /v1/admin/devices/counts': () => get('/v1/admin/devices/counts'),
    'PATCH /v1/admin/devices/:id': () =>
      send('PATCH', `/v1/admin/devices/${data.captures.deviceId}`, { name: `Phone ${photos}` }),
    'POST /v1/admin/devices/:id/revoke': eachOnce(data.revocable, (id) =>
      send('POST', `/v1/admin/devices/${id}/revoke`, { reason: 'lost' }),
    ),
    'POST /v1/admin/devices/challenges': () => send('POST', '/v1/admin/devices/challenges', { count: 1 }),
    'POST /v1/admin/devices/:id/attestation': eachOnce(data.evidence, (one) =>
      send('POST', `/v1/admin/devices/${data.captures.deviceId}/attestation`, one),
    ),
    'POST /v1/admin/devices/attestations': eachOnce(data.evidence, (attestation) => ({
      method: 'POST',
      path: '/v1/admin/devices/attestations',
      status: 200,
      headers: NDJSON,
      body: JSON.stringify({ device_id: data.captures.deviceId, attestation }),
    })),

    'POST /v1/admin/root-cas': roots.register((body, after) =>
      send('POST', '/v1/admin/root-cas', body, { after: (answer) => after(idOf('root_ca_id')(answer)) }),
    ),
    'GET /v1/admin/root-cas': () => get('/v1/admin/root-cas'),
    'GET /v1/admin/root-cas/:id': () => get(`/v1/admin/root-cas/${data.rootId}`),
    'DELETE /v1/admin/root-cas/:id': roots.remove((id, after) => remove(`/v1/admin/root-cas/${id}`, { after })),
    'POST /v1/admin/c2pa-anchors': anchors.register((body, after) =>
      send('POST', '/v1/admin/c2pa-anchors', body, { after: (answer) => after(idOf('c2pa_anchor_id')(answer)) }),
    ),
    'GET /v1/admin/c2pa-anchors': () => get('/v1/admin/c2pa-anchors'),
    'GET /v1/admin/c2pa-anchors/:id': () => get(`/v1/admin/c2pa-anchors/${data.anchorId}`),
    'DELETE /v1/admin/c2pa-anchors/:id': anchors.remove((id, after) =>
      remove(`/v1/admin/c2pa-anchors/${id}`, { after }),
    ),

    'POST /v1/media/screen': () =>
      send(
        'POST',
        '/v1/media/screen',
        { media: { media_id: pick(mediaIds) } },
        { status: [200, 202], headers: NO_WAIT },
      ),
    'GET /v1/media/screenings': () => get('/v1/media/screenings'),
    'GET /v1/media/screenings/:id': () => get(`/v1/media/screenings/${data.screeningId}`),
    'POST /v1/media/screenings/batches': () => ({
      method: 'POST',
      path: '/v1/media/screenings/batches',
      status: 202,
      headers: NDJSON,
      body: mediaIds
        .slice(0, 4)
        .map((media_id) => JSON.stringify({ media_id }))
        .join('\n'),
    }),
    'GET /v1/media/screenings/batches': () => get('/v1/media/screenings/batches'),
    'GET /v1/media/screenings/batches/:id': () => get(`/v1/media/screenings/batches/${data.screeningBatchId}`),
    'GET /v1/media/screenings/batches/:id/rejected': () =>
      get(`/v1/media/screenings/batches/${data.screeningBatchId}/rejected`),

    'GET /v1/account/screening': () => get('/v1/account/screening'),
    'PUT /v1/account/screening': () => {
      const threshold = { review: 0.5, likely: 0.9 }
      const document = { thresholds: { genai: threshold, deepfake: threshold } }
      return send('PUT', '/v1/account/screening', { document }, ANY_VERSION)
    },
    'GET /v1/account/risk-policy': () => get('/v1/account/risk-policy'),
    'PUT /v1/account/risk-policy': () => send('PUT', '/v1/account/risk-policy', { document: POLICY }, ANY_VERSION),
    'GET /v1/account/risk-policy/versions': () => get('/v1/account/risk-policy/versions'),
    'GET /v1/account/risk-policy/versions/:version': () => get('/v1/account/risk-policy/versions/0'),
    'POST /v1/account/risk-policy/dry-run': () => {
      const document = { ...POLICY, require_biometric: true }
      return send('POST', '/v1/account/risk-policy/dry-run', {
        document,
        limit: 10,
        created_gte: new Date(Date.now() - 2_000).toISOString(),
      })
    },
    'GET /v1/account/reevaluations': () => get('/v1/account/reevaluations'),
    'GET /v1/account/reevaluations/:id': () => get(`/v1/account/reevaluations/${data.reevaluationId}`),

    ...policyRequests({ get, send }),
    ...intentRequests({ get, send }),
    'GET /v1/search': () => get('/v1/search?q=clm_'),
    ...Object.fromEntries(PLAIN_READS.map((path) => [`GET ${path}`, () => get(path)])),

    'POST /v1/account/keys': () => {
      const after = (body: Buffer) => void made.keys.push(idOf('api_key_id')(body))
      return made.keys.length > 40
        ? undefined
        : send('POST', '/v1/account/keys', { name: 'neighbour', scopes: ['verify'] }, { after })
    },
    'GET /v1/account/keys': () => get('/v1/account/keys'),
    'GET /v1/account/keys/:id': () => (made.keys.length === 0 ? undefined : get(`/v1/account/keys/${pick(made.keys)}`)),
    'DELETE /v1/account/keys/:id': eachOnce(made.keys, (id) => remove(`/v1/account/keys/${id}`)),
    'POST /v1/account/keys/:id/revoke': eachOnce(made.keys, (id) =>
      send('POST', `/v1/account/keys/${id}/revoke`, {}, { headers: {}, body: '' }),
    ),
    'POST /v1/account/keys/:id/rotate': eachOnce(made.keys, (id) => {
      const after = (body: Buffer) => void made.keys.push(idOf('api_key_id')(body))
      return send('POST', `/v1/account/keys/${id}/rotate`, { grace_period_seconds: 0 }, { after })
    }),

    'POST /v1/webhook-endpoints': () =>
      made.endpoints.length > 40
        ? undefined
        : send(
            'POST',
            '/v1/webhook-endpoints',
            { url: 'https://example.com/hook', event_types: ['approval.requested'] },
            {
              after: (body) => void made.endpoints.push(idOf('webhook_endpoint_id')(body)),
            },
          ),
    'GET /v1/webhook-endpoints': () => get('/v1/webhook-endpoints'),
    'GET /v1/webhook-endpoints/:id': () => get(`/v1/webhook-endpoints/${endpointId}`),
    'DELETE /v1/webhook-endpoints/:id': eachOnce(made.endpoints, (id) => remove(`/v1/webhook-endpoints/${id}`)),
    'POST /v1/webhook-endpoints/:id/test': () =>
      send('POST', `/v1/webhook-endpoints/${endpointId}/test`, {}, { status: 202, headers: {}, body: '' }),
    'GET /v1/webhook-endpoints/:id/deliveries': () => get(`/v1/webhook-endpoints/${endpointId}/deliveries`),
  }
  return paced(routines)
}

interface Anchors {
  register(make: (body: object, after: (id: string) => void) => Ask): () => Ask | undefined
  remove(make: (id: string, after: () => void) => Ask): () => Ask | undefined
}

/** CA certificates that are registered and removed in turn. */
function anchorsOf(free: string[]): Anchors {
  const registered: { id: string; certificate: string }[] = []
  return {
    register: (make) => () => {
      const certificate = free.shift()
      return certificate === undefined
        ? undefined
        : make({ name: 'Anchor', certificate }, (id) => void registered.push({ id, certificate }))
    },
    remove: (make) => () => {
      const one = registered.shift()
      return one === undefined ? undefined : make(one.id, () => void free.push(one.certificate))
    },
  }
}
