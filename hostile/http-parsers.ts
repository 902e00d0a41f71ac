// HTTP itself: whole requests, headers, paths and queries.

import { mutateBytes } from './mutate-bytes.ts'
import { mutateText } from './mutate-text.ts'
import { hold, type Parser } from './parser.ts'
import type { Dice } from './random.ts'
import { type Header, JSON_BODY, NDJSON, NO_WAIT, targetOf, timeOf, type Web } from './web.ts'
import { exchange, judgeAnswer, requestBytes } from './wire.ts'

/** What exists, so that some requests find it. */
interface HttpSeeds {
  mediaId: string
  rootId: string
  deviceId: string
  endpointId: string
  batchId: string
  batchBody: Buffer
  claimId: string
  attestationId: string
  attestBody: Buffer
  cursor: string
}

export function httpParsers(web: Web, seeds: HttpSeeds): Parser[] {
  const { auth, post } = web
  const key = auth[1].replace('Bearer ', '')
  const ids: string[] = [
    seeds.mediaId,
    seeds.rootId,
    seeds.deviceId,
    seeds.endpointId,
    seeds.batchId,
    seeds.claimId,
    seeds.attestationId,
  ]
  const paths = [
    `/v1/media/${seeds.mediaId}`,
    `/v1/media/${seeds.mediaId}/thumbnail`,
    `/v1/claims/${seeds.claimId}`,
    `/v1/claims/batches/${seeds.batchId}`,
    `/v1/claims/batches/${seeds.batchId}/results`,
    `/v1/attestations/${seeds.attestationId}`,
    `/v1/admin/devices/${seeds.deviceId}`,
    `/v1/admin/root-cas/${seeds.rootId}`,
    `/v1/webhook-endpoints/${seeds.endpointId}`,
    `/v1/webhook-endpoints/${seeds.endpointId}/deliveries`,
    '/health',
    '/v1/jwks',
  ]
  const queries = [
    `/v1/claims?limit=1&cursor=${seeds.cursor}`,
    '/v1/claims?created_gte=2026-01-01T00:00:00Z&created_lt=2030-01-01T00:00:00%2B02:00',
    `/v1/claims?reference=HOSTILE-1&external_id=photo-1&batch_id=${seeds.batchId}&device_id=${seeds.deviceId}`,
    '/v1/claims?risk_status=failed&provenance_status=broken&factor=signature_invalid&include=total_count',
    '/v1/claims/batches?limit=100&created_gte=2026-01-01T00:00:00.123456Z',
    `/v1/claims/batches/${seeds.batchId}/results?include=pending`,
    '/v1/admin/devices?state=enrolled&created_lt=2026-12-31T23:59:59-23:59&include=total_count',
    '/v1/admin/root-cas?created_gte=2026-01-01T00:00:00Z',
    '/v1/webhook-endpoints?created_gte=2026-01-01T00:00:00Z&created_lt=2030-01-01T00:00:00Z&include=total_count',
    `/v1/webhook-endpoints/${seeds.endpointId}/deliveries?status=pending&event_type=ping&created_lt=2030-01-01T00:00:00Z`,
    `/v1/attestations/${seeds.attestationId}?wait=0`,
  ]
  const headerSeeds: Header[] = [
    auth,
    ['X-API-Key', key],
    ['Idempotency-Key', 'a7c8e0f2'],
    ['Prefer', 'wait=0'],
    ['Range', 'bytes=0-99'],
    ['If-Range', '"abc"'],
    ['If-None-Match', 'W/"abc", "d"'],
    ['Accept-Encoding', 'gzip;q=0.5, br'],
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Encoding', 'gzip'],
    ['Content-Digest', `sha-256=:${'A'.repeat(43)}=:`],
    ['Expect', '100-continue'],
    ['Host', 'hostile.test'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'keep-alive, upgrade'],
    ['Upgrade', 'websocket'],
    ['Trailer', 'X-A'],
    ['TE', 'trailers'],
    ['Content-Length', '12'],
    ['X-Forwarded-For', '127.0.0.1'],
    ['X-Forwarded-For', '"[2001:db8::7]:443", 203.0.113.7:80, unknown'],
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Cookie', 'a=b'],
  ]
  const wholes = [
    requestBytes({ path: `/v1/media/${seeds.mediaId}`, headers: [auth, ['Range', 'bytes=0-9']] }),
    post('/v1/claims/attest', seeds.attestBody, JSON_BODY, NO_WAIT),
    requestBytes(
      { method: 'POST', path: '/v1/claims/batches', headers: [auth, NDJSON, ['Transfer-Encoding', 'chunked']] },
      Buffer.from(`${seeds.batchBody.length.toString(16)};a=b\r\n${seeds.batchBody}\r\n0\r\nX-T: 1\r\n\r\n`),
    ),
    requestBytes({ method: 'HEAD', path: 'http://[::1]:80/v1/claims?limit=1', headers: [auth] }),
    requestBytes({ method: 'OPTIONS', path: '*' }),
  ]

  return [
    web.parser('HTTP: whole request', (dice) => mutateBytes(wholes, dice, 128 * 1024), { isBroken: true }),
    web.parser(
      'HTTP: headers',
      (dice) => {
        const isPost = dice.once(2)
        const hostile = Array.from({ length: 1 + dice.below(3) }, (): Header => {
          const [name, value] = dice.pick(headerSeeds)
          return [name, dice.once(3) ? value : mutateText([value], dice, 12_000).replaceAll(/[\r\n]/g, '')]
        })
        const usual: Header[] = [auth, ...(isPost ? [JSON_BODY, NO_WAIT] : [])]
        const headers = [...usual.filter(() => !dice.once(6)), ...hostile]
        return isPost
          ? requestBytes({ method: 'POST', path: '/v1/claims/attest', headers }, seeds.attestBody)
          : requestBytes({ path: dice.pick(paths), headers })
      },
      { isBroken: true },
    ),
    {
      // Proxies may have read the other one.
      ...web.parser('HTTP: two hosts', (dice) => twoHosts(dice, auth), { isBroken: true }),
      async run(input) {
        const outcome = judgeAnswer(await exchange(web.port, input, { silenceMs: 150 }))
        hold(outcome !== 'accepted', 'a request with two hosts is refused')
        return outcome
      },
    },
    web.parser('HTTP: path', (dice) => {
      const method = dice.pick(['GET', 'GET', 'GET', 'HEAD', 'PUT', 'POST', 'TRACE'])
      return requestBytes({
        method,
        path: targetOf(
          mutateText(
            [
              ...paths,
              ...ids.map((id) => `/v1/media/${id}`),
              'http://a/v1/jwks',
              'http://[::1]:80/v1/jwks',
              'https://user@a/health',
            ],
            dice,
            8_000,
          ),
        ),
        headers: [auth],
      })
    }),
    web.parser('HTTP: query', (dice) => {
      const [path = '', query = ''] = dice.pick(queries).split('?')
      return requestBytes({
        path: targetOf(`${path}?${mutateText([query, ...queries.map((one) => one.split('?')[1] ?? '')], dice, 8_000)}`),
        headers: [auth],
      })
    }),
    web.parser('HTTP: times in a query', (dice) => {
      const [path = ''] = dice.pick(queries.filter((one) => /created/.test(one))).split('?')
      const time = dice.once(2) ? timeOf(dice) : mutateText([timeOf(dice)], dice, 100)
      return requestBytes({
        path: `${path}?${dice.pick(['created_gte', 'created_lt'])}=${encodeURIComponent(time.toWellFormed())}&include=total_count`,
        headers: [auth],
      })
    }),
  ]
}

function twoHosts(dice: Dice, auth: Header): Buffer {
  const host = (): Header => [
    dice.pick(['Host', 'host', 'HOST', 'hOST']),
    dice.pick(['hostile.test', '', '127.0.0.1:1', '[::1]', 'a, b', ' hostile.test ']),
  ]
  const others = [auth, ['Accept', '*/*'], ['X-Host', 'a']] as const
  const headers = [host(), ...others.filter(() => dice.once(2)), host()]
  return requestBytes({ path: dice.pick(['/health', 'http://hostile.test/health', '/v1/claims?limit=1']), headers })
}
