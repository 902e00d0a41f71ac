// The main flow with photos on S3: upload, evaluation, thumbnail, erasure, by real processes.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createKeys } from '#src/account/keys/keys.ts'
import { openStore } from '#src/platform/store/open.ts'
import { type S3Server, startS3Server, whyNoS3Server } from '../platform/store/s3-server.ts'
import { fetchAgain } from '../support/again.ts'
import { differencesFromPlan, makeFleet, untilSettled } from '../support/fleet.ts'
import { type System, startSystem } from '../support/system.ts'

const reason = whyNoS3Server()

describe.skipIf(reason !== undefined)(`the main job on S3${reason === undefined ? '' : ` (${reason})`}`, () => {
  let server: S3Server
  let system: System

  beforeAll(async () => {
    server = await startS3Server()
    const { bucket, region, endpoint = '', credentials } = server.access
    system = await startSystem({
      engine: 'postgres',
      only: ['web', 'dispatch', 'attest'],
      environment: {
        BLOB_STORE: `s3://${bucket}/${server.prefix}?region=${region}&endpoint=${encodeURIComponent(endpoint)}`,
        AWS_ACCESS_KEY_ID: credentials?.accessKeyId ?? '',
        AWS_SECRET_ACCESS_KEY: credentials?.secretAccessKey ?? '',
      },
    })
  })
  afterAll(async () => {
    await system?.close()
    await server?.close()
  })

  it('the service on S3 evaluates as planned, and erases what it is told to', async () => {
    const fleet = await makeFleet(system, 40)
    const { client } = fleet
    const { batch_id } = await client.submitBatch(fleet.bodies)
    await untilSettled(client, batch_id, 40)
    expect(await differencesFromPlan(fleet, batch_id)).toEqual([])

    const [row] = await system.database.owner<{ claim: string; media: string; sha256: string }>(
      `SELECT a.claim_id AS claim, m.id AS media, encode(m.sha256, 'hex') AS sha256 FROM attestations a JOIN media m ON m.id = a.media_id
       WHERE (SELECT count(*) FROM attestations b WHERE b.media_id = a.media_id) = 1 LIMIT 1`,
    )
    if (row === undefined) throw new Error('every photo is shared')
    const { bucket, region, endpoint, credentials } = server.access
    const store = openStore({ kind: 's3', bucket, prefix: server.prefix, region, endpoint }, { credentials })
    const keys = createKeys({ db: system.database.db })
    const { key } = await keys.create(system.scope, { name: 'admin', scopes: ['admin', 'verify'] })
    const ask = (path: string, method = 'GET') =>
      fetchAgain(`${system.baseUrl}${path}`, { method, headers: { Authorization: `Bearer ${key}` } })

    expect((await ask(`/v1/media/${row.media}/thumbnail`)).headers.get('content-type')).toBe('image/webp')
    expect(Buffer.from(await (await ask(`/v1/media/${row.media}`)).arrayBuffer()).subarray(0, 2)).toEqual(
      Buffer.from([0xff, 0xd8]),
    )
    const erased = await ask(`/v1/claims/${row.claim}`, 'DELETE')
    expect([erased.status, await erased.json()]).toMatchObject([200, { erased_at: expect.any(String) }])
    expect((await ask(`/v1/media/${row.media}`)).status).toBe(404)
    expect(await store.storedAt(system.scope, row.sha256)).toBeUndefined()
    await Promise.all([store.close(), client.close()])
  })
})
