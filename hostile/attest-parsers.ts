// The parsers of Attest through the public port, and of HTTP itself: a web process of its own with keys, Postgres and a
// disk.

import { randomUUID } from 'node:crypto'
import { joinChunks, makeVideoManifest, recordVideo } from '../capture-kit/video.ts'
import { httpParsers } from './http-parsers.ts'
import { mutateBytes } from './mutate-bytes.ts'
import { mutateDer } from './mutate-der.ts'
import { mutateArray, mutateJson, mutateLines } from './mutate-json.ts'
import { mutateText } from './mutate-text.ts'
import type { Parser } from './parser.ts'
import type { Dice } from './random.ts'
import { attestBody, CHAIN, IMAGE_TYPES, makeImages, OTHERS, pem, ROOT, SLOW, VIDEOS } from './seeds.ts'
import { JSON_BODY, jsonOf, NDJSON, NO_WAIT, targetOf, timeOf, type Web } from './web.ts'
import { requestBytes } from './wire.ts'

const POLICY = {
  require_attestation: true,
  require_biometric: false,
  require_gps: true,
  thresholds: { review: 25, failed: 50 },
  geofence_m: 1_000,
}

export async function attestParsers(web: Web): Promise<Parser[]> {
  const { auth, ask, post, remove } = web
  const images = new Map<string, Buffer[]>()
  for (const type of IMAGE_TYPES) images.set(`image/${type}`, await makeImages(type))
  const media = new Map(images)
  for (const [type, bytes] of Object.entries(VIDEOS)) media.set(`video/${type}`, [bytes])

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

  return [
    ...httpParsers(web, {
      mediaId,
      rootId: root.id,
      deviceId: device.device_id,
      endpointId: hook.webhook_endpoint_id,
      batchId: batch.batch_id,
      batchBody,
      claimId: claims.data[0].claim_id,
      attestationId: attested.attestation_id,
      attestBody: attest[0] ?? Buffer.alloc(0),
      cursor: (await ask('/v1/claims?limit=1&include=total_count')).next_cursor,
    }),
    web.parser('POST attest', (dice) => post('/v1/claims/attest', mutateJson(attest, dice), JSON_BODY, NO_WAIT)),
    web.parser('POST batch of lines', (dice) => post('/v1/claims/batches', mutateLines(lines, dice), NDJSON)),
    web.parser('POST batch as an array', (dice) => post('/v1/claims/batches', mutateArray(lines, dice), JSON_BODY)),
    web.parser('POST media', (dice) => {
      const type = dice.pick([...media.keys()])
      return post('/v1/media', mutateBytes(media.get(type) ?? [], dice), [
        'Content-Type',
        dice.once(8) ? dice.pick([...media.keys()]) : type,
      ])
    }),
    web.parser('POST device', (dice) => post('/v1/admin/devices', enrollment(dice), JSON_BODY)),
    web.parser('POST devices as lines', (dice) =>
      post('/v1/admin/devices/batches', dice.once(2) ? mutateLines(enrollments, dice) : enrollment(dice), NDJSON),
    ),
    web.parser(
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
    web.parser('POST revoke', (dice) => {
      const body = { reason: 'lost', effective_at: timeOf(dice) }
      return post(`/v1/admin/devices/dev_test_${'0'.repeat(26)}/revoke`, mutateJson([jsonOf(body)], dice), JSON_BODY)
    }),
    web.parser('POST sessions', (dice) =>
      post(
        '/v1/claims/attest/sessions',
        mutateJson(
          [jsonOf({ count: 2, claim_reference: 'A' }), jsonOf({ count: 1, device_id: device.device_id })],
          dice,
        ),
        JSON_BODY,
      ),
    ),
    web.parser(
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
      { after: async ({ webhook_endpoint_id: id }) => remove(`/v1/webhook-endpoints/${id}`) },
    ),
    web.parser('POST attest of a video', (dice) =>
      post('/v1/claims/attest', mutateJson([attestVideo], dice), JSON_BODY, NO_WAIT),
    ),
    web.parser('PUT chunk of a video', (dice) =>
      requestBytes(
        {
          method: 'PUT',
          path: targetOf(
            `/v1/claims/attest/sessions/${sessions[0].capture_session_id}/chunks/${dice.once(3) ? dice.below(9) : mutateText(['0', '9999'], dice, 20)}`,
          ),
          headers: [auth, ['Content-Type', dice.once(8) ? 'video/webm' : 'video/mp4']],
        },
        mutateBytes(
          recording.map(({ data }) => data),
          dice,
        ),
      ),
    ),
    web.parser('PUT risk policy', (dice) => {
      const body = mutateJson([jsonOf({ document: POLICY })], dice)
      const sent = {
        method: 'PUT',
        path: '/v1/account/risk-policy',
        headers: [auth, JSON_BODY, ['If-Match', '*']],
      } as const
      return requestBytes(sent, body)
    }),
    web.parser('POST dry run of a risk policy', (dice) => {
      const body = { document: POLICY, created_gte: timeOf(dice), created_lt: timeOf(dice), limit: 10 }
      return post('/v1/account/risk-policy/dry-run', mutateJson([jsonOf(body)], dice), JSON_BODY)
    }),
    web.parser('POST screen', (dice) => {
      const bodies = [{ media: { media_id: mediaId } }, JSON.parse((attest[1] ?? '').toString())].map(
        ({ media: one }) => jsonOf({ media: one, claim_id: claims.data[0].claim_id }),
      )
      return post('/v1/media/screen', mutateJson(bodies, dice), JSON_BODY, NO_WAIT)
    }),
    web.parser('POST with an Idempotency-Key', (dice) => {
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
