// All parsers through the public port: a web process of its own with keys, Postgres and a disk.

import { randomUUID } from 'node:crypto'
import { joinChunks, makeVideoManifest, recordVideo } from '../capture-kit/video.ts'
import type { System } from '../test/support/system.ts'
import type { Dice } from './dice.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { mutateDer } from './mutate-der.ts'
import { mutateArray, mutateJson, mutateLines } from './mutate-json.ts'
import { mutateText } from './mutate-text.ts'
import type { Parser } from './parser.ts'
import { attestBody, CHAIN, IMAGE_TYPES, makeImages, OTHERS, pem, ROOT, SLOW, VIDEOS } from './seeds.ts'
import { exchange, judgeAnswer, readAnswer, requestBytes } from './wire.ts'

type Header = readonly [name: string, value: string]

// A slow answer is not a hang: the machine does other work too. The thread's own time is bounded where parsers run
// alone.
const LIMIT = { kind: 'wall', ms: 5_000 } as const
export const REFUSALS = [
  'invalid_json',
  'invalid_request',
  'authentication_required',
  'invalid_api_key',
  'environment_mismatch',
  'not_found',
  'method_not_allowed',
  'conflict',
  'invalid_state_transition',
  'idempotency_key_reused',
  'idempotency_in_progress',
  'payload_too_large',
  'unsupported_media_type',
  'range_not_satisfiable',
  'request_timeout',
  'cut',
  'without a body',
]
const NDJSON: Header = ['Content-Type', 'application/x-ndjson']
const JSON_BODY: Header = ['Content-Type', 'application/json']
const NO_WAIT: Header = ['Prefer', 'wait=0']

const RULES = {
  rules: [
    { id: 'a', when: { field: 'context.x', op: 'matches', value: '^(?:a|b){2,9}$' }, require: { deny: true } },
    {
      id: 'b',
      when: { not: { all: [{ field: 'time.hour', op: 'between', value: [1, '5'] }] } },
      require: { hardware: true },
    },
  ],
}
const POLICY = {
  require_attestation: true,
  require_biometric: false,
  require_gps: true,
  thresholds: { review: 25, failed: 50 },
  geofence_m: 1_000,
}

const jsonOf = (value: unknown) => Buffer.from(JSON.stringify(value))

export async function webParsers({ baseUrl, key }: Pick<System, 'baseUrl' | 'key'>): Promise<Parser[]> {
  const port = Number(new URL(baseUrl).port)
  const auth: Header = ['Authorization', `Bearer ${key}`]
  const images = new Map<string, Buffer[]>()
  for (const type of IMAGE_TYPES) images.set(`image/${type}`, await makeImages(type))
  const media = new Map(images)
  for (const [type, bytes] of Object.entries(VIDEOS)) media.set(`video/${type}`, [bytes])

  async function ask(path: string, body?: Uint8Array, headers: readonly Header[] = [JSON_BODY], method = 'POST') {
    const sent =
      body === undefined
        ? requestBytes({ path, headers: [auth] })
        : requestBytes({ method, path, headers: [auth, ...headers] }, body)
    const answer = readAnswer(await exchange(port, sent))
    if (answer === undefined || answer.status >= 400) throw new Error(`${path}: ${answer?.status} ${answer?.body}`)
    return JSON.parse(answer.body.toString())
  }

  const photo = images.get('image/jpeg')?.[0] ?? Buffer.alloc(0)
  const { media_id: mediaId } = await ask('/v1/media', photo, [['Content-Type', 'image/jpeg']])
  const root = await ask('/v1/admin/root-cas', jsonOf({ name: 'Seed', certificate: pem(ROOT) }))
  const device = await ask(
    '/v1/admin/devices',
    jsonOf({ certificate_chain: CHAIN.map((der) => der.toString('base64')) }),
  )
  const hook = await ask('/v1/webhook-endpoints', jsonOf({ url: 'https://example.com/', event_types: ['*'] }))
  const batchBody = Buffer.concat(
    [0, 1, 2].map(() => Buffer.from(`${JSON.stringify({ media_type: 'image', media: { media_id: mediaId } })}\n`)),
  )
  const batch = await ask('/v1/claims/batches', batchBody, [NDJSON])
  const claims = await ask('/v1/claims?limit=1')
  const attested = await ask('/v1/claims/attest', jsonOf(attestBody({ media_id: mediaId })), [JSON_BODY, NO_WAIT])

  const { sessions } = await ask('/v1/claims/attest/sessions', jsonOf({ count: 1 }))
  const recording = recordVideo({ seed: 1, chunks: 3 })
  const video = await ask('/v1/media', joinChunks(recording), [['Content-Type', 'video/mp4']])

  /** Sent as it is made. `after` gets the response, to undo its effect. `isBroken`: a request may never end. */
  function web(
    name: string,
    make: (dice: Dice) => Buffer,
    {
      after,
      isBroken = false,
    }: { after?: (answer: Record<string, unknown>) => Promise<void>; isBroken?: boolean } = {},
  ): Parser {
    return {
      name,
      source: 'app',
      limit: LIMIT,
      refusals: REFUSALS,
      make,
      async run(input) {
        const bytes = await exchange(port, input, isBroken ? 150 : 4_000)
        const outcome = judgeAnswer(bytes)
        if (outcome === 'accepted' && after !== undefined)
          await after(JSON.parse(readAnswer(bytes)?.body.toString() || '{}'))
        return outcome
      },
    }
  }
  const post = (path: string, body: Buffer, ...headers: Header[]) =>
    requestBytes({ method: 'POST', path, headers: [auth, ...headers] }, body)
  const remove = async (path: string): Promise<void> => {
    await exchange(port, requestBytes({ method: 'DELETE', path, headers: [auth] }))
  }

  const attest = [
    jsonOf(attestBody({ media_id: mediaId })),
    jsonOf(attestBody({ content_type: 'image/jpeg', data: photo.toString('base64') })),
  ]
  const { bundle, external_id, ...shot } = attestBody({ media_id: video.media_id }) as Record<string, object>
  const video_manifest = makeVideoManifest(sessions[0].session_nonce, recording)
  const attestVideo = jsonOf({ ...shot, media_type: 'video', bundle: { ...bundle, video_manifest } })
  const lines = [
    jsonOf(attestBody({ media_id: mediaId })),
    jsonOf({ media_type: 'image', media: { media_id: mediaId } }),
  ]
  const chains = [CHAIN, [...CHAIN, ROOT], SLOW.slice(0, 4), SLOW, ...OTHERS.map((one) => [one])]
  const enrollments = chains.map((chain) =>
    jsonOf({ name: 'Phone', certificate_chain: chain.map((der) => der.toString('base64')) }),
  )
  const enrollment = (dice: Dice) =>
    dice.once(2)
      ? mutateJson(enrollments, dice)
      : jsonOf({
          certificate_chain: CHAIN.map((der) =>
            (dice.once(2) ? mutateDer([der, ...OTHERS], dice) : der).toString('base64'),
          ),
        })

  const ids: string[] = [
    mediaId,
    root.id,
    device.device_id,
    hook.endpoint_id,
    batch.batch_id,
    claims.data[0].claim_id,
    attested.attestation_id,
  ]
  const paths = [
    `/v1/media/${mediaId}`,
    `/v1/media/${mediaId}/thumbnail`,
    `/v1/claims/${claims.data[0].claim_id}`,
    `/v1/claims/batches/${batch.batch_id}`,
    `/v1/claims/batches/${batch.batch_id}/results`,
    `/v1/attestations/${attested.attestation_id}`,
    `/v1/admin/devices/${device.device_id}`,
    `/v1/admin/root-cas/${root.id}`,
    `/v1/webhook-endpoints/${hook.endpoint_id}`,
    `/v1/webhook-endpoints/${hook.endpoint_id}/deliveries`,
    '/health',
    '/v1/jwks',
  ]
  const page = await ask('/v1/claims?limit=1&include=total_count')
  const queries = [
    `/v1/claims?limit=1&cursor=${page.next_cursor}`,
    '/v1/claims?created_gte=2026-01-01T00:00:00Z&created_lt=2030-01-01T00:00:00%2B02:00',
    `/v1/claims?reference=HOSTILE-1&external_id=photo-1&batch_id=${batch.batch_id}&device_id=${device.device_id}`,
    '/v1/claims?risk_status=failed&provenance_status=broken&factor=signature_invalid&include=total_count',
    '/v1/claims/batches?limit=100&created_gte=2026-01-01T00:00:00.123456Z',
    `/v1/claims/batches/${batch.batch_id}/results?include=pending`,
    '/v1/admin/devices?state=enrolled&created_lt=2026-12-31T23:59:59-23:59&include=total_count',
    '/v1/admin/root-cas?created_gte=2026-01-01T00:00:00Z',
    '/v1/webhook-endpoints?created_gte=2026-01-01T00:00:00Z&created_lt=2030-01-01T00:00:00Z&include=total_count',
    `/v1/webhook-endpoints/${hook.endpoint_id}/deliveries?status=pending&event_type=ping&created_lt=2030-01-01T00:00:00Z`,
    `/v1/attestations/${attested.attestation_id}?wait=0`,
  ]
  const headerSeeds: Header[] = [
    ['Authorization', `Bearer ${key}`],
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
    ['X-HTTP-Method-Override', 'DELETE'],
    ['Cookie', 'a=b'],
  ]
  const wholes = [
    requestBytes({ path: `/v1/media/${mediaId}`, headers: [auth, ['Range', 'bytes=0-9']] }),
    post('/v1/claims/attest', attest[0] ?? Buffer.alloc(0), JSON_BODY, NO_WAIT),
    requestBytes(
      { method: 'POST', path: '/v1/claims/batches', headers: [auth, NDJSON, ['Transfer-Encoding', 'chunked']] },
      Buffer.from(`${batchBody.length.toString(16)};a=b\r\n${batchBody}\r\n0\r\nX-T: 1\r\n\r\n`),
    ),
    requestBytes({ method: 'HEAD', path: 'http://[::1]:80/v1/claims?limit=1', headers: [auth] }),
    requestBytes({ method: 'OPTIONS', path: '*' }),
  ]

  return [
    web('HTTP: whole request', (dice) => mutateBytes(wholes, dice, 128 * 1024), { isBroken: true }),
    web(
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
          ? requestBytes({ method: 'POST', path: '/v1/claims/attest', headers }, attest[0])
          : requestBytes({ path: dice.pick(paths), headers })
      },
      { isBroken: true },
    ),
    web('HTTP: path', (dice) => {
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
    web('HTTP: query', (dice) => {
      const [path = '', query = ''] = dice.pick(queries).split('?')
      return requestBytes({
        path: targetOf(`${path}?${mutateText([query, ...queries.map((one) => one.split('?')[1] ?? '')], dice, 8_000)}`),
        headers: [auth],
      })
    }),
    web('HTTP: times in a query', (dice) => {
      const [path = ''] = dice.pick(queries.filter((one) => /created/.test(one))).split('?')
      const time = dice.once(2) ? timeOf(dice) : mutateText([timeOf(dice)], dice, 100)
      return requestBytes({
        path: `${path}?${dice.pick(['created_gte', 'created_lt'])}=${encodeURIComponent(time.toWellFormed())}&include=total_count`,
        headers: [auth],
      })
    }),
    web('POST attest', (dice) => post('/v1/claims/attest', mutateJson(attest, dice), JSON_BODY, NO_WAIT)),
    web('POST batch of lines', (dice) => post('/v1/claims/batches', mutateLines(lines, dice), NDJSON)),
    web('POST batch as an array', (dice) => post('/v1/claims/batches', mutateArray(lines, dice), JSON_BODY)),
    web('POST media', (dice) => {
      const type = dice.pick([...media.keys()])
      return post('/v1/media', mutateBytes(media.get(type) ?? [], dice), [
        'Content-Type',
        dice.once(8) ? dice.pick([...media.keys()]) : type,
      ])
    }),
    web('POST device', (dice) => post('/v1/admin/devices', enrollment(dice), JSON_BODY)),
    web('POST devices as lines', (dice) =>
      post('/v1/admin/devices', dice.once(2) ? mutateLines(enrollments, dice) : enrollment(dice), NDJSON),
    ),
    web(
      'POST root CA',
      (dice) => {
        const der = dice.once(8) ? dice.pick(SLOW) : mutateDer([ROOT, ...OTHERS, ...SLOW], dice)
        const text = dice.once(2) ? pem(der) : der.toString('base64')
        const certificate = dice.once(3) ? mutateText([pem(ROOT), text], dice, 70_000).toWellFormed() : text
        return post(
          '/v1/admin/root-cas',
          dice.once(4)
            ? mutateJson([jsonOf({ name: 'Root', certificate: pem(ROOT) })], dice)
            : jsonOf({ name: 'Root', certificate }),
          JSON_BODY,
        )
      },
      {
        async after({ id }) {
          if (id !== root.id) await remove(`/v1/admin/root-cas/${id}`)
        },
      },
    ),
    web('POST revoke', (dice) => {
      const body = { reason: 'lost', effective_at: timeOf(dice) }
      return post(`/v1/admin/devices/dev_test_${'0'.repeat(26)}/revoke`, mutateJson([jsonOf(body)], dice), JSON_BODY)
    }),
    web('POST sessions', (dice) =>
      post(
        '/v1/claims/attest/sessions',
        mutateJson(
          [jsonOf({ count: 2, claim_reference: 'A' }), jsonOf({ count: 1, device_id: device.device_id })],
          dice,
        ),
        JSON_BODY,
      ),
    ),
    web(
      'POST webhook endpoint',
      (dice) => {
        const url = mutateText(
          ['https://example.com/hook', 'http://93.184.216.34:8080/a?b=c', 'https://[2606:4700::1111]/'],
          dice,
          4_000,
        ).toWellFormed()
        const body = { url, event_types: ['attestation.created', 'claim.escalated'] }
        return post(
          '/v1/webhook-endpoints',
          dice.once(2) ? jsonOf(body) : mutateJson([jsonOf({ ...body, url: 'https://example.com/' })], dice),
          JSON_BODY,
        )
      },
      { after: async ({ endpoint_id: id }) => remove(`/v1/webhook-endpoints/${id}`) },
    ),
    web('POST attest of a video', (dice) =>
      post('/v1/claims/attest', mutateJson([attestVideo], dice), JSON_BODY, NO_WAIT),
    ),
    web('PUT chunk of a video', (dice) =>
      requestBytes(
        {
          method: 'PUT',
          path: targetOf(
            `/v1/claims/attest/sessions/${sessions[0].session_id}/chunks/${dice.once(3) ? dice.below(9) : mutateText(['0', '9999'], dice, 20)}`,
          ),
          headers: [auth, ['Content-Type', dice.once(8) ? 'video/webm' : 'video/mp4']],
        },
        mutateBytes(
          recording.map(({ data }) => data),
          dice,
        ),
      ),
    ),
    web('PUT risk policy', (dice) => {
      const body = mutateJson([jsonOf(POLICY)], dice)
      return requestBytes({ method: 'PUT', path: '/v1/account/risk-policy', headers: [auth, JSON_BODY] }, body)
    }),
    web('PUT policy', (dice) => {
      const headers: Header[] = [auth, JSON_BODY, ['If-Match', dice.once(4) ? mutateText(['"0"', '*'], dice, 20) : '*']]
      return requestBytes({ method: 'PUT', path: '/v1/policy', headers }, mutateJson([jsonOf(RULES)], dice))
    }),
    web('POST dry run of a risk policy', (dice) => {
      const body = { policy: POLICY, created_gte: timeOf(dice), created_lt: timeOf(dice), limit: 10 }
      return post('/v1/account/risk-policy/dry-run', mutateJson([jsonOf(body)], dice), JSON_BODY)
    }),
    web('POST screen', (dice) => {
      const bodies = [{ media: { media_id: mediaId } }, JSON.parse((attest[1] ?? '').toString())].map(
        ({ media: one }) => jsonOf({ media: one, claim_id: claims.data[0].claim_id }),
      )
      return post('/v1/media/screen', mutateJson(bodies, dice), JSON_BODY, NO_WAIT)
    }),
    web('POST with an Idempotency-Key', (dice) => {
      const keys = [randomUUID(), 'one-key', 'another-key']
      return post(
        '/v1/claims/attest',
        dice.once(2) ? (attest[0] ?? Buffer.alloc(0)) : mutateJson(attest, dice),
        JSON_BODY,
        NO_WAIT,
        ['Idempotency-Key', dice.pick(keys)],
      )
    }),
  ]
}

const TIMES = [
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59Z',
  '9999-12-31T23:59:59-23:59',
  '2026-02-28T24:00:00Z',
  '2026-11-20T10:00:00.999999999999Z',
  '2024-02-29T00:00Z',
  '1969-12-31T23:59:59.999Z',
  '4713-01-01T00:00:00Z',
]

function timeOf(dice: Dice): string {
  return dice.pick(TIMES)
}

// A request line ends at the first space or line break: what follows would be another mutation (see the whole
// requests).
function targetOf(text: string): string {
  const target = [...text].map((one) => (one > '\xff' ? encodeURIComponent(one.toWellFormed()) : one)).join('')
  return target.replaceAll(/[\r\n ]/g, '') || '/'
}
